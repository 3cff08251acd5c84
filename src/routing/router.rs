use super::{Captures, Methods, Options, Param, PatternError};

/// A place in the order of registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(u32);

impl Place {
    /// Before everything that is registered.
    pub const START: Place = Place(0);
}

/// A route of one router; never used again for another route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RouteId {
    place: Place,
    slot: u32,
}

impl RouteId {
    pub fn place(self) -> Place {
        self.place
    }
    /// A small number, used again when the route has been removed: the index for what the caller keeps per route.
    pub fn slot(self) -> usize {
        self.slot as usize
    }
}

/// What a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    Route(RouteId),
    /// No pattern matches: 404.
    NotFound,
    /// Patterns match, for these methods only: 405 (or the automatic answer to OPTIONS) with `Allow`.
    WrongMethod(Methods),
    /// The path holds a `%` that two hexadecimal digits do not follow: 400.
    BadPercent,
}

/// The routes of one application.
#[derive(Debug, Default)]
pub struct Router {}

impl Router {
    pub fn new() -> Router {
        Router::default()
    }
    /// The method(s) a route registered for the name takes; a name outside the seven is learnt (at most 24).
    pub fn learn_method(&mut self, name: &str) -> Result<Methods, PatternError> {
        let _ = name;
        todo!()
    }
    /// The method of a request, for `find`; one nobody has registered is taken by `Methods::ALL` alone.
    pub fn method(&self, text: &[u8]) -> Methods {
        let _ = text;
        todo!()
    }
    pub fn insert(&mut self, methods: Methods, pattern: &str, options: &Options) -> Result<RouteId, PatternError> {
        let _ = (methods, pattern, options);
        todo!()
    }
    /// Puts another pattern and methods in the place of a route, which keeps its id. `Ok(false)`: no such route.
    pub fn replace(
        &mut self,
        id: RouteId,
        methods: Methods,
        pattern: &str,
        options: &Options,
    ) -> Result<bool, PatternError> {
        let _ = (id, methods, pattern, options);
        todo!()
    }
    pub fn remove(&mut self, id: RouteId) -> bool {
        let _ = id;
        todo!()
    }
    /// Takes the next place for something the caller keeps itself (middleware).
    pub fn take_place(&mut self) -> Place {
        todo!()
    }
    pub fn find(&self, method: Methods, path: &[u8], captures: &mut Captures) -> Found {
        self.find_after(Place::START, method, path, captures)
    }
    pub fn find_after(&self, after: Place, method: Methods, path: &[u8], captures: &mut Captures) -> Found {
        let _ = (after, method, path, captures);
        todo!()
    }
    pub fn params(&self, id: RouteId) -> &[Param] {
        let _ = id;
        todo!()
    }
    pub fn pattern(&self, id: RouteId) -> Option<&str> {
        let _ = id;
        todo!()
    }
    pub fn methods(&self, id: RouteId) -> Methods {
        let _ = id;
        todo!()
    }
    /// Every method some route takes for this path.
    pub fn allowed(&self, path: &[u8], captures: &mut Captures) -> Methods {
        let _ = (path, captures);
        todo!()
    }
    /// Writes the value of `Allow`: `GET, HEAD, OPTIONS`.
    pub fn write_allow(&self, methods: Methods, out: &mut Vec<u8>) {
        let _ = (methods, out);
        todo!()
    }
    /// The ids of all routes in the order of registration.
    pub fn routes(&self) -> Vec<RouteId> {
        todo!()
    }
}
