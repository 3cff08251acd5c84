//! The one account of request and response bytes, and the buffers they lie in.
//!
//! Every buffer that a connection holds was charged here first, so that the sum stays under one limit whatever peers
//! send and handlers answer. Idle connections hold none. It must never hand out more than the limit.

/// Size of the first buffer of a request or response: most heads and small answers fit.
pub(super) const BASE: usize = 4096;

/// Base buffers kept for the next connection: 1 MiB of each kind at most.
const SPARE_MAX: usize = 256;

/// Accounts and recycles buffers.
pub(super) struct Pool {
    limit: usize,
    used: usize,
    inputs: Vec<Box<[u8]>>,
    outputs: Vec<Vec<u8>>,
}

impl Pool {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            used: 0,
            inputs: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// Bytes charged.
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// Whether `bytes` more would fit.
    pub(super) fn fits(&self, bytes: usize) -> bool {
        bytes <= self.limit.saturating_sub(self.used)
    }

    /// A buffer to receive into, or `None` when it does not fit.
    pub(super) fn take_input(&mut self, capacity: usize) -> Option<Box<[u8]>> {
        if !self.fits(capacity) {
            return None;
        }
        self.used += capacity;
        if capacity == BASE
            && let Some(spare) = self.inputs.pop()
        {
            return Some(spare);
        }
        Some(vec![0; capacity].into_boxed_slice())
    }

    /// Takes a buffer back.
    pub(super) fn give_input(&mut self, storage: Box<[u8]>) {
        self.credit(storage.len());
        if storage.len() == BASE && self.inputs.len() < SPARE_MAX {
            self.inputs.push(storage);
        }
    }

    /// Frees the account of a buffer that was dropped with its connection.
    pub(super) fn forget_input(&mut self, capacity: usize) {
        self.credit(capacity);
    }

    /// Makes room for `bytes` more in `output`; false when that does not fit.
    pub(super) fn reserve_output(&mut self, output: &mut Vec<u8>, bytes: usize) -> bool {
        let needed = output.len() + bytes;
        let old = output.capacity();
        if needed <= old {
            return true;
        }
        if old == 0
            && needed <= BASE
            && self.fits(BASE)
            && let Some(spare) = self.outputs.pop()
        {
            self.used += spare.capacity();
            *output = spare;
            return true;
        }
        let capacity = needed.next_power_of_two().max(BASE);
        if !self.fits(capacity - old) {
            return false;
        }
        output.reserve_exact(capacity - output.len());
        self.used += output.capacity() - old;
        true
    }

    /// Takes the storage of a drained output back.
    pub(super) fn give_output(&mut self, output: &mut Vec<u8>) {
        let mut storage = std::mem::take(output);
        let capacity = storage.capacity();
        self.credit(capacity);
        if capacity == BASE && self.outputs.len() < SPARE_MAX {
            storage.clear();
            self.outputs.push(storage);
        }
    }

    /// Corrects the account where an encoder grew an output past what was reserved.
    pub(super) fn true_up(&mut self, before: usize, output: &Vec<u8>) {
        self.used = self.used + output.capacity() - before;
    }

    fn credit(&mut self, bytes: usize) {
        debug_assert!(bytes <= self.used, "a buffer came back that was never charged");
        self.used = self.used.saturating_sub(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_back_frees_what_it_took() {
        let mut pool = Pool::new(3 * BASE);
        let first = pool.take_input(BASE).expect("fits");
        let second = pool.take_input(2 * BASE).expect("fits");
        assert!(pool.take_input(1).is_none());
        pool.give_input(second);
        let mut output = Vec::new();
        assert!(pool.reserve_output(&mut output, 10));
        assert!(!pool.reserve_output(&mut output, 3 * BASE));
        assert_eq!(pool.used(), 2 * BASE);
        pool.give_output(&mut output);
        pool.give_input(first);
        assert_eq!(pool.used(), 0);
        assert!(pool.reserve_output(&mut output, BASE), "the spare serves again");
        assert_eq!(pool.used(), BASE);
    }
}
