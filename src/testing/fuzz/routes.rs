//! Routes registered, replaced, removed and sealed in any order: the index finds what trying one route after another finds.

use super::Input;
use crate::routing::{Captures, Cover, Found, Methods, Options, Place, Prefix, RouteId, Router};
use crate::testing::routes::{Plan, escapes_are_whole, read_path, walk};

/// Operations of one input: the naive walk is slow.
const OPERATIONS_MAX: usize = 40;
/// Methods asked for; nobody registers the last.
const METHODS: [&str; 5] = ["GET", "POST", "HEAD", "BREW", "STIR"];

/// Bytes as operations on one router, with paths between them; every path is tried again at the end.
pub fn routes(data: &[u8]) {
    let mut input = Input::new(data);
    let mut table = Table::default();
    table.router.learn_method("BREW").expect("a token");
    let mut paths = Vec::new();
    for _ in 0..OPERATIONS_MAX {
        if input.is_empty() {
            break;
        }
        let at = |input: &mut Input<'_>, len: usize| input.below(len.min(256));
        match input.below(8) {
            0..3 => table.insert(Plan::read(&mut input)),
            6 if !table.routes.is_empty() => {
                let at = at(&mut input, table.routes.len());
                table.replace(at, Plan::read(&mut input));
            }
            7 if !table.routes.is_empty() => {
                let at = at(&mut input, table.routes.len());
                table.remove(at);
            }
            // Takes effect until the next change.
            5 => table.router.seal(),
            _ => {
                let plans: Vec<&Plan> = table.routes.iter().map(|(_, plan)| plan).collect();
                let path = read_path(&mut input, &plans);
                table.compare(&path);
                paths.push(path);
            }
        }
    }
    for path in &paths {
        table.compare(path);
    }
    table.prefixes(&paths);
    table.router.seal();
    for path in &paths {
        table.compare(path);
    }
    for at in (0..table.routes.len()).rev() {
        table.remove(at);
    }
    for path in &paths {
        table.compare(path);
    }
}

/// A router, and the plans of its routes in their order.
#[derive(Default)]
struct Table {
    router: Router,
    routes: Vec<(RouteId, Plan)>,
    captures: Captures,
}

fn options(plan: &Plan) -> Options {
    Options {
        case_sensitive: plan.case_sensitive,
        strict: plan.strict,
    }
}

impl Table {
    fn methods(&self, plan: &Plan) -> Methods {
        let named = |name: &&str| self.router.method(name.as_bytes());
        let named = plan.methods.iter().map(named).reduce(|one, two| one | two);
        named.unwrap_or(Methods::ALL)
    }

    fn insert(&mut self, plan: Plan) {
        let inserted = self
            .router
            .insert(self.methods(&plan), &plan.pattern(), &options(&plan));
        let id = inserted.expect("a good pattern");
        assert!(self.routes.last().is_none_or(|(last, _)| last.place() < id.place()));
        assert_eq!(self.router.pattern(id), Some(&*plan.pattern()));
        self.routes.push((id, plan));
    }

    fn replace(&mut self, at: usize, plan: Plan) {
        let (id, methods) = (self.routes[at].0, self.methods(&plan));
        assert!(self.router.replace(id, methods, "no slash", &options(&plan)).is_err());
        let replaced = self.router.replace(id, methods, &plan.pattern(), &options(&plan));
        assert_eq!(replaced, Ok(true));
        self.routes[at].1 = plan;
    }

    fn remove(&mut self, at: usize) {
        let (id, plan) = self.routes.remove(at);
        assert!(self.router.remove(id));
        assert!(!self.router.remove(id), "what is gone stays gone");
        assert_eq!(
            self.router.replace(id, Methods::ALL, &plan.pattern(), &options(&plan)),
            Ok(false)
        );
        assert_eq!(self.router.pattern(id), None);
    }

