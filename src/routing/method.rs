use std::ops::BitOr;

/// A set of request methods.
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
    /// Every method, those nobody has named included.
    pub const ALL: Methods = Methods(u32::MAX);

    /// The set of one of the seven constants above, by its (case-sensitive) name.
    pub fn known(text: &[u8]) -> Option<Methods> {
        let _ = text;
        todo!()
    }
    pub const fn contains(self, other: Methods) -> bool {
        self.0 & other.0 == other.0
    }
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
