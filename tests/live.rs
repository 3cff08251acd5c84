//! The whole server over real loopback sockets: what the simulation assumes of a network, the system has to keep.
//!
//! Clients are threads with blocking sockets; the test's own thread is the host and takes turns until they are done. No
//! test waits for time to pass: a bound on the turns only ends a run that hangs.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use fastslua::net::Tcp;
use fastslua::server::{Clock, Config, End, Payload, RequestId, Server};
use fastslua::testing::{Response, ResponseReader};

const BIG: usize = 8 << 20;

/// A run that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(30);

struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn unix_time(&self) -> u64 {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        since.expect("a clock set after 1970").as_secs()
    }
}

struct Host {
    server: Server<Tcp, Vec<u8>>,
    /// The most that was buffered at the end of a turn.
    buffered_max: usize,
}

impl Host {
    fn new() -> Self {
        let network = Tcp::listen(SocketAddr::from(([127, 0, 0, 1], 0)), 512).expect("a free port");
        let server = Server::new(network, Config::default(), Instant::now());
        Host {
            server,
            buffered_max: 0,
        }
    }

    /// Starts a client that talks to this host.
    fn client<T: Send + 'static>(&self, talk: impl FnOnce(Client) -> T + Send + 'static) -> JoinHandle<T> {
        let address = self.server.local_addr().expect("bound");
        thread::spawn(move || talk(Client::connect(address)))
    }

    fn turn(&mut self) {
        let wait = self.server.wait_hint(Instant::now()).unwrap_or(PATIENCE);
        self.server
            .begin_turn(&SystemClock, None, Some(wait.min(Duration::from_millis(5))))
            .expect("polled");
        while let Some(id) = self.server.next_request(&SystemClock) {
            self.answer(id);
            self.server.end_request(id, &SystemClock);
        }
        self.server.end_turn(&SystemClock);
        self.buffered_max = self.buffered_max.max(self.server.buffered_bytes());
    }

    fn answer(&mut self, id: RequestId) {
        let request = self.server.request(id).expect("live");
        let payload = match request.text(request.head().path) {
            b"/echo" => Payload::Held(request.body().unwrap_or_default().to_vec()),
            b"/big" => Payload::Held(big()),
            _ => Payload::Bytes(b"OK"),
        };
        self.server.respond(id, payload).expect("an answer that fits");
    }

    /// Takes turns until every client is done.
    fn serve<T>(&mut self, clients: Vec<JoinHandle<T>>) -> Vec<T> {
        self.turns_until(|_| clients.iter().all(JoinHandle::is_finished));
        clients
            .into_iter()
            .map(|client| client.join().expect("a client that is content"))
            .collect()
    }

    fn turns_until(&mut self, done: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !done(self) {
            assert!(start.elapsed() < PATIENCE, "it hangs");
            self.turn();
        }
    }
}

fn big() -> Vec<u8> {
    (0..BIG).map(|at| (at / 1000) as u8).collect()
}

struct Client {
    stream: TcpStream,
    reader: ResponseReader,
}

impl Client {
    fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("connected");
        stream.set_read_timeout(Some(PATIENCE)).expect("set");
        Client {
            stream,
            reader: ResponseReader::new(),
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("sent");
    }

    fn ask(&mut self, request: &[u8]) -> Response {
        self.send(request);
        self.response()
    }

    /// The next response, received at most `piece` bytes at a time.
    fn response_in(&mut self, piece: usize) -> Response {
        let mut buffer = vec![0; piece];
        loop {
            if let Some(response) = self.reader.next_response() {
                return response;
            }
            let count = self.stream.read(&mut buffer).expect("received");
            assert!(count > 0, "ended before its answer");
            self.reader.receive(&buffer[..count]).expect("a sound response");
        }
    }

    fn response(&mut self) -> Response {
        self.response_in(64 << 10)
    }

    /// The server ends the connection in order, and sends nothing more.
    fn ended(mut self) {
        assert_eq!(self.stream.read(&mut [0; 16]).expect("an end in order"), 0);
    }
}