    fn compare(&mut self, path: &[u8]) {
        let ids: Vec<RouteId> = self.routes.iter().map(|(id, _)| *id).collect();
        assert_eq!(self.router.routes(), ids);
        let a_path = path.is_empty() || path.starts_with(b"/");
        if a_path && !escapes_are_whole(path) {
            let found = self.router.find(Methods::GET, path, &mut self.captures);
            return assert_eq!(found, Found::BadPercent);
        }
        let walked = walk(self.routes.iter().map(|(_, plan)| plan), path);
        for method in METHODS {
            self.compare_method(method, path, &walked);
        }
        let all = walked.iter().map(|(index, _)| self.methods(&self.routes[*index].1));
        let all = all.reduce(|one, two| one | two).unwrap_or_default();
        assert_eq!(self.router.allowed(path, &mut self.captures), all);
    }

    /// `walked`: the routes that take the path.
    fn compare_method(&mut self, method: &str, path: &[u8], walked: &[(usize, Vec<Vec<u8>>)]) {
        let methods = self.router.method(method.as_bytes());
        let mut after = Place::START;
        for (index, values) in walked {
            let (id, plan) = &self.routes[*index];
            if !plan.serves(method) {
                continue;
            }
            let found = self.router.find_after(after, methods, path, &mut self.captures);
            assert_eq!(
                found,
                Found::Route(*id),
                "{method} {} {}",
                path.escape_ascii(),
                plan.pattern()
            );
            let count = self.captures.values().len();
            let captured = (0..count).map(|at| self.captures.value(path, at).expect("a capture").into_owned());
            let captured: Vec<Vec<u8>> = captured.collect();
            assert_eq!(&captured, values, "{} {}", path.escape_ascii(), plan.pattern());
            assert_eq!(self.router.params(*id).len(), count);
            after = id.place();
        }
        // Behind the last that takes the request, those that take the path with other methods.
        let behind = walked
            .iter()
            .map(|(index, _)| &self.routes[*index])
            .filter(|(id, _)| id.place() > after);
        let others = behind.map(|(_, plan)| self.methods(plan)).reduce(|one, two| one | two);
        let nothing = others.map_or(Found::NotFound, Found::WrongMethod);
        let found = self.router.find_after(after, methods, path, &mut self.captures);
        assert_eq!(found, nothing, "{method} {}", path.escape_ascii());
    }

    /// Each plan as a prefix, and its first segments with the other rule of case: it takes what the naive one takes, and covers the routes it says it covers.
    fn prefixes(&mut self, paths: &[Vec<u8>]) {
        let paths = paths.iter().filter(|path| escapes_are_whole(path));
        let takers = |path: &Vec<u8>| {
            self.routes
                .iter()
                .map(|(_, route)| route.take(path).is_some())
                .collect()
        };
        let paths: Vec<(&Vec<u8>, Vec<bool>)> = paths.map(|path| (path, takers(path))).collect();
        let plans = self.routes.iter().map(|(_, plan)| plan);
        let prefixes = plans.enumerate().flat_map(|(index, plan)| {
            let mut own = plan.clone();
            let mut other = plan.clone();
            own.rest = false;
            other.rest = false;
            other.case_sensitive = !plan.case_sensitive;
            other.segments.truncate(1 + index % 3);
            [own, other]
        });
        for plan in &prefixes.collect::<Vec<Plan>>() {
            let prefix = Prefix::compile(&plan.pattern(), &options(plan)).expect("a good pattern");
            let cover = |(id, _): &(RouteId, Plan)| self.router.cover(&prefix, *id);
            let covers: Vec<Cover> = self.routes.iter().map(cover).collect();
            for (path, taken) in &paths {
                let rest = prefix.matches(path, &mut self.captures);
                let count = self.captures.values().len();
                let captured = (0..count).map(|at| self.captures.value(path, at).expect("a capture").into_owned());
                let found = rest.map(|rest| (rest, captured.collect()));
                assert_eq!(
                    found,
                    plan.take_prefix(path),
                    "{} {}",
                    plan.pattern(),
                    path.escape_ascii()
                );
                let excluded = if found.is_some() { Cover::Never } else { Cover::Always };
                let wrong = (0..covers.len()).find(|&at| taken[at] && covers[at] == excluded);
                assert_eq!(
                    wrong,
                    None,
                    "{excluded:?} under {}: {}",
                    plan.pattern(),
                    path.escape_ascii()
                );
            }
        }
    }
}
