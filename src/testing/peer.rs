//! The test's side of the simulated network: opening connections, playing the client, asking what happened.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use super::Counts;
use super::network::World;
use super::wire::{Arrival, ServerSide, Wire};

/// The test's side of the network. Clones share it.
#[derive(Clone)]
pub struct SimHandle {
    pub(super) world: Rc<RefCell<World>>,
}

impl SimHandle {
    /// A peer at `address` connects; `window` bytes of answer may wait for it to be taken.
    pub fn connect(&self, address: SocketAddr, window: usize) -> Peer {
        let mut world = self.world.borrow_mut();
        let id = world.wires.len();
        world.wires.push(Wire::new(window));
        world.addresses.push(address);
        if world.listening {
            world.backlog.push_back(id);
            if world.listener_armed || !world.faults.strict {
                world.owes_listener = true;
                world.listener_armed = false;
            }
        } else {
            world.wires[id].close();
            world.wires[id].reset_by_server = true;
        }
        Peer {
            world: self.world.clone(),
            id,
        }
    }

    pub fn counts(&self) -> Counts {
        self.world.borrow().counts
    }

    /// Streams that the server holds.
    pub fn open(&self) -> usize {
        self.world
            .borrow()
            .wires
            .iter()
            .filter(|wire| wire.server == ServerSide::Open)
            .count()
    }

    /// Connections nobody has accepted yet.
    pub fn waiting(&self) -> usize {
        self.world.borrow().backlog.len()
    }

    /// When the next bytes, end or reset arrive, as virtual time since the start.
    pub fn next_arrival(&self) -> Option<Duration> {
        self.world.borrow().due.peek().map(|due| due.0.0)
    }
}

/// How a connection stands for its peer, everything sent to it taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerState {
    Open,
    /// The server ended its sending side in order.
    Ended,
    /// The connection was reset by the server's side; what was under way may be lost.
    Reset,
}

/// The client's end of one connection; the test says what it does.
pub struct Peer {
    world: Rc<RefCell<World>>,
    id: usize,
}

impl Peer {
    /// Has `bytes` arrive in one piece, `delay` from now and not before what was sent earlier.
    pub fn send(&self, bytes: &[u8], delay: Duration) {
        if !bytes.is_empty() {
            self.world
                .borrow_mut()
                .schedule(self.id, delay, Arrival::Bytes(bytes.to_vec()));
        }
    }

    /// Ends the sending side (a half-close) behind what was sent.
    pub fn end(&self, delay: Duration) {
        self.world.borrow_mut().schedule(self.id, delay, Arrival::End);
    }

    /// Gives the connection up; `keep`: the server may still receive what arrived before.
    pub fn reset(&self, delay: Duration, keep: bool) {
        self.world
            .borrow_mut()
            .schedule(self.id, delay, Arrival::Reset { keep });
    }

    /// Takes up to `most` bytes of what the server sent.
    pub fn receive(&self, most: usize) -> Vec<u8> {
        let mut world = self.world.borrow_mut();
        let wire = &mut world.wires[self.id];
        let count = most.min(wire.sent.len());
        let taken = wire.sent.drain(..count).collect();
        wire.room_made();
        if wire.owes_writable {
            world.owing.push_back(self.id);
        }
        taken
    }

    pub fn state(&self) -> PeerState {
        let world = self.world.borrow();
        let wire = &world.wires[self.id];
        match () {
            _ if !wire.sent.is_empty() => PeerState::Open,
            _ if wire.reset_by_server => PeerState::Reset,
            _ if wire.send_ended => PeerState::Ended,
            _ => PeerState::Open,
        }
    }

    /// The server has let go of its stream (or never took it).
    pub fn dropped(&self) -> bool {
        self.world.borrow().wires[self.id].server == ServerSide::Gone
    }

    /// Bytes on their way to the server or arrived there and not yet received.
    pub fn unreceived(&self) -> usize {
        let world = self.world.borrow();
        let wire = &world.wires[self.id];
        let under_way = wire.under_way.iter().map(|(_, arrival)| match arrival {
            Arrival::Bytes(bytes) => bytes.len(),
            Arrival::End | Arrival::Reset { .. } => 0,
        });
        wire.arrived.len() + under_way.sum::<usize>()
    }
}
