//! Four kernels that say nothing about fastslua and much about the machine: the same work in C (calibration.c) and in
//! Lua (bench/micro.lua).

use std::hint::black_box;

use crate::Kernel;

type Work = fn() -> u64;

struct Calibration {
    name: &'static str,
    work: Work,
    result: u64,
}

pub fn all() -> Vec<Box<dyn Kernel>> {
    let rows: [(&'static str, Work, u64); 4] = [
        ("int_loop", int_loop, 960_218),
        ("fib30", || fib(black_box(30)), 832_040),
        ("string_concat", string_concat, 3000),
        ("array_push", array_push, 100_000),
    ];
    rows.into_iter()
        .map(|(name, work, result)| Box::new(Calibration { name, work, result }) as Box<dyn Kernel>)
        .collect()
}

impl Kernel for Calibration {
    fn name(&self) -> &'static str {
        self.name
    }

    fn operations(&self) -> u64 {
        1
    }

    fn round(&mut self) {
        assert_eq!((self.work)(), self.result, "{}", self.name);
    }
}

/// A million steps, each of which needs the one before.
fn int_loop() -> u64 {
    let mut sum = 0;
    for step in 1..=black_box(1_000_000) {
        sum = (sum * 31 + step) % 1_000_003;
    }
    sum
}

fn fib(n: u64) -> u64 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

/// A thousand times three bytes to the end of a text.
fn string_concat() -> u64 {
    let mut text = String::new();
    for _ in 0..1000 {
        text.push_str(black_box("abc"));
    }
    black_box(&text).len() as u64
}

/// A hundred thousand numbers to the end of an array that grows.
fn array_push() -> u64 {
    let mut array = Vec::new();
    for step in 1..=100_000_u64 {
        array.push(black_box(step));
    }
    black_box(&array).len() as u64
}
