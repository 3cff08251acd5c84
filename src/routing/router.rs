//! The routes of one application: registered, replaced and removed while it serves, found by method and path.
//!
//! The order of registration decides, as in Express: of several routes that take a request the first is found, and
//! [`Router::find_after`] goes on from there. Handlers are the caller's, kept under [`RouteId::slot`].

use super::captures::Captures;
use super::method::Methods;
use super::parser;
use super::path::Unsplit;
use super::pattern::{Options, Outer, Param, Pattern, PatternError};
use super::prefix::{Cover, Prefix};
use super::tree::{Entry, Tree};
use super::wholes::Wholes;

/// The last place; the one behind it means "no route" in the tree.
const PLACE_MAX: u32 = u32::MAX - 1;

/// A place in the order of registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(u32);

impl Place {
    /// Before everything that is registered.
    pub const START: Place = Place(0);
}

/// A route of one router. Never given to another route of it, so that an old one leads to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RouteId {
    place: Place,
    slot: u32,
}

impl RouteId {
    pub fn place(self) -> Place {
        self.place
    }

    /// A small number to keep things under; used again for another route when this one has been removed.
    pub fn slot(self) -> usize {
        self.slot as usize
    }
}

/// What a method and a path lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    Route(RouteId),
    /// No pattern takes the path: 404 (RFC 9110 section 15.5.5).
    NotFound,
    /// Patterns take the path, with these methods only: 405 (section 15.5.6), or the answer to OPTIONS.
    WrongMethod(Methods),
    /// A `%` in the path that two hexadecimal digits do not follow: 400.
    BadPercent,
}

#[derive(Debug)]
struct Route {
    place: u32,
    methods: Methods,
    pattern: Pattern,
}

/// The routes of one application.
#[derive(Debug, Default)]
pub struct Router {
    tree: Tree,
    /// Paths whose routes are known without a search; none after a change.
    wholes: Wholes,
    /// By slot.
    routes: Vec<Option<Route>>,
    free_slots: Vec<u32>,
    /// The last place that was given away.
    last_place: u32,
    /// Names of methods beyond the seven, in the order of their bits.
    learnt: Vec<Box<str>>,
}

impl Entry {
    fn route_id(&self) -> RouteId {
        RouteId {
            place: Place(self.place),
            slot: self.slot,
        }
    }
}

impl Router {
    pub fn new() -> Router {
        Router::default()
    }

    /// The method of a name, for registering routes. Beyond the seven, a router learns up to 24 others.
    /// Refuses what is no token (RFC 9110 section 5.6.2), and lower-case forms of the seven, which no client sends.
    pub fn learn_method(&mut self, name: &str) -> Result<Methods, PatternError> {
        if let Some(methods) = self.named_method(name.as_bytes()) {
            return Ok(methods);
        }
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let what = if name.is_empty() || !name.bytes().all(is_token) {
            "it is no token"
        } else if Methods::known(name.to_ascii_uppercase().as_bytes()).is_some() {
            "methods are written in upper case"
        } else if self.learnt.len() == Methods::LEARNT_MAX {
            "there are too many methods"
        } else {
            self.learnt.push(name.into());
            return Ok(Methods::of(Methods::NAMES.len() + self.learnt.len() - 1));
        };
        Err(PatternError::new(format!("method \"{}\": {what}", name.escape_debug())))
    }

    /// The method of a request. One that was never learnt goes where [`Methods::ALL`] is taken, and nowhere else.
    #[inline]
    pub fn method(&self, text: &[u8]) -> Methods {
        self.named_method(text).unwrap_or(Methods::UNNAMED)
    }

    fn named_method(&self, text: &[u8]) -> Option<Methods> {
        Methods::known(text).or_else(|| {
            let index = self.learnt.iter().position(|name| name.as_bytes() == text)?;
            Some(Methods::of(Methods::NAMES.len() + index))
        })
    }

    /// Registers a route behind all others.
    pub fn insert(&mut self, methods: Methods, pattern: &str, options: &Options) -> Result<RouteId, PatternError> {
        self.insert_below(methods, &[], pattern, options)
    }

