//! The index: a tree of segments in which each node knows the first and the last route below it.
//!
//! A path walks down every branch that takes its segments: the literal one, found by hash, and those with parameters.
//! A branch whose first route comes behind the best one found so far is left alone, so registration order decides, as if
//! the routes were tried one after another, and a walk visits each node at most once: its cost is bounded by the routes
//! that share the path's beginning, never by what a peer puts into a path.

use super::captures::Captures;
use super::literals::{Literals, hash};
use super::method::Methods;
use super::path::SplitPath;
use super::pattern::Pattern;
use super::segment::{Segment, same};

const ROOT: u32 = 0;

/// A route at the node where its pattern ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// Its place in the order of registration, from 1.
    pub place: u32,
    /// Where the router keeps it.
    pub slot: u32,
    pub methods: Methods,
    /// Only a path that ends with a slash, or does not, is taken.
    trailing_slash: Option<bool>,
}

impl Entry {
    pub fn new(place: u32, slot: u32, methods: Methods, pattern: &Pattern) -> Entry {
        // A rest takes whatever stands behind the slash it begins with, and that slash must be there.
        let demanded = pattern.rest || pattern.trailing_slash;
        Entry {
            place,
            slot,
            methods,
            trailing_slash: pattern.options.strict.then_some(demanded),
        }
    }
}

/// What has been matched when a path reaches a node.
#[derive(Debug)]
struct Node {
    /// The literal that leads here; empty where a parameter does.
    text: Box<[u8]>,
    /// The case of `text` counts.
    exact: bool,
    /// Whether some literal child is compared with its case, and some without.
    exact_children: bool,
    folded_children: bool,
    /// The places of the first and the last route from here on; `first > last` when there is none.
    first: u32,
    last: u32,
    /// Routes that end here, and those that go on with a rest; in the order of their places.
    ends: Vec<Entry>,
    rests: Vec<Entry>,
    dynamics: Vec<(Segment, u32)>,
    literals: Vec<u32>,
}

impl Node {
    fn new(text: Box<[u8]>, exact: bool) -> Node {
        Node {
            text,
            exact,
            exact_children: false,
            folded_children: false,
            first: u32::MAX,
            last: 0,
            ends: Vec::new(),
            rests: Vec::new(),
            dynamics: Vec::new(),
            literals: Vec::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.ends.is_empty() && self.rests.is_empty() && self.dynamics.is_empty() && self.literals.is_empty()
    }

    fn entries(&mut self, rest: bool) -> &mut Vec<Entry> {
        if rest { &mut self.rests } else { &mut self.ends }
    }
}

/// The tree of all routes of a router. An empty one has no memory of its own.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// The root is the first; made with the first route.
    nodes: Vec<Node>,
    free: Vec<u32>,
    literals: Literals,
}

impl Tree {
    /// Adds a route.
    pub fn insert(&mut self, pattern: &Pattern, entry: Entry) {
        if self.nodes.is_empty() {
            self.nodes.push(Node::new(Box::default(), false));
        }
        let mut at = ROOT;
        self.widen(at, entry.place);
        for segment in &pattern.segments {
            at = match self.child(at, segment) {
                Some(child) => child,
                None => self.add_child(at, segment),
            };
            self.widen(at, entry.place);
        }
        let entries = self.nodes[at as usize].entries(pattern.rest);
        let position = entries.partition_point(|other| other.place < entry.place);
        entries.insert(position, entry);
    }

    fn widen(&mut self, at: u32, place: u32) {
        let node = &mut self.nodes[at as usize];
        node.first = node.first.min(place);
        node.last = node.last.max(place);
    }

    /// The child of a node for a segment of a pattern.
    fn child(&self, at: u32, segment: &Segment) -> Option<u32> {
        match segment {
            Segment::Literal { text, exact } => self.literal_child(at, hash(at, text), text, *exact),
            other => self.nodes[at as usize]
                .dynamics
                .iter()
                .find(|(segment, _)| segment == other)
                .map(|&(_, child)| child),
        }
    }

    #[inline]
    fn literal_child(&self, at: u32, hash: u32, text: &[u8], exact: bool) -> Option<u32> {
        self.literals.find(at, hash, |child| {
            let node = &self.nodes[child as usize];
            node.exact == exact && same(&node.text, text, exact)
        })
    }

    fn add_child(&mut self, at: u32, segment: &Segment) -> u32 {
        let &Segment::Literal { ref text, exact } = segment else {
            let child = self.add_node(Node::new(Box::default(), false));
            self.nodes[at as usize].dynamics.push((segment.clone(), child));
            return child;
        };
        let child = self.add_node(Node::new(text.clone(), exact));
        self.literals.insert(at, hash(at, text), child);
        let node = &mut self.nodes[at as usize];
        node.literals.push(child);
        node.exact_children |= exact;
        node.folded_children |= !exact;
        child
    }

    fn add_node(&mut self, node: Node) -> u32 {
        match self.free.pop() {
            Some(at) => {
                self.nodes[at as usize] = node;
                at
            }
            None => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
        }
    }

