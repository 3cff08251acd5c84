//! Sets of request methods (RFC 9110 section 9): one bit for each.
//!
//! The seven that applications use have fixed bits; a router gives the bits behind them to the methods it learns, and the
//! last bit stands for every method that nobody has named.

use std::ops::BitOr;

/// A set of request methods. Bits of learnt methods mean something to their router alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Methods(u32);

impl Methods {
    pub const NONE: Methods = Methods(0);
    pub const GET: Methods = Methods(1);
    pub const HEAD: Methods = Methods(1 << 1);
    pub const POST: Methods = Methods(1 << 2);
    pub const PUT: Methods = Methods(1 << 3);
    pub const PATCH: Methods = Methods(1 << 4);
    pub const DELETE: Methods = Methods(1 << 5);
    pub const OPTIONS: Methods = Methods(1 << 6);
    /// Every method, those that nobody has named included.
    pub const ALL: Methods = Methods(u32::MAX);
    /// A method that nobody has named: only [`Methods::ALL`] holds it.
    pub(super) const UNNAMED: Methods = Methods(1 << 31);

    /// The methods with fixed bits, from the lowest on, in the order `Allow` lists them.
    pub(super) const NAMES: [&'static str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    /// How many methods a router can learn: the bits that are left.
    pub(super) const LEARNT_MAX: usize = 24;

    /// The set of one of the seven constants above, by its name. Names are case-sensitive (RFC 9110 section 9.1).
    pub fn known(text: &[u8]) -> Option<Methods> {
        Some(match text {
            b"GET" => Methods::GET,
            b"HEAD" => Methods::HEAD,
            b"POST" => Methods::POST,
            b"PUT" => Methods::PUT,
            b"PATCH" => Methods::PATCH,
            b"DELETE" => Methods::DELETE,
            b"OPTIONS" => Methods::OPTIONS,
            _ => return None,
        })
    }

    /// The set of the method with bit `index`: below seven a fixed one, then those a router has learnt.
    pub(super) const fn of(index: usize) -> Methods {
        Methods(1 << index)
    }

    /// The methods whose routes take a request of one of `self`: HEAD goes where GET does (RFC 9110 section 9.3.2).
    pub(super) const fn takers(self) -> Methods {
        if self.intersects(Methods::HEAD) {
            Methods(self.0 | Methods::GET.0)
        } else {
            self
        }
    }

    /// Whether every method of `other` is in the set.
    pub const fn contains(self, other: Methods) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether some method is in both sets.
    pub const fn intersects(self, other: Methods) -> bool {
        self.0 & other.0 != 0
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl BitOr for Methods {
    type Output = Methods;

    fn bitor(self, other: Methods) -> Methods {
        Methods(self.0 | other.0)
    }
}