    /// Registers a route of which the first segments are those of `prefixes`, outermost first, as routers mounted in
    /// one another have them: `/units` below `/api` is `/api/units`, and `/` below it is `/api`. A parameter may be
    /// named again in another part; both have their captures. `options` say how `pattern` is compared, not its prefixes.
    pub fn insert_below(
        &mut self,
        methods: Methods,
        prefixes: &[Outer<'_>],
        pattern: &str,
        options: &Options,
    ) -> Result<RouteId, PatternError> {
        let pattern = Pattern::below(prefixes, pattern, options)?;
        if self.last_place == PLACE_MAX {
            return Err(PatternError::new(format!(
                "route pattern \"{}\": there are no places left",
                pattern.source
            )));
        }
        let place = self.take_place();
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.routes.push(None);
            (self.routes.len() - 1) as u32
        });
        self.unseal();
        self.tree.insert(&pattern, Entry::new(place.0, slot, methods, &pattern));
        self.routes[slot as usize] = Some(Route {
            place: place.0,
            methods,
            pattern,
        });
        Ok(RouteId { place, slot })
    }

    /// Puts other methods and another pattern in the place of a route, which keeps its id. False when it is gone.
    /// Nothing has changed after an error.
    pub fn replace(
        &mut self,
        id: RouteId,
        methods: Methods,
        pattern: &str,
        options: &Options,
    ) -> Result<bool, PatternError> {
        let pattern = parser::parse(pattern, options)?;
        let Some(before) = self.route(id) else {
            return Ok(false);
        };
        let entry = Entry::new(before.place, id.slot, methods, &pattern);
        self.unseal();
        // Borrowed apart: the tree changes while the route is still there.
        if let Some(Some(route)) = self.routes.get_mut(id.slot()) {
            self.tree.remove(&route.pattern, route.place);
            self.tree.insert(&pattern, entry);
            *route = Route {
                place: route.place,
                methods,
                pattern,
            };
        }
        Ok(true)
    }

    /// Takes a route out. False when it is gone already.
    pub fn remove(&mut self, id: RouteId) -> bool {
        if self.route(id).is_none() {
            return false;
        }
        self.unseal();
        if let Some(route) = self.routes[id.slot()].take() {
            self.tree.remove(&route.pattern, route.place);
            self.free_slots.push(id.slot);
        }
        true
    }

    /// Looks up beforehand where the paths lead that patterns without parameters are written as, so that asking for one of
    /// them is one look at a table. Changes nothing else, and is undone by the next change.
    pub fn seal(&mut self) {
        let mut wholes = Wholes::default();
        let mut captures = Captures::new();
        for route in self.routes.iter().flatten() {
            let Some(path) = route.pattern.path() else {
                continue;
            };
            if wholes.entries(&path).is_empty() {
                let entries = self.first_entries(&path, &mut captures);
                if !entries.is_empty() {
                    wholes.insert(path, entries);
                }
            }
        }
        self.wholes = wholes;
    }

    /// The routes that take a path with any method, in order, up to the first that has parameters.
    fn first_entries(&self, path: &[u8], captures: &mut Captures) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        if captures.split.split(path).is_err() {
            return entries;
        }
        while entries.len() < Wholes::ENTRIES_MAX {
            let after = entries.last().map_or(0, |entry| entry.place);
            match self.tree.find(path, captures, after, Methods::ALL) {
                Ok(entry) if self.has_no_params(entry) => entries.push(entry),
                _ => break,
            }
        }
        entries
    }

    fn has_no_params(&self, entry: Entry) -> bool {
        let route = self.routes.get(entry.slot as usize);
        matches!(route, Some(Some(route)) if route.pattern.params.is_empty())
    }

    fn unseal(&mut self) {
        if !self.wholes.is_empty() {
            self.wholes = Wholes::default();
        }
    }

    /// Takes the next place for something that the caller keeps by itself, such as middleware. The last of 2^32 - 2
    /// places is given again and again.
    pub fn take_place(&mut self) -> Place {
        self.last_place = self.last_place.saturating_add(1).min(PLACE_MAX);
        Place(self.last_place)
    }

    /// The first route that takes a method and a raw, percent-encoded path. `path` begins with a slash; the empty path
    /// is `/`. The captures are those of the route that is found.
    #[inline]
    pub fn find(&self, method: Methods, path: &[u8], captures: &mut Captures) -> Found {
        self.find_after(Place::START, method, path, captures)
    }

    /// The first such route behind a place: where a handler passes a request on. The methods of
    /// [`Found::WrongMethod`] are those of routes behind the place.
    pub fn find_after(&self, after: Place, method: Methods, path: &[u8], captures: &mut Captures) -> Found {
        captures.values.clear();
        let takers = method.takers();
        let fits = |entry: &&Entry| entry.place > after.0 && entry.methods.intersects(takers);
        if let Some(entry) = self.wholes.entries(path).iter().find(fits) {
            return Found::Route(entry.route_id());
        }
        self.search(after, takers, path, captures)
    }

    /// The same through the tree.
    fn search(&self, after: Place, takers: Methods, path: &[u8], captures: &mut Captures) -> Found {
        match captures.split.split(path) {
            Ok(()) => {}
            Err(Unsplit::NoPath) => return Found::NotFound,
            Err(Unsplit::BadPercent) => return Found::BadPercent,
        }
        let entry = match self.tree.find(path, captures, after.0, takers) {
            Ok(entry) => entry,
            Err(methods) if methods.is_empty() => return Found::NotFound,
            Err(methods) => return Found::WrongMethod(methods),
        };
        if let Some(Some(route)) = self.routes.get(entry.slot as usize) {
            route.pattern.capture(path, captures);
        }
        Found::Route(entry.route_id())
    }

    /// The methods of all routes that take a path.
    pub fn allowed(&self, path: &[u8], captures: &mut Captures) -> Methods {
        captures.values.clear();
        match captures.split.split(path) {
            // No route takes the empty set, so that all of them are passed.
            Ok(()) => self
                .tree
                .find(path, captures, 0, Methods::NONE)
                .err()
                .unwrap_or_default(),
            Err(_) => Methods::NONE,
        }
    }

    /// Adds the value of `Allow` (RFC 9110 section 10.2.1) to `out`: `GET, HEAD, OPTIONS`. Where GET is, HEAD is, and
    /// OPTIONS is answered everywhere.
    pub fn write_allow(&self, methods: Methods, out: &mut Vec<u8>) {
        let mut methods = methods | Methods::OPTIONS;
        if methods.contains(Methods::GET) {
            methods = methods | Methods::HEAD;
        }
        let names = Methods::NAMES.into_iter().chain(self.learnt.iter().map(|name| &**name));
        let mut comma = "";
        for (index, name) in names.enumerate() {
            if methods.contains(Methods::of(index)) {
                out.extend_from_slice(comma.as_bytes());
                out.extend_from_slice(name.as_bytes());
                comma = ", ";
            }
        }
    }

    fn route(&self, id: RouteId) -> Option<&Route> {
        let route = self.routes.get(id.slot())?.as_ref()?;
        (route.place == id.place.0).then_some(route)
    }

    /// The parameters of a route, in the order of its captures; none when it is gone.
    pub fn params(&self, id: RouteId) -> &[Param] {
        self.route(id).map_or(&[], |route| &route.pattern.params)
    }

    /// The pattern of a route as it was written.
    pub fn pattern(&self, id: RouteId) -> Option<&str> {
        self.route(id).map(|route| &*route.pattern.source)
    }

    /// The methods of a route; none when it is gone.
    pub fn methods(&self, id: RouteId) -> Methods {
        self.route(id).map_or(Methods::NONE, |route| route.methods)
    }

    /// Which of the paths that a route takes lie under a prefix; never, when the route is gone.
    pub fn cover(&self, prefix: &Prefix, id: RouteId) -> Cover {
        self.route(id)
            .map_or(Cover::Never, |route| prefix.covers(&route.pattern))
    }

    /// All routes in the order of registration.
    pub fn routes(&self) -> Vec<RouteId> {
        let route_id = |(slot, route): (usize, &Option<Route>)| {
            route.as_ref().map(|route| RouteId {
                place: Place(route.place),
                slot: slot as u32,
            })
        };
        let mut ids: Vec<RouteId> = self.routes.iter().enumerate().filter_map(route_id).collect();
        ids.sort_unstable_by_key(|id| id.place);
        ids
    }
}
