//! The kernels of the library: heads, chunked bodies, responses, routes, JSON.
//!
//! Each checks once, before it is measured, that it does what it says. After the first round none allocates, so that counts
//! of instructions do not depend on the allocator of a machine.

use std::hint::black_box;

use fastslua::h1::{Connection, Limits, Progress};
use fastslua::json::{DecodeOptions, InvalidUtf8, Reader, Token, write_integer, write_number, write_string};
use fastslua::routing::{Captures, Found, Methods, Options, Router};

use crate::Kernel;

/// As many connections as a busy turn serves; few enough for the cache.
const BATCH: usize = 64;
const DATE: &[u8; 29] = b"Sun, 06 Nov 1994 08:49:37 GMT";
/// What a browser sends, shortened.
const HEAD: &str = "GET /units/42?fields=name,position HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: Mozilla/5.0 \
                    (X11; Linux x86_64) Gecko/20100101 Firefox/128.0\r\nAccept: application/json\r\nAccept-Language: \
                    en-GB,en;q=0.5\r\nAccept-Encoding: gzip, deflate\r\nConnection: keep-alive\r\nCookie: \
                    session=0123456789abcdef\r\n\r\n";
const CHUNKS: usize = 16;
const CHUNK_BYTES: usize = 256;
const UNITS: i64 = 50;

const LIMITS: Limits = Limits {
    head_bytes_max: 16384,
    headers_max: 100,
    target_bytes_max: 8192,
    body_bytes_max: 1 << 20,
};

pub fn all() -> Vec<Box<dyn Kernel>> {
    vec![
        Box::new(Requests::new("head_parse", HEAD.as_bytes().to_vec())),
        Box::new(Requests::new("chunked_decode", chunked_request())),
        Box::new(Responses(Requests::new("response_encode", HEAD.as_bytes().to_vec()))),
        Box::new(Routes::new()),
        Box::new(JsonWrite { out: Vec::new() }),
        Box::new(JsonRead::new()),
    ]
}

fn chunked_request() -> Vec<u8> {
    let mut text = b"POST /echo HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for _ in 0..CHUNKS {
        text.extend_from_slice(format!("{CHUNK_BYTES:x}\r\n").as_bytes());
        text.extend_from_slice(&[b'x'; CHUNK_BYTES]);
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(b"0\r\n\r\n");
    text
}

/// One request on each of many connections, from the bytes in the buffer to a request that a handler can take.
struct Requests {
    name: &'static str,
    request: Vec<u8>,
    connections: Vec<Connection>,
    out: Vec<u8>,
}

impl Requests {
    fn new(name: &'static str, request: Vec<u8>) -> Self {
        let mut connections: Vec<Connection> = (0..BATCH).map(|_| Connection::new()).collect();
        for connection in &mut connections {
            connection.replace_storage(vec![0; 8192].into_boxed_slice());
        }
        Self {
            name,
            request,
            connections,
            out: Vec::with_capacity(4096 * BATCH),
        }
    }
}

fn respond(connection: &mut Connection, out: &mut Vec<u8>) {
    let typed = connection.response_mut().set_content_type(b"application/json");
    let answered = connection.respond(DATE, 27, false, out);
    assert!(typed.is_ok() && answered == Ok(true), "a live request takes an answer");
}

impl Kernel for Requests {
    fn name(&self) -> &'static str {
        self.name
    }

    fn operations(&self) -> u64 {
        BATCH as u64
    }

    fn prepare(&mut self) {
        self.out.clear();
        for connection in &mut self.connections {
            if !connection.head().target.is_empty() && connection.recv_wanted(&LIMITS) == 0 {
                respond(connection, &mut self.out);
                connection.end_request();
            }
            let space = connection.recv_space();
            space[..self.request.len()].copy_from_slice(&self.request);
            connection.recv_commit(self.request.len());
        }
        self.out.clear();
    }

    fn round(&mut self) {
        for connection in &mut self.connections {
            let progress = connection.advance(&LIMITS);
            assert!(matches!(progress, Progress::Request), "a request is whole");
        }
    }
}

