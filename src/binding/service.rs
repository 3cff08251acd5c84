//! One server as the binding holds it: the server itself over real sockets, its clock, and what it was bound to.
//!
//! Plain Rust. It must never be borrowed while Lua runs.

use super::origin::Proxies;
use super::raw::HeldBody;
use crate::net::Tcp;
use crate::server::{Clock, Config, Server};
use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The system's clocks. The binding is the only place that reads them.
pub(super) struct SystemClock;

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

/// A server and what the binding keeps beside it.
pub(super) struct Service {
    pub(super) server: Server<Tcp, HeldBody>,
    pub(super) clock: SystemClock,
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
        let clock = SystemClock;
        let network = Tcp::listen(address, backlog)?;
        let server = Server::new(network, config, clock.now());
        let address = server.local_addr()?;
        Ok(Self {
            server,
            clock,
            address,
            proxies: Proxies::default(),
            etag: true,
            releases: Rc::default(),
        })
    }
}
