//! One server as the binding holds it: the server itself over sockets or within the process, its clock, and what it was
//! bound to.
//!
//! Plain Rust. It must never be borrowed while Lua runs.

use super::origin::Proxies;
use super::raw::HeldBody;
use crate::net::{Either, Far, FarEnd, Memory, Tcp};
use crate::server::{Clock, Config, Server};
use std::cell::{Cell, RefCell};
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The system's clocks, which the binding alone reads; or, in a test, a time that stands still.
pub(super) struct ServiceClock {
    still: Cell<Option<Still>>,
}

/// A time that somebody else moves.
#[derive(Clone, Copy)]
struct Still {
    now: Instant,
    since_epoch: Duration,
}

impl ServiceClock {
    fn of_system() -> Self {
        Self { still: Cell::new(None) }
    }

    fn still() -> Self {
        let still = Still {
            now: Instant::now(),
            since_epoch: since_epoch(),
        };
        Self {
            still: Cell::new(Some(still)),
        }
    }

    /// Moves a time that stands still; the system's goes its own way.
    pub(super) fn advance(&self, by: Duration) {
        let moved = |still: Still| Still {
            now: still.now + by,
            since_epoch: still.since_epoch + by,
        };
        self.still.set(self.still.get().map(moved));
    }
}

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

impl Clock for ServiceClock {
    #[inline]
    fn now(&self) -> Instant {
        match self.still.get() {
            None => Instant::now(),
            Some(still) => still.now,
        }
    }

    fn unix_time(&self) -> u64 {
        self.still
            .get()
            .map_or_else(since_epoch, |still| still.since_epoch)
            .as_secs()
    }
}

/// The far side of a server within the process: where its test connects from.
pub(super) struct FarSide {
    far: Far,
    /// By the number that a script knows a connection by.
    ends: Vec<Option<FarEnd>>,
}

impl FarSide {
    /// A new connection's number; `None` when the server listens no more.
    pub(super) fn connect(&mut self, address: SocketAddr) -> Option<usize> {
        let end = self.far.connect(address)?;
        let free = self.ends.iter().position(Option::is_none);
        let number = free.unwrap_or(self.ends.len());
        if free.is_none() {
            self.ends.push(None);
        }
        self.ends[number] = Some(end);
        Some(number)
    }

    pub(super) fn end(&self, number: usize) -> Option<&FarEnd> {
        self.ends.get(number)?.as_ref()
    }

    /// Drops a connection, answered or not.
    pub(super) fn close(&mut self, number: usize) {
        if let Some(end) = self.ends.get_mut(number) {
            *end = None;
        }
    }
}

/// A server and what the binding keeps beside it.
pub(super) struct Service {
    pub(super) server: Server<Either, HeldBody>,
    pub(super) clock: ServiceClock,
    /// Only for a server within the process.
    pub(super) far: Option<FarSide>,
    /// What the listener was bound to; known after `close()` too.
    pub(super) address: SocketAddr,
    /// Whom to believe about where requests came from.
    pub(super) proxies: Proxies,
    /// Answers get entity tags.
    pub(super) etag: bool,
    /// References to bodies that were sent or given up.
    pub(super) releases: Rc<RefCell<Vec<i32>>>,
}

impl Service {
    /// Binds and listens.
    pub(super) fn listen(address: SocketAddr, backlog: i32, config: Config) -> io::Result<Self> {
        let network = Either::Tcp(Tcp::listen(address, backlog)?);
        Self::over(network, ServiceClock::of_system(), None, config)
    }

    /// Serves within the process: no port is bound, and time stands still.
    pub(super) fn within(address: SocketAddr, config: Config) -> io::Result<Self> {
        let (memory, far) = Memory::new(address);
        let ends = Vec::new();
        let far = Some(FarSide { far, ends });
        Self::over(Either::Memory(memory), ServiceClock::still(), far, config)
    }

    fn over(network: Either, clock: ServiceClock, far: Option<FarSide>, config: Config) -> io::Result<Self> {
        let server = Server::new(network, config, clock.now());
        let address = server.local_addr()?;
        Ok(Self {
            server,
            clock,
            far,
            address,
            proxies: Proxies::default(),
            etag: true,
            releases: Rc::default(),
        })
    }
}
