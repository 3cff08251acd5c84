//! What a server counts of itself. Cumulative since it was made; only ever added to.

use crate::h1::Reject;
use std::time::Duration;

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The peer ended its side, and everything was answered.
    PeerClosed,
    /// The last answer was sent and the connection was not to persist.
    Answered,
    /// A request was refused.
    Refused,
    /// The peer, or the network, broke the connection.
    Reset,
    /// No byte of a (next) request came in time.
    IdleTimeout,
    /// The peer did not take the response in time.
    WriteTimeout,
    /// It had sent nothing, and another connection needed its place.
    Evicted,
    /// There was no place for it.
    Full,
    /// A response could not be finished.
    ResponseFailed,
    /// The server was closed or shut down.
    ServerClosed,
}

impl End {
    pub const ALL: [End; 10] = [
        End::PeerClosed,
        End::Answered,
        End::Refused,
        End::Reset,
        End::IdleTimeout,
        End::WriteTimeout,
        End::Evicted,
        End::Full,
        End::ResponseFailed,
        End::ServerClosed,
    ];

    /// The name under which it is counted.
    pub fn name(self) -> &'static str {
        match self {
            End::PeerClosed => "peer_closed",
            End::Answered => "answered",
            End::Refused => "refused",
            End::Reset => "reset",
            End::IdleTimeout => "idle_timeout",
            End::WriteTimeout => "write_timeout",
            End::Evicted => "evicted",
            End::Full => "full",
            End::ResponseFailed => "response_failed",
            End::ServerClosed => "server_closed",
        }
    }
}

/// Counters of one server.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Connections accepted, refused ones among them.
    pub accepted: u64,
    /// Connections ended; `accepted - closed` are open.
    pub closed: u64,
    /// The same by reason, in the order of [`End::ALL`].
    pub ends: [u64; End::ALL.len()],
    /// Requests handed to the handler.
    pub requests: u64,
    /// Requests handed to the handler whose connection ended before an answer.
    pub unanswered: u64,
    /// Responses to dispatched requests by class: 2xx, 3xx, 4xx, 5xx.
    pub responses: [u64; 4],
    /// Requests refused before a handler saw them, by reason, in the order of [`Reject::ALL`].
    pub refusals: Vec<u64>,
    /// Bytes received and sent.
    pub bytes_in: u64,
    pub bytes_out: u64,
    /// Turns taken.
    pub steps: u64,
    /// Turns that lasted longer than their budget.
    pub steps_over_budget: u64,
    /// Time spent in turns, handlers included.
    pub step_time_total: Duration,
    pub step_time_max: Duration,
    /// Time spent in handlers, and the longest one with its request's serial.
    pub handler_time_total: Duration,
    pub handler_time_max: Duration,
    pub handler_slowest: u64,
    /// Errors of the system when accepting (out of descriptors, say).
    pub accept_errors: u64,
}

impl Stats {
    pub(super) fn new() -> Self {
        Self {
            refusals: vec![0; Reject::ALL.len()],
            ..Self::default()
        }
    }

    pub(super) fn ended(&mut self, end: End) {
        self.closed += 1;
        self.ends[end as usize] += 1;
    }

    pub(super) fn responded(&mut self, status: u16) {
        let class = usize::from(status / 100).clamp(2, 5) - 2;
        self.responses[class] += 1;
    }

    pub(super) fn refused(&mut self, reject: Reject) {
        self.refusals[reject as usize] += 1;
    }

    /// How many connections ended for this reason.
    pub fn ended_by(&self, end: End) -> u64 {
        self.ends[end as usize]
    }
}
