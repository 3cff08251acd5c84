//! Measures matching alone. Not tests: run them with
//! `cargo test --release --no-default-features routing::kernel_tests -- --ignored --nocapture`.

use std::hint::black_box;
use std::time::Instant;

use super::*;

/// Routes as applications have them: half with a parameter, a quarter with two, a quarter literal.
fn patterns(count: usize) -> Vec<String> {
    let pattern = |index: usize| match index % 4 {
        0 => format!("/api/resource{index}"),
        1 => format!("/api/resource{index}/:id"),
        2 => format!("/api/resource{index}/:id<int>/edit"),
        _ => format!("/api/resource{index}/:id/parts/:part"),
    };
    (0..count).map(pattern).collect()
}

/// A path for each of `picks` patterns, spread evenly.
fn paths(patterns: &[String], picks: usize) -> Vec<Vec<u8>> {
    let step = patterns.len() / picks;
    let path = |index: usize| {
        let pattern = &patterns[index * step + index % step.max(1) % 4];
        pattern
            .replace(":id<int>", "1234")
            .replace(":id", "1234")
            .replace(":part", "engine")
            .into_bytes()
    };
    (0..picks).map(path).collect()
}

fn kernel(name: &str, routes: usize, picks: usize) {
    measure_finding(name, &patterns(routes), picks);
}

fn measure_finding(name: &str, patterns: &[String], picks: usize) {
    let mut router = Router::new();
    for pattern in patterns {
        router
            .insert(Methods::GET, pattern, &Options::default())
            .expect("a good pattern");
    }
    router.seal();
    let paths = paths(patterns, picks);
    let mut captures = Captures::new();
    let mut next = (0..picks).cycle();
    measure(name, || {
        let path = &paths[next.next().unwrap_or(0)];
        let found = router.find(Methods::GET, black_box(path), &mut captures);
        assert!(matches!(black_box(found), Found::Route(_)));
    });
}

/// Prints the best of 100 batches: the machine may be busy with other things.
fn measure(name: &str, mut work: impl FnMut()) {
    let iterations = 50_000;
    let mut best = f64::MAX;
    for _ in 0..100 {
        let start = Instant::now();
        for _ in 0..iterations {
            work();
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e6);
    }
    println!(
        "BENCH {name} iters={iterations} total_us={best:.0} us_per_op={:.4}",
        best / f64::from(iterations)
    );
}

#[test]
#[ignore = "a measurement: run in release mode with --ignored --nocapture"]
fn kernels() {
    kernel("route_match_10", 10, 10);
    kernel("route_match_1000", 1000, 10);
    kernel("route_match_1000_each", 1000, 1000);
    for count in [10, 1000] {
        let literal: Vec<String> = (0..count).map(|index| format!("/api/resource{index}/list")).collect();
        measure_finding(&format!("route_match_literal_{count}"), &literal, 10);
    }
    let prefix = Prefix::compile("/api", &Options::default()).expect("a good prefix");
    let mut captures = Captures::new();
    measure("route_prefix", || {
        black_box(prefix.matches(black_box(b"/api/units/1234"), &mut captures));
    });
}
