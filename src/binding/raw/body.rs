//! A response body that stays a Lua string, sent from where it lies.
//!
//! Lua 5.1 and LuaJIT never move a string. The server's table of bodies holds it by a reference until the body is
//! dropped; dropping only notes the reference, since it may happen while Lua collects, and a later turn releases it.

use std::cell::RefCell;
use std::os::raw::c_int;
use std::rc::Rc;

/// References that nobody needs any more.
pub(in crate::binding) type Releases = Rc<RefCell<Vec<c_int>>>;

/// The bytes of a referenced Lua string.
pub(in crate::binding) struct HeldBody {
    start: *const u8,
    length: usize,
    reference: c_int,
    releases: Releases,
}

impl HeldBody {
    /// SAFETY: `start` and `length` are those of a Lua string, which `reference` keeps in a table that lives as long as
    /// the server that gets this body.
    pub(super) unsafe fn new(start: *const u8, length: usize, reference: c_int, releases: Releases) -> Self {
        Self {
            start,
            length,
            reference,
            releases,
        }
    }
}

impl AsRef<[u8]> for HeldBody {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: `new`'s contract: the string is referenced until this value is dropped and a turn has released it.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

impl Drop for HeldBody {
    fn drop(&mut self) {
        // Not borrowed here: a turn takes one reference at a time.
        if let Ok(mut releases) = self.releases.try_borrow_mut() {
            releases.push(self.reference);
        }
    }
}
