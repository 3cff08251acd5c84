//! What runs came to, and whether they came far enough: a swarm that never gets into trouble proves nothing.

use std::time::Duration;

use fastslua::h1::Reject;
use fastslua::server::End;
use fastslua::testing::Counts;

/// What a run came to; the same for the same seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub counts: Counts,
    pub elapsed: Duration,
    pub ends: [u64; End::ALL.len()],
    pub refusals: Vec<u64>,
}

/// Refusals that limits and deadlines decide. Those of the parser have tables of their own.
const REFUSALS: [Reject; 11] = [
    Reject::TargetTooLong,
    Reject::HeadTooLarge,
    Reject::TooManyFields,
    Reject::BodyTooLarge,
    Reject::Truncated,
    Reject::HeaderTimeout,
    Reject::BodyTimeout,
    Reject::DispatchTimeout,
    Reject::Overloaded,
    Reject::MisdirectedRequest,
    Reject::ForbiddenOrigin,
];

/// What many runs have met between them.
pub struct Met {
    ends: [u64; End::ALL.len()],
    refusals: [u64; Reject::ALL.len()],
}

impl Met {
    pub fn nothing() -> Self {
        Met {
            ends: [0; End::ALL.len()],
            refusals: [0; Reject::ALL.len()],
        }
    }

    pub fn add(&mut self, outcome: &Outcome) {
        let ends = self.ends.iter_mut().zip(&outcome.ends);
        let refusals = self.refusals.iter_mut().zip(&outcome.refusals);
        ends.chain(refusals).for_each(|(sum, count)| *sum += count);
    }

    /// Every way to end, and every refusal that a limit decides, has happened.
    pub fn check(&self) {
        for (end, count) in End::ALL.iter().zip(self.ends) {
            assert!(count > 0, "no connection ended as {end:?}");
        }
        for reject in REFUSALS {
            assert!(self.refusals[reject as usize] > 0, "nobody was refused as {reject:?}");
        }
    }
}
