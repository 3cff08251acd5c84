//! What tests, simulation and fuzzing share: a network without sockets, a clock that moves only when told, scripted
//! peers and a reader of responses written from the RFC.
//!
//! Everything here is deterministic: the same seed gives the same run, byte for byte. Nothing here may be used by the
//! product, and nothing here may learn from the code under test how a message ought to look.

mod clock;
mod faults;
pub mod fuzz;
pub mod json;
mod network;
mod peer;
mod random;
pub mod requests;
mod response;
pub mod routes;
pub mod splits;
mod wire;

pub use clock::SimClock;
pub use faults::{Counts, Faults};
pub use network::{SimNetwork, SimStream};
pub use peer::{Peer, PeerState, SimHandle};
pub use random::Random;
pub use response::{Response, ResponseReader};
