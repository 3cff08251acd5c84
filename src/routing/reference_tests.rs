//! The naive way: every route tried one after another, every way to part a segment tried out. The index must agree.

use proptest::prelude::*;

use super::*;

/// A part of a segment, as a test writes it.
#[derive(Debug, Clone)]
enum Piece {
    Text(&'static str),
    /// A parameter with what stands behind its name.
    Param(&'static str),
}

const CONSTRAINTS: &[&str] = &[
    "", "(%d+)", "(%a*)", "([ab]+)", "(a?b*)", "(.-)", "<int>", "<uint>", "<hex>", "<alpha>", "<number>",
];

#[derive(Debug, Clone)]
struct Plan {
    segments: Vec<Vec<Piece>>,
    rest: bool,
    trailing_slash: bool,
    options: Options,
    methods: Methods,
}

impl Plan {
    /// The pattern; parameters are named in their order.
    fn pattern(&self) -> String {
        let mut count = 0;
        let mut text = String::new();
        for segment in &self.segments {
            text.push('/');
            for piece in segment {
                match piece {
                    // Behind a name a letter would belong to it.
                    Piece::Text(literal) => text.extend(literal.bytes().map(|byte| format!("%{byte:02X}"))),
                    Piece::Param(constraint) => {
                        count += 1;
                        text.push_str(&format!(":p{count}{constraint}"));
                    }
                }
            }
        }
        match (self.rest, self.trailing_slash || self.segments.is_empty()) {
            (true, _) => text + "/*rest",
            (false, true) => text + "/",
            (false, false) => text,
        }
    }

    /// The path that the pattern is written as, if it has no parameters.
    fn path(&self) -> Option<String> {
        let pieces = self.segments.iter().map(|pieces| {
            let text = pieces.iter().map(|piece| match piece {
                Piece::Text(text) => Some(*text),
                Piece::Param(_) => None,
            });
            text.collect::<Option<String>>().map(|text| format!("/{text}"))
        });
        let path: String = pieces.collect::<Option<String>>()?;
        let slash = self.trailing_slash || path.is_empty();
        (!self.rest).then(|| path + if slash { "/" } else { "" })
    }

    /// The decoded values of the parameters, if the path is taken.
    fn take(&self, path: &str) -> Option<Vec<String>> {
        let body = path.strip_prefix('/').unwrap_or(path);
        let trailing_slash = path.len() > 1 && path.ends_with('/');
        let inner = if trailing_slash { &body[..body.len() - 1] } else { body };
        let parts: Vec<&str> = if body.is_empty() {
            Vec::new()
        } else {
            inner.split('/').collect()
        };
        let count = self.segments.len();
        if parts.len() < count || (!self.rest && parts.len() > count) {
            return None;
        }
        if self.options.strict {
            let slash = if self.rest {
                count == 0 || parts.len() > count || trailing_slash
            } else {
                trailing_slash
            };
            if slash != (self.rest || (self.trailing_slash && count > 0)) {
                return None;
            }
        }
        let mut values = Vec::new();
        for (pieces, part) in self.segments.iter().zip(&parts) {
            let text = String::from_utf8(decode(part.as_bytes()).into_owned()).expect("ASCII");
            values.extend(self.take_segment(pieces, &text)?);
        }
        if self.rest {
            let used: usize = parts[..count].iter().map(|part| part.len() + 1).sum();
            let rest = body.get(used..).unwrap_or("");
            values.push(String::from_utf8(decode(rest.as_bytes()).into_owned()).expect("ASCII"));
        }
        Some(values)
    }

    /// The first way to part the text that fits, in the order of preference; typed values are checked at the end.
    fn take_segment(&self, pieces: &[Piece], text: &str) -> Option<Vec<String>> {
        let values = self.part(pieces, text)?;
        let constraints = pieces.iter().filter_map(|piece| match piece {
            Piece::Param(constraint) => Some(*constraint),
            Piece::Text(_) => None,
        });
        values
            .iter()
            .zip(constraints)
            .all(|(value, constraint)| fits(constraint, value))
            .then_some(values)
    }

    fn part(&self, pieces: &[Piece], text: &str) -> Option<Vec<String>> {
        let Some((piece, others)) = pieces.split_first() else {
            return text.is_empty().then(Vec::new);
        };
        match piece {
            Piece::Text(literal) => {
                let head = text.get(..literal.len())?;
                let same = if self.options.case_sensitive {
                    head == *literal
                } else {
                    head.eq_ignore_ascii_case(literal)
                };
                same.then(|| self.part(others, &text[literal.len()..])).flatten()
            }
            Piece::Param(constraint) => {
                let few = matches!(*constraint, "" | "(.-)");
                let mut lengths: Vec<usize> = (0..=text.len())
                    .filter(|&length| looks(constraint, &text[..length]))
                    .collect();
                if !few {
                    lengths.reverse();
                }
                lengths.into_iter().find_map(|length| {
                    let mut values = vec![text[..length].to_owned()];
                    values.extend(self.part(others, &text[length..])?);
                    Some(values)
                })
            }
        }
    }
}

/// Whether a value has the characters that a parameter takes.
fn looks(constraint: &str, value: &str) -> bool {
    let all = |test: fn(char) -> bool| value.chars().all(test);
    let some = !value.is_empty();
    let unsigned = value.strip_prefix('-').unwrap_or(value);
    match constraint {
        "" => some,
        "(%d+)" | "<uint>" => some && all(|c| c.is_ascii_digit()),
        "(%a*)" => all(|c| c.is_ascii_alphabetic()),
        "([ab]+)" => some && all(|c| matches!(c, 'a' | 'b')),
        "(a?b*)" => value.strip_prefix('a').unwrap_or(value).chars().all(|c| c == 'b'),
        "(.-)" => true,
        "<int>" => !unsigned.is_empty() && unsigned.chars().all(|c| c.is_ascii_digit()),
        "<hex>" => some && all(|c| c.is_ascii_hexdigit()),
        "<alpha>" => some && all(|c| c.is_ascii_alphabetic()),
        "<number>" => {
            let (whole, part) = unsigned.split_once('.').unwrap_or((unsigned, ""));
            !whole.is_empty() && whole.chars().chain(part.chars()).all(|c| c.is_ascii_digit())
        }
        other => panic!("{other}"),
    }
}

/// Whether a whole value is of its type, beyond its characters.
fn fits(constraint: &str, value: &str) -> bool {
    match constraint {
        "<int>" | "<uint>" => {
            value.trim_start_matches('-').len() <= 16
                && value.parse::<i64>().is_ok_and(|number| number.abs() <= 1 << 53)
        }
        "<number>" => !value.ends_with('.'),
        _ => true,
    }
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let text = proptest::sample::select(&["a", "b", "A", "ab", "1", "-", ".", "a-b"][..]);
    let param = proptest::sample::select(CONSTRAINTS);
    // A text between two parameters, so that no pattern is refused.
    let pair = (param.clone(), text.clone(), param.clone());
    prop_oneof![
        4 => text.clone().prop_map(|text| vec![Piece::Text(text)]),
        3 => Just(vec![Piece::Param("")]),
        2 => param.clone().prop_map(|param| vec![Piece::Param(param)]),
        1 => (text.clone(), param.clone()).prop_map(|(text, param)| vec![Piece::Text(text), Piece::Param(param)]),
        1 => (param, text).prop_map(|(param, text)| vec![Piece::Param(param), Piece::Text(text)]),
        1 => pair.prop_map(|(one, text, two)| vec![Piece::Param(one), Piece::Text(text), Piece::Param(two)]),
    ]
}

fn plan() -> impl Strategy<Value = Plan> {
    let methods = proptest::sample::select(&[Methods::GET, Methods::POST, Methods::HEAD, Methods::ALL][..]);
    let segments = proptest::collection::vec(pieces(), 0..4);
    let options = (prop::bool::weighted(0.3), prop::bool::weighted(0.3));
    (segments, prop::bool::weighted(0.2), any::<bool>(), options, methods).prop_map(
        |(segments, rest, trailing_slash, (case_sensitive, strict), methods)| {
            let trailing_slash = trailing_slash && !rest;
            Plan {
                segments,
                rest,
                trailing_slash,
                options: Options { case_sensitive, strict },
                methods,
            }
        },
    )
}

/// A path made of what patterns are made of, some of it encoded.
fn path() -> impl Strategy<Value = String> {
    let pieces = [
        "/", "/", "/", "a", "b", "A", "1", "-", ".", "%61", "%2F", "%2d", "ab", "12",
    ];
    let piece = proptest::sample::select(pieces.to_vec());
    proptest::collection::vec(piece, 0..9).prop_map(|pieces| format!("/{}", pieces.concat()))
}

/// What trying one route after another gives: all that take the method, and the methods of the others.
fn walk(plans: &[(RouteId, Plan)], method: Methods, path: &str) -> (Vec<(RouteId, Vec<String>)>, Methods) {
    let mut found = Vec::new();
    let mut others = Methods::NONE;
    for (id, plan) in plans {
        let Some(values) = plan.take(path) else {
            continue;
        };
        let head_by_get = method == Methods::HEAD && plan.methods.contains(Methods::GET);
        if plan.methods.contains(method) || head_by_get {
            found.push((*id, values));
        } else {
            others = others | plan.methods;
        }
    }
    (found, others)
}

fn compare(
    router: &Router,
    plans: &[(RouteId, Plan)],
    path: &str,
    captures: &mut Captures,
) -> Result<(), TestCaseError> {
    for method in [Methods::GET, Methods::POST, Methods::HEAD, Methods::DELETE] {
        let (expected, others) = walk(plans, method, path);
        let mut after = Place::START;
        for (id, values) in &expected {
            let found = router.find_after(after, method, path.as_bytes(), captures);
            prop_assert_eq!(found, Found::Route(*id), "{:?} {}", method, path);
            let value = |index| captures.value(path.as_bytes(), index).expect("captured").into_owned();
            let captured: Vec<Vec<u8>> = (0..captures.values().len()).map(value).collect();
            let values: Vec<Vec<u8>> = values.iter().map(|value| value.clone().into_bytes()).collect();
            prop_assert_eq!(captured, values, "{} {}", router.pattern(*id).unwrap_or(""), path);
            after = id.place();
        }
        if expected.is_empty() {
            let nothing = if others.is_empty() {
                Found::NotFound
            } else {
                Found::WrongMethod(others)
            };
            prop_assert_eq!(router.find(method, path.as_bytes(), captures), nothing);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_index_agrees_with_a_walk_over_all_routes(
        plans in proptest::collection::vec(plan(), 1..20),
        paths in proptest::collection::vec(path(), 1..20),
        removed in proptest::collection::vec(any::<prop::sample::Index>(), 0..8),
        replaced in proptest::collection::vec((any::<prop::sample::Index>(), plan()), 0..4),
    ) {
        let mut router = Router::new();
        let mut captures = Captures::new();
        let written = plans.iter().chain(replaced.iter().map(|(_, plan)| plan)).filter_map(Plan::path);
        let paths: Vec<String> = paths.into_iter().chain(written).collect();
        let mut plans: Vec<(RouteId, Plan)> = plans
            .into_iter()
            .map(|plan| {
                let inserted = router.insert(plan.methods, &plan.pattern(), &plan.options);
                (inserted.unwrap_or_else(|error| panic!("{error}")), plan)
            })
            .collect();
        for path in &paths {
            compare(&router, &plans, path, &mut captures)?;
        }
        router.seal();
        for path in &paths {
            compare(&router, &plans, path, &mut captures)?;
        }
        for (index, plan) in replaced {
            let at = index.index(plans.len());
            prop_assert!(router.replace(plans[at].0, plan.methods, &plan.pattern(), &plan.options).expect("a good pattern"));
            plans[at].1 = plan;
        }
        for index in removed {
            if !plans.is_empty() {
                let (id, _) = plans.remove(index.index(plans.len()));
                prop_assert!(router.remove(id));
            }
        }
        for path in &paths {
            compare(&router, &plans, path, &mut captures)?;
        }
        router.seal();
        for path in &paths {
            compare(&router, &plans, path, &mut captures)?;
        }
    }

    #[test]
    fn no_pattern_and_no_path_panics(pattern in "[/:*a-c()<>%\\[\\]^+?.\\-d]{0,24}", path in proptest::collection::vec(any::<u8>(), 0..40)) {
        let mut captures = Captures::new();
        let mut router = Router::new();
        let options = Options::default();
        for pattern in [pattern.clone(), format!("/:x({pattern})"), format!("/:x({pattern})-:y")] {
            if let Ok(prefix) = Prefix::compile(&pattern, &options) {
                let rest = prefix.matches(&path, &mut captures);
                prop_assert!(rest.is_none_or(|rest| rest == 0 || rest == path.len() || path[rest] == b'/'));
            }
            let _ = router.insert(Methods::GET, &pattern, &options);
        }
        let mut path = path;
        for _ in 0..2 {
            let _ = router.find(Methods::GET, &path, &mut captures);
            for capture in captures.values() {
                prop_assert!(capture.start <= capture.end && capture.end as usize <= path.len());
            }
            path.insert(0, b'/');
        }
    }

    #[test]
    fn covers_agree_with_matches(
        prefix in plan(),
        plans in proptest::collection::vec(plan(), 1..12),
        paths in proptest::collection::vec(path(), 1..30),
    ) {
        let mut captures = Captures::new();
        let Ok(prefix) = Prefix::compile(&prefix.pattern(), &prefix.options) else {
            return Ok(());
        };
        for plan in &plans {
            let mut router = Router::new();
            let Ok(id) = router.insert(Methods::GET, &plan.pattern(), &plan.options) else {
                continue;
            };
            let cover = router.cover(&prefix, id);
            for path in &paths {
                if router.find(Methods::GET, path.as_bytes(), &mut captures) != Found::Route(id) {
                    continue;
                }
                let under = prefix.matches(path.as_bytes(), &mut captures).is_some();
                match cover {
                    Cover::Always => prop_assert!(under, "{} {}", plan.pattern(), path),
                    Cover::Never => prop_assert!(!under, "{} {}", plan.pattern(), path),
                    Cover::Sometimes => {}
                }
            }
        }
    }
}