    /// Takes a route out, and the nodes that only it used.
    pub fn remove(&mut self, pattern: &Pattern, place: u32) {
        if self.nodes.is_empty() {
            return;
        }
        let mut way = vec![ROOT];
        for segment in &pattern.segments {
            let Some(child) = self.child(way[way.len() - 1], segment) else {
                return;
            };
            way.push(child);
        }
        self.nodes[way[way.len() - 1] as usize]
            .entries(pattern.rest)
            .retain(|entry| entry.place != place);
        for depth in (0..way.len()).rev() {
            let at = way[depth];
            if depth > 0 && self.nodes[at as usize].is_empty() {
                self.unlink(way[depth - 1], at);
            } else {
                self.narrow(at);
            }
        }
    }

    /// Takes an empty node from its parent.
    fn unlink(&mut self, parent: u32, at: u32) {
        let node = &mut self.nodes[parent as usize];
        node.dynamics.retain(|&(_, child)| child != at);
        if node.literals.contains(&at) {
            node.literals.retain(|&child| child != at);
            self.literals.remove(at);
        }
        self.nodes[at as usize] = Node::new(Box::default(), false);
        self.free.push(at);
    }

    /// Works out anew what lies from a node on.
    fn narrow(&mut self, at: u32) {
        let node = &self.nodes[at as usize];
        let children = node.literals.iter().chain(node.dynamics.iter().map(|(_, child)| child));
        let below = children.map(|&child| (self.nodes[child as usize].first, self.nodes[child as usize].last));
        let here = node
            .ends
            .iter()
            .chain(&node.rests)
            .map(|entry| (entry.place, entry.place));
        let (first, last) = below.chain(here).fold((u32::MAX, 0), |(first, last), (from, to)| {
            (first.min(from), last.max(to))
        });
        let kinds = |exact| {
            node.literals
                .iter()
                .any(|&child| self.nodes[child as usize].exact == exact)
        };
        let (exact_children, folded_children) = (kinds(true), kinds(false));
        let node = &mut self.nodes[at as usize];
        (node.first, node.last) = (first, last);
        (node.exact_children, node.folded_children) = (exact_children, folded_children);
    }

    /// The first route behind place `after` that takes one of `methods` and the path, which `captures` has cut; else the
    /// methods of all routes behind that place that take the path.
    pub fn find(&self, path: &[u8], captures: &mut Captures, after: u32, methods: Methods) -> Result<Entry, Methods> {
        if self.nodes.is_empty() {
            return Err(Methods::NONE);
        }
        let Captures { split, rows, .. } = captures;
        let (best, before, seen) = (None, u32::MAX, Methods::NONE);
        let mut search = Search {
            tree: self,
            path,
            split,
            rows,
            after,
            methods,
            best,
            before,
            seen,
        };
        search.visit(ROOT, 0);
        search.best.ok_or(search.seen)
    }
}

/// One walk through the tree.
struct Search<'s> {
    tree: &'s Tree,
    path: &'s [u8],
    split: &'s SplitPath,
    rows: &'s mut Vec<u64>,
    after: u32,
    methods: Methods,
    best: Option<Entry>,
    /// The place of the best route; behind all while there is none.
    before: u32,
    /// The methods of those routes met that take the path with other methods: all of them while there is no best one.
    seen: Methods,
}

impl Search<'_> {
    /// Whether a better route may lie from a node on.
    #[inline]
    fn is_worth(&self, at: u32) -> bool {
        let node = &self.tree.nodes[at as usize];
        node.first < self.before && node.last > self.after
    }

    /// Goes on from a node that the first `depth` segments lead to. As deep as a pattern is long.
    fn visit(&mut self, at: u32, depth: usize) {
        let tree = self.tree;
        let node = &tree.nodes[at as usize];
        let split = self.split;
        if !node.rests.is_empty() {
            let slash_before_rest = depth == 0 || split.segments.len() > depth || split.trailing_slash;
            self.consider(&node.rests, slash_before_rest);
        }
        let Some(&segment) = split.segments.get(depth) else {
            if !split.overlong {
                self.consider(&node.ends, split.trailing_slash);
            }
            return;
        };
        let text = split.text(self.path, segment);
        if node.exact_children || node.folded_children {
            let hash = hash(at, text);
            for (present, exact) in [(node.folded_children, false), (node.exact_children, true)] {
                if present
                    && let Some(child) = tree.literal_child(at, hash, text, exact)
                    && self.is_worth(child)
                {
                    self.visit(child, depth + 1);
                }
            }
        }
        for (segment, child) in &node.dynamics {
            if self.is_worth(*child) && segment.takes(text, self.rows) {
                self.visit(*child, depth + 1);
            }
        }
    }

    /// Takes the first of the routes at a node that fits, if it comes before the best so far.
    #[inline]
    fn consider(&mut self, entries: &[Entry], trailing_slash: bool) {
        for entry in entries {
            if entry.place >= self.before {
                return;
            }
            if entry.place <= self.after || entry.trailing_slash.is_some_and(|demanded| demanded != trailing_slash) {
                continue;
            }
            if entry.methods.intersects(self.methods) {
                self.best = Some(*entry);
                self.before = entry.place;
                return;
            }
            self.seen = self.seen | entry.methods;
        }
    }
}
