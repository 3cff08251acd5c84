//! Measures the primitives alone, without any caller's values. Not tests: run them with
//! `cargo test --release --no-default-features json::kernel_tests -- --ignored --nocapture`.

use std::hint::black_box;
use std::time::Instant;

use serde_json::Value;

use super::*;

/// 200 units as a game would list them: about 28 KB.
fn units() -> Vec<u8> {
    let unit = |id: u32| {
        let angle = f64::from(id);
        format!(
            "{{\"id\":{id},\"name\":\"Unit #{id}\",\"type\":\"F-16C_50\",\"coalition\":\"blue\",\"x\":{:.2},\"y\":{:.2},\
             \"alt\":{:.1},\"heading\":{:?},\"alive\":true,\"fuel\":0.75}}",
            angle.sin() * 1e5,
            angle.cos() * 1e5,
            angle * 10.5,
            angle.sin().abs(),
        )
    };
    format!("[{}]", (0..200).map(unit).collect::<Vec<_>>().join(",")).into_bytes()
}

/// Prints the best of 40 batches: the machine may be busy with other things.
fn kernel(name: &str, iterations: u32, mut work: impl FnMut()) {
    let mut best = f64::MAX;
    for _ in 0..40 {
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
    let text = units();
    let value: Value = serde_json::from_slice(&text).expect("JSON");
    let mut scratch = Vec::new();
    println!("{} bytes", text.len());
    kernel("json_decode_200_units_tokens", 50, || {
        let mut reader = Reader::new(black_box(&text), DecodeOptions::default());
        while !matches!(black_box(reader.next(&mut scratch)), Ok(Token::End)) {}
    });
    let mut out = Vec::new();
    kernel("json_encode_200_units_primitives", 50, || {
        out.clear();
        write_value(&mut out, black_box(&value));
        black_box(&out);
    });
    let long = "x".repeat(16 * 1024);
    kernel("json_write_string_16k", 50, || {
        out.clear();
        black_box(write_string(&mut out, black_box(long.as_bytes()), InvalidUtf8::Refuse)).expect("ASCII");
    });
}

/// An encoder over `serde_json`'s tree.
fn write_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => write_number(out, number.as_f64().expect("a double")).expect("finite"),
        Value::String(text) => write_string(out, text.as_bytes(), InvalidUtf8::Refuse).expect("UTF-8"),
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                out.extend_from_slice(if index == 0 { b"" } else { b"," });
                write_value(out, item);
            }
            out.push(b']');
        }
        Value::Object(members) => {
            out.push(b'{');
            for (index, (name, member)) in members.iter().enumerate() {
                out.extend_from_slice(if index == 0 { b"" } else { b"," });
                write_string(out, name.as_bytes(), InvalidUtf8::Refuse).expect("UTF-8");
                out.push(b':');
                write_value(out, member);
            }
            out.push(b'}');
        }
    }
}
