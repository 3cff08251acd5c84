//! `floor [PORT]`: the floor that the benchmarks compare with. The same sockets (mio, edge-triggered, the same backlog,
//! no delay) and the same parser (httparse) as fastslua, with no framework, no limits, no deadlines and no Lua: what
//! remains is the price of the system calls and of reading a head. Prints its address, serves until it is killed.
//!
//! It does only work that an honest HTTP/1.1 server cannot leave out (keep-alive, pipelining, `Connection: close`, partial
//! sends, Date, Content-Length). It must never answer from a guess at the bytes. It knows Linux's readiness alone.

mod connection;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant, SystemTime};

use connection::{Connection, Outcome, Scratch};
use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token};
use socket2::{Domain, Socket, Type};

const LISTENER: Token = Token(usize::MAX);
/// As fastslua's default.
const BACKLOG: i32 = 512;

fn main() -> io::Result<()> {
    let port = match std::env::args().nth(1) {
        Some(text) => text
            .parse()
            .map_err(|_| io::Error::other(format!("not a port: {text}")))?,
        None => 0,
    };
    let listener = listen(SocketAddr::from(([127, 0, 0, 1], port)))?;
    writeln!(io::stdout(), "floor on http://{}", listener.local_addr()?)?;
    Floor::new(listener)?.serve()
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    // An accepted socket inherits it on Linux.
    socket.set_tcp_nodelay(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(TcpListener::from_std(socket.into()))
}

struct Floor {
    poll: Poll,
    listener: TcpListener,
    /// Indexed by token; a freed place is in `free` and is used again first.
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    scratch: Scratch,
    date_made: Instant,
}

impl Floor {
    fn new(mut listener: TcpListener) -> io::Result<Self> {
        let poll = Poll::new()?;
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        let scratch = Scratch::new(httpdate::fmt_http_date(SystemTime::now()).as_bytes());
        Ok(Self {
            poll,
            listener,
            connections: Vec::new(),
            free: Vec::new(),
            scratch,
            date_made: Instant::now(),
        })
    }

    fn serve(mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(1024);
        loop {
            match self.poll.poll(&mut events, None) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            }
            self.refresh_date();
            for event in &events {
                match event.token() {
                    LISTENER => self.accept_all()?,
                    Token(place) => self.visit(place, event.is_read_closed()),
                }
            }
        }
    }

    /// The Date field has a resolution of one second (RFC 9110 section 5.6.7).
    fn refresh_date(&mut self) {
        let now = Instant::now();
        if now - self.date_made >= Duration::from_secs(1) {
            self.scratch
                .set_date(httpdate::fmt_http_date(SystemTime::now()).as_bytes());
            self.date_made = now;
        }
    }

    /// Readiness is edge-triggered, so the whole queue of the listener is taken.
    fn accept_all(&mut self) -> io::Result<()> {
        loop {
            match self.listener.accept() {
                Ok((stream, _peer)) => self.admit(Connection::new(stream))?,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                // The client has gone before it was accepted, or there are no descriptors now: serve those who are here.
                Err(_) => return Ok(()),
            }
        }
    }

    /// A connection whose whole request is already there and which ends with the answer never meets the poller.
    fn admit(&mut self, mut connection: Connection) -> io::Result<()> {
        if connection.serve(false, &mut self.scratch) == Outcome::Closed {
            return Ok(());
        }
        let place = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() - 1
        });
        // What arrived between the receive above and this call is reported: the poller tells what holds when it is asked.
        let both = Interest::READABLE | Interest::WRITABLE;
        self.poll
            .registry()
            .register(connection.stream_mut(), Token(place), both)?;
        self.connections[place] = Some(connection);
        Ok(())
    }

    fn visit(&mut self, place: usize, read_closed: bool) {
        // An event of a connection that ended earlier in the same batch has nobody to go to.
        let Some(connection) = self.connections[place].as_mut() else {
            return;
        };
        if connection.serve(read_closed, &mut self.scratch) == Outcome::Closed {
            // Dropping the socket takes it out of the poller.
            self.connections[place] = None;
            self.free.push(place);
        }
    }
}