fn post(path: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[test]
fn echoes_over_one_connection() {
    let mut host = Host::new();
    let client = host.client(|mut client| {
        for len in [0, 1, 5_000, 300_000, 1 << 20] {
            let body = &big()[..len];
            assert_eq!(client.ask(&post("/echo", body)).body, body);
        }
    });
    host.serve(vec![client]);
    host.turns_until(|host| host.server.active() == 0);
    assert_eq!(host.server.stats().ended_by(End::PeerClosed), 1);
    assert_eq!(host.server.buffered_bytes(), 0);
}

#[test]
fn a_slow_reader_of_a_large_body_costs_no_copy_and_nobody_else() {
    let mut host = Host::new();
    let (tell, told) = std::sync::mpsc::channel();
    let slow = host.client(move |mut client| {
        client.send(b"GET /big HTTP/1.1\r\nHost: localhost\r\n\r\n");
        // The other client is served while most of this answer has no room to go.
        told.recv_timeout(PATIENCE).expect("the other one was served");
        assert!(client.response_in(3_000).body == big());
    });
    host.turns_until(|host| host.server.stats().requests == 1);
    let other = host.client(move |mut client| {
        for _ in 0..100 {
            assert_eq!(client.ask(GET).body, b"OK");
        }
        tell.send(()).expect("heard");
    });
    host.serve(vec![slow, other]);
    assert!(
        host.buffered_max < 64 << 10,
        "{} bytes were buffered",
        host.buffered_max
    );
}

#[test]
fn a_half_closed_client_is_answered() {
    let mut host = Host::new();
    let client = host.client(|mut client| {
        client.send(&[GET, GET, &post("/echo", b"last")].concat());
        client.stream.shutdown(Shutdown::Write).expect("shut down");
        let bodies: Vec<_> = (0..3).map(|_| client.response().body).collect();
        assert_eq!(bodies, [b"OK".to_vec(), b"OK".to_vec(), b"last".to_vec()]);
        client.ended();
    });
    host.serve(vec![client]);
}

#[test]
fn a_reset_ends_the_connection_at_once() {
    let mut host = Host::new();
    let client = host.client(|mut client| {
        client.send(b"GET / HTTP/1.1\r\nHos");
        client
    });
    host.turns_until(|host| host.server.stats().bytes_in > 0);
    let client = client.join().expect("connected");
    socket2::SockRef::from(&client.stream)
        .set_linger(Some(Duration::ZERO))
        .expect("set");
    drop(client);
    host.turns_until(|host| host.server.active() == 0);
    assert_eq!(host.server.stats().ended_by(End::Reset), 1);
    assert_eq!(host.server.buffered_bytes(), 0);
}

#[test]
fn an_early_refusal_reaches_a_client_that_still_sends() {
    let mut host = Host::new();
    let client = host.client(|mut client| {
        client.send(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 33554432\r\n\r\n");
        // More than the buffers of both sides hold: the server has to take it, or this would never end.
        for _ in 0..4 {
            client.send(&big());
        }
        let response = client.response();
        assert_eq!((response.status, response.close), (413, true));
        client.ended();
    });
    host.serve(vec![client]);
    host.turns_until(|host| host.server.active() == 0);
}

#[test]
fn a_hundred_connections_are_served_and_forgotten() {
    let mut host = Host::new();
    let clients = (0..100).map(|_| {
        host.client(|mut client| {
            for _ in 0..3 {
                assert_eq!(client.ask(GET).body, b"OK");
            }
            client.send(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
            assert!(client.response().close);
            client.ended();
        })
    });
    let clients = clients.collect();
    host.serve(clients);
    host.turns_until(|host| host.server.active() == 0);
    let stats = host.server.stats();
    assert_eq!(
        (stats.accepted, stats.requests, stats.ended_by(End::Answered)),
        (100, 400, 100)
    );
    assert_eq!(host.server.buffered_bytes(), 0);
}

#[test]
fn a_shutdown_answers_what_is_in_flight_and_refuses_the_rest() {
    let mut host = Host::new();
    let (tell, told) = std::sync::mpsc::channel::<()>();
    let client = host.client(move |mut client| {
        client.send(&post("/echo", b"half")[..60]);
        told.recv_timeout(PATIENCE).expect("shutting down");
        client.send(&post("/echo", b"half")[60..]);
        let response = client.response();
        assert_eq!((response.body.as_slice(), response.close), (&b"half"[..], true));
        client.ended();
    });
    host.turns_until(|host| host.server.stats().bytes_in > 0);
    host.server.shutdown(PATIENCE, &SystemClock);
    tell.send(()).expect("heard");
    assert!(TcpStream::connect(host.server.local_addr().expect("bound")).is_err());
    host.serve(vec![client]);
    host.turns_until(|host| host.server.is_closed());
    assert_eq!(host.server.active(), 0);
}
