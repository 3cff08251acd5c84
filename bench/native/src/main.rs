//! `native [PORT]`: fastslua's server with its handler in Rust. Between the floor and the Lua server it tells which part
//! of the distance is the server's and which is the boundary's. Prints its address, serves until it is killed.
//!
//! Answers every request with the `/health` response. It must use the library as the binding does, and nothing else.

use fastslua::net::Tcp;
use fastslua::server::{Clock, Config, Payload, Server};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn unix_time(&self) -> u64 {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs())
    }
}

fn main() -> io::Result<()> {
    let port = match std::env::args().nth(1) {
        Some(text) => text
            .parse()
            .map_err(|_| io::Error::other(format!("not a port: {text}")))?,
        None => 0,
    };
    let network = Tcp::listen(SocketAddr::from(([127, 0, 0, 1], port)), 512)?;
    let clock = SystemClock;
    let config = Config {
        max_requests_per_connection: 0,
        ..Config::default()
    };
    let mut server: Server<Tcp, Vec<u8>> = Server::new(network, config, clock.now());
    writeln!(io::stdout(), "native on http://{}", server.local_addr()?)?;
    loop {
        let wait = server.wait_hint(clock.now()).unwrap_or(Duration::from_secs(1));
        if let Err(error) = server.begin_turn(&clock, None, Some(wait))
            && error.kind() != io::ErrorKind::Interrupted
        {
            return Err(error);
        }
        while let Some(id) = server.next_request(&clock) {
            let answered = match server.response_mut(id) {
                Some(head) => head.set_content_type(b"text/plain; charset=utf-8").is_ok(),
                None => false,
            };
            if answered {
                // A client that has gone in the meantime is no error.
                let _gone = server.respond(id, Payload::Bytes(b"OK"));
            }
            server.end_request(id, &clock);
        }
        server.end_turn(&clock);
    }
}
