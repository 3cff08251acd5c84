use super::{Captures, Options, Param, PatternError};

/// A compiled prefix.
#[derive(Debug)]
pub struct Prefix {
    params: Vec<Param>,
}

impl Prefix {
    pub fn compile(pattern: &str, options: &Options) -> Result<Prefix, PatternError> {
        let _ = (pattern, options);
        todo!()
    }
    /// Where the rest of `path` begins: at a `/`, or at its end.
    pub fn matches(&self, path: &[u8], captures: &mut Captures) -> Option<usize> {
        let _ = (path, captures);
        todo!()
    }
    pub fn params(&self) -> &[Param] {
        &self.params
    }
}