/// The heads of the responses to such requests.
struct Responses(Requests);

impl Kernel for Responses {
    fn name(&self) -> &'static str {
        self.0.name
    }

    fn operations(&self) -> u64 {
        BATCH as u64
    }

    fn prepare(&mut self) {
        for connection in &mut self.0.connections {
            connection.end_request();
            let space = connection.recv_space();
            space[..self.0.request.len()].copy_from_slice(&self.0.request);
            connection.recv_commit(self.0.request.len());
        }
        self.0.round();
        self.0.out.clear();
    }

    fn round(&mut self) {
        for connection in &mut self.0.connections {
            respond(connection, &mut self.0.out);
        }
    }
}

/// A path with a parameter among a hundred routes.
struct Routes {
    router: Router,
    get: Methods,
    captures: Captures,
}

impl Routes {
    fn new() -> Self {
        let mut router = Router::new();
        let get = router.learn_method("GET").expect("a method that all routers know");
        let options = Options::default();
        for group in 0..25 {
            for pattern in ["", "/:id", "/:id/parts", "/:id/parts/:part"] {
                let pattern = format!("/api/group{group}{pattern}");
                router.insert(get, &pattern, &options).expect("a pattern in order");
            }
        }
        Self {
            router,
            get,
            captures: Captures::new(),
        }
    }
}

impl Kernel for Routes {
    fn name(&self) -> &'static str {
        "route_match"
    }

    fn operations(&self) -> u64 {
        BATCH as u64
    }

    fn round(&mut self) {
        for _ in 0..BATCH {
            let path = black_box(b"/api/group17/4711/parts/12");
            let found = self.router.find(self.get, path, &mut self.captures);
            assert!(
                matches!(found, Found::Route(..)) && self.captures.values().len() == 2,
                "the route is there"
            );
        }
    }
}

fn write_units(out: &mut Vec<u8>) {
    let text = |out: &mut Vec<u8>, text: &str| {
        write_string(out, text.as_bytes(), InvalidUtf8::Refuse).expect("the text is UTF-8");
    };
    out.push(b'[');
    for index in 0..UNITS {
        out.extend_from_slice(if index == 0 { b"{" } else { b",{" });
        text(out, "id");
        out.push(b':');
        write_integer(out, 16_777_216 + index);
        for (name, value) in [
            ("name", "Unit \"Springfield\" 1-1"),
            ("type", "F-16C_50"),
            ("group", "Zürich"),
        ] {
            out.push(b',');
            text(out, name);
            out.push(b':');
            text(out, value);
        }
        for (name, factor) in [("x", 1234.567), ("y", 0.25), ("z", -98_765.432_1)] {
            out.push(b',');
            text(out, name);
            out.push(b':');
            write_number(out, index as f64 * factor).expect("finite");
        }
        out.push(b'}');
    }
    out.push(b']');
}

/// Fifty units as JSON, without the walk over Lua tables.
struct JsonWrite {
    out: Vec<u8>,
}

impl Kernel for JsonWrite {
    fn name(&self) -> &'static str {
        "json_write_50_units"
    }

    fn operations(&self) -> u64 {
        1
    }

    fn round(&mut self) {
        self.out.clear();
        write_units(&mut self.out);
        black_box(&self.out);
    }
}

/// The same text, read token by token.
struct JsonRead {
    text: Vec<u8>,
    scratch: Vec<u8>,
}

impl JsonRead {
    fn new() -> Self {
        let mut text = Vec::new();
        write_units(&mut text);
        Self {
            text,
            scratch: Vec::new(),
        }
    }
}

impl Kernel for JsonRead {
    fn name(&self) -> &'static str {
        "json_read_50_units"
    }

    fn operations(&self) -> u64 {
        1
    }

    fn round(&mut self) {
        let mut reader = Reader::new(&self.text, DecodeOptions::default());
        let mut tokens = 0;
        while reader.next(&mut self.scratch).expect("JSON") != Token::End {
            tokens += 1;
        }
        assert_eq!(tokens, 2 + UNITS * (2 + 2 * 7), "every token is read");
    }
}
