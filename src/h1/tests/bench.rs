//! Micro benchmarks: `cargo test --release --no-default-features --lib h1::tests::bench -- --ignored --nocapture`.

use std::hint::black_box;
use std::time::Instant;

use super::{DATE, LIMITS};
use crate::h1::{Connection, Progress};

const GET: &[u8] =
    b"GET /units/42?full=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\n\r\n";
const BROWSER: &[u8] = b"GET /units/7 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nConnection: keep-alive\r\nsec-ch-ua: \"Chromium\";v=\"120\"\r\nsec-ch-ua-mobile: ?0\r\nsec-ch-ua-platform: \"Linux\"\r\nUpgrade-Insecure-Requests: 1\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36\r\nAccept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\nSec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-User: ?1\r\nSec-Fetch-Dest: document\r\nAccept-Encoding: gzip, deflate, br\r\nAccept-Language: en-US,en;q=0.9\r\n\r\n";

fn measure(name: &str, iters: u32, mut each: impl FnMut()) {
    for _ in 0..iters / 10 {
        each();
    }
    let start = Instant::now();
    for _ in 0..iters {
        each();
    }
    let us = start.elapsed().as_secs_f64() * 1e6;
    println!(
        "BENCH {name} iters={iters} total_us={us:.0} us_per_op={:.4}",
        us / f64::from(iters)
    );
}

fn receive(connection: &mut Connection, message: &[u8]) {
    connection.recv_space()[..message.len()].copy_from_slice(message);
    connection.recv_commit(message.len());
    assert_eq!(black_box(connection.advance(&LIMITS)), Progress::Request);
}

#[test]
#[ignore = "a measurement, not a test"]
fn bench() {
    let mut connection = Connection::new();
    connection.replace_storage(vec![0; 65536].into());
    for (name, message) in [("h1_head_parse", GET), ("h1_head_parse_browser", BROWSER)] {
        measure(name, 2_000_000, || {
            receive(&mut connection, message);
            connection.answer = crate::h1::connection::Answer::Done;
            connection.end_request();
        });
    }
    let mut out = Vec::with_capacity(4096);
    measure("h1_request_and_response", 2_000_000, || {
        receive(&mut connection, GET);
        out.clear();
        connection
            .response_mut()
            .set_content_type(b"text/plain; charset=utf-8")
            .unwrap();
        connection.respond(DATE, 2, false, &mut out).unwrap();
        black_box(&out);
        connection.end_request();
    });
    let mut message = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for _ in 0..16 {
        crate::h1::encode::chunk(&[b'x'; 1024], &mut message);
    }
    message.extend_from_slice(b"0\r\n\r\n");
    measure("h1_chunked_16x1024", 200_000, || {
        receive(&mut connection, &message);
        connection.answer = crate::h1::connection::Answer::Done;
        connection.end_request();
    });
}
