//! What a router and a prefix do: order, methods, replacing and removing, hostile paths, whole segments.

use super::*;

#[test]
fn registration_order_decides_and_next_goes_on() {
    let mut router = Router::new();
    let mut captures = Captures::new();
    let mut insert = |methods, pattern| router.insert(methods, pattern, &Options::default()).expect(pattern);
    let all = insert(Methods::ALL, "/*all");
    let param = insert(Methods::GET, "/units/:id");
    let literal = insert(Methods::GET, "/units/best");
    let post = insert(Methods::POST, "/units/:name");
    let middle = router.take_place();
    let late = router
        .insert(Methods::GET, "/units/:x<int>", &Options::default())
        .expect("late");
    assert!(post.place() < middle && middle < late.place());
    let mut chain = |method, path: &str| {
        let mut after = Place::START;
        let mut found = Vec::new();
        loop {
            match router.find_after(after, method, path.as_bytes(), &mut captures) {
                Found::Route(id) => {
                    found.push(id);
                    after = id.place();
                }
                end => return (found, end),
            }
        }
    };
    assert_eq!(
        chain(Methods::GET, "/units/best"),
        (vec![all, param, literal], Found::WrongMethod(Methods::POST))
    );
    assert_eq!(
        chain(Methods::GET, "/units/7"),
        (vec![all, param, late], Found::NotFound)
    );
    assert_eq!(
        chain(Methods::HEAD, "/units/7"),
        (vec![all, param, late], Found::NotFound)
    );
    assert_eq!(
        chain(Methods::POST, "/units/7"),
        (vec![all, post], Found::WrongMethod(Methods::GET))
    );
    assert_eq!(chain(Methods::PUT, "/x"), (vec![all], Found::NotFound));
}

#[test]
fn methods_known_learnt_and_unknown() {
    let mut router = Router::new();
    let mut captures = Captures::new();
    let brew = router.learn_method("BREW").expect("a token");
    assert_eq!(router.learn_method("BREW"), Ok(brew));
    assert_eq!(router.learn_method("GET"), Ok(Methods::GET));
    let tea = router
        .insert(brew | Methods::GET, "/tea", &Options::default())
        .expect("tea");
    let all = router.insert(Methods::ALL, "/all", &Options::default()).expect("all");
    router.insert(Methods::POST, "/tea", &Options::default()).expect("post");
    let mut find =
        |router: &Router, method: &[u8], path: &[u8]| router.find(router.method(method), path, &mut captures);
    let allowed = Found::WrongMethod(brew | Methods::GET | Methods::POST);
    assert_eq!(find(&router, b"BREW", b"/tea"), Found::Route(tea));
    assert_eq!(find(&router, b"HEAD", b"/tea"), Found::Route(tea));
    assert_eq!(find(&router, b"STIR", b"/tea"), allowed);
    assert_eq!(find(&router, b"get", b"/tea"), allowed);
    assert_eq!(find(&router, b"OPTIONS", b"/tea"), allowed);
    assert_eq!(find(&router, b"STIR", b"/all"), Found::Route(all));
    let allow = |methods| {
        let mut out = Vec::new();
        router.write_allow(methods, &mut out);
        String::from_utf8(out).expect("ASCII")
    };
    assert_eq!(
        allow(router.allowed(b"/tea", &mut Captures::new())),
        "GET, HEAD, POST, OPTIONS, BREW"
    );
    assert_eq!(allow(Methods::DELETE), "DELETE, OPTIONS");
    assert_eq!(
        allow(Methods::ALL),
        "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, BREW"
    );
    assert_eq!(router.allowed(b"/nowhere", &mut Captures::new()), Methods::NONE);
    let refused = |router: &mut Router, name: &str| router.learn_method(name).map_err(|error| error.to_string());
    assert_eq!(
        refused(&mut router, "get"),
        Err("method \"get\": methods are written in upper case".into())
    );
    assert_eq!(
        refused(&mut router, "A B"),
        Err("method \"A B\": it is no token".into())
    );
    assert_eq!(refused(&mut router, ""), Err("method \"\": it is no token".into()));
    let mut sets = vec![brew];
    sets.extend((1..24).map(|index| router.learn_method(&format!("M{index}")).expect("room")));
    assert!(
        sets.iter()
            .enumerate()
            .all(|(index, set)| sets[..index].iter().all(|other| !other.intersects(*set)))
    );
    assert!(!sets.contains(&router.method(b"STIR")) && Methods::ALL.contains(router.method(b"STIR")));
    assert_eq!(
        refused(&mut router, "M24"),
        Err("method \"M24\": there are too many methods".into())
    );
}

#[test]
fn routes_are_replaced_and_removed_while_serving() {
    let mut router = Router::new();
    let mut captures = Captures::new();
    let options = Options::default();
    let first = router.insert(Methods::GET, "/a/:x", &options).expect("first");
    let second = router.insert(Methods::GET, "/:y/b", &options).expect("second");
    assert_eq!(router.find(Methods::GET, b"/a/b", &mut captures), Found::Route(first));
    assert!(
        router
            .replace(first, Methods::GET, "/a/b/:z", &options)
            .expect("a good pattern")
    );
    assert_eq!(router.find(Methods::GET, b"/a/b", &mut captures), Found::Route(second));
    assert_eq!(router.find(Methods::GET, b"/a/b/c", &mut captures), Found::Route(first));
    assert_eq!(
        (router.pattern(first), &*router.params(first)[0].name),
        (Some("/a/b/:z"), "z")
    );
    assert!(router.replace(first, Methods::GET, "bad", &options).is_err());
    assert!(
        router
            .replace(first, Methods::POST, "/:any/:thing", &options)
            .expect("a good pattern")
    );
    assert_eq!(router.find(Methods::POST, b"/a/b", &mut captures), Found::Route(first));
    assert_eq!(router.routes(), [first, second]);
    assert!(router.remove(first) && !router.remove(first));
    assert_eq!(router.replace(first, Methods::GET, "/", &options), Ok(false));
    assert_eq!(
        (router.pattern(first), router.methods(first), router.params(first).len()),
        (None, Methods::NONE, 0)
    );
    assert_eq!(
        router.find(Methods::POST, b"/a/b", &mut captures),
        Found::WrongMethod(Methods::GET)
    );
    let third = router.insert(Methods::GET, "/c", &options).expect("third");
    assert_eq!(third.slot(), first.slot());
    assert!(router.pattern(first).is_none() && second.place() < third.place());
    assert_eq!(router.routes(), [second, third]);
}

#[test]
fn a_hostile_path_is_found_or_not_in_bounded_time() {
    let mut router = Router::new();
    let mut captures = Captures::new();
    let options = Options::default();
    // Every node has a literal and a parameter that both take the path, and no route is ever complete.
    for bits in 0..1u32 << 8 {
        let segment = |index: u32| {
            if bits >> index & 1 == 1 {
                format!("/:p{index}")
            } else {
                "/a".to_owned()
            }
        };
        let pattern = (0..8).map(segment).collect::<String>() + "/end";
        router.insert(Methods::GET, &pattern, &options).expect("a good pattern");
    }
    router
        .insert(Methods::GET, "/:a(.-.-.-.-.-.-.-.-.-.-x):b(.*.*.*.*.*y)", &options)
        .expect("a good pattern");
    let rest = router
        .insert(Methods::GET, "/deep/*rest", &options)
        .expect("a good pattern");
    for path in [
        "/a".repeat(4096),
        "/".repeat(8192),
        "/%61".repeat(2048),
        format!("/{}", "a".repeat(8191)),
    ] {
        assert_eq!(
            router.find(Methods::GET, path.as_bytes(), &mut captures),
            Found::NotFound
        );
    }
    let deep = format!("/deep{}", "/a".repeat(4000));
    assert_eq!(
        router.find(Methods::GET, deep.as_bytes(), &mut captures),
        Found::Route(rest)
    );
    assert_eq!(captures.value(deep.as_bytes(), 0).map(|value| value.len()), Some(7999));
    assert!(captures.split.segments.len() <= path::SEGMENTS_MAX);
    assert!(captures.rows.len() <= segment::MIXED_BYTES_MAX + 1);
}

const LOOSE: Options = Options {
    case_sensitive: false,
    strict: false,
};
const EXACT: Options = Options {
    case_sensitive: true,
    strict: false,
};

/// A prefix, and where the rest of each path begins.
type PrefixRow<'r> = (&'r str, Options, &'r [(&'r str, Option<usize>)]);

const PREFIXES: &[PrefixRow<'_>] = &[
    (
        "/",
        LOOSE,
        &[
            ("/", Some(0)),
            ("", Some(0)),
            ("/a", Some(0)),
            ("//", Some(0)),
            ("/%61", Some(0)),
            ("*", None),
        ],
    ),
    (
        "/admin",
        LOOSE,
        &[
            ("/admin", Some(6)),
            ("/admin/", Some(6)),
            ("/ADMIN/x/y", Some(6)),
            ("/administrator", None),
            ("/", None),
            ("", None),
            ("/adm", None),
            ("/adm%69n/x", Some(8)),
            ("/admin%2Fx", None),
            ("/admin//x", Some(6)),
            ("/admin/%zz", Some(6)),
            ("/x/%zz", None),
        ],
    ),
    (
        "/admin/",
        EXACT,
        &[("/admin", Some(6)), ("/admin/x", Some(6)), ("/Admin/x", None)],
    ),
    ("/a%2Fb/c", LOOSE, &[("/a%2fb/c/d", Some(8)), ("/a/b/c/d", None)]),
    (
        "/t/:tenant",
        LOOSE,
        &[
            ("/t/x", Some(4)),
            ("/t/x%20y/z", Some(8)),
            ("/t", None),
            ("/t/", None),
            ("/t//x", None),
        ],
    ),
];

#[test]
fn prefixes_stand_on_whole_segments() {
    let mut captures = Captures::new();
    for (prefix, options, paths) in PREFIXES {
        let compiled = Prefix::compile(prefix, options).expect(prefix);
        for (path, rest) in *paths {
            assert_eq!(
                compiled.matches(path.as_bytes(), &mut captures),
                *rest,
                "{prefix} {path}"
            );
        }
    }
    let tenant = Prefix::compile("/t/:tenant", &Options::default()).expect("a good prefix");
    assert_eq!(tenant.matches(b"/t/x%20y/z", &mut captures), Some(8));
    assert_eq!(captures.value(b"/t/x%20y/z", 0).as_deref(), Some(&b"x y"[..]));
    assert_eq!(&*tenant.params()[0].name, "tenant");
    let error = Prefix::compile("/a/*rest", &Options::default()).expect_err("a rest");
    assert_eq!(
        error.to_string(),
        "prefix \"/a/*rest\": a prefix takes everything below it and cannot hold a * segment"
    );
}

/// A prefix, a route, and which of the route's paths lie under the prefix.
const COVERS: &[(&str, Options, &str, Options, Cover)] = &[
    ("/", LOOSE, "/", LOOSE, Cover::Always),
    ("/", LOOSE, "/a/*rest", LOOSE, Cover::Always),
    ("/a", LOOSE, "/A/b", LOOSE, Cover::Always),
    ("/a", LOOSE, "/A/b", EXACT, Cover::Always),
    ("/a", EXACT, "/a/b", LOOSE, Cover::Sometimes),
    ("/a", EXACT, "/A/b", EXACT, Cover::Never),
    ("/a", EXACT, "/A/b", LOOSE, Cover::Sometimes),
    ("/a", LOOSE, "/ab", LOOSE, Cover::Never),
    ("/a/b", LOOSE, "/a", LOOSE, Cover::Never),
    ("/a/b", LOOSE, "/a/*rest", LOOSE, Cover::Sometimes),
    ("/a", LOOSE, "/:x", LOOSE, Cover::Sometimes),
    ("/:x", LOOSE, "/a", LOOSE, Cover::Always),
    ("/:x", LOOSE, "/:y/z", LOOSE, Cover::Always),
    ("/:x<int>", LOOSE, "/:y<int>", LOOSE, Cover::Always),
    ("/:x<int>", LOOSE, "/:y<uint>", LOOSE, Cover::Sometimes),
    ("/:x", LOOSE, "/:y(%d*)", LOOSE, Cover::Sometimes),
    ("/:x/b", LOOSE, "/a/c", LOOSE, Cover::Never),
];

#[test]
fn covers_are_told_from_patterns() {
    for (prefix, options, route, of_route, cover) in COVERS {
        let prefix_compiled = Prefix::compile(prefix, options).expect(prefix);
        let mut router = Router::new();
        let id = router.insert(Methods::GET, route, of_route).expect(route);
        assert_eq!(router.cover(&prefix_compiled, id), *cover, "{prefix} {route}");
    }
}

#[test]
fn a_sealed_router_finds_what_it_found_before() {
    let patterns = [
        "/b", "/a", "/:x", "/A/", "/*rest", "/a", "/b/c", "/%61", "/", "/b", "/a", "/a", "/a",
    ];
    let methods = [Methods::POST, Methods::GET, Methods::ALL];
    let paths = [
        "/", "", "/a", "/A", "/a/", "/A/", "/b", "/b/c", "/b/c/", "/c", "/%61", "/%6", "*",
    ];
    let mut router = Router::new();
    for (index, pattern) in patterns.iter().enumerate() {
        let options = Options {
            strict: index % 5 == 3,
            ..LOOSE
        };
        router.insert(methods[index % 3], pattern, &options).expect(pattern);
    }
    let mut captures = Captures::new();
    let mut all = |router: &Router| {
        let mut found = Vec::new();
        for path in paths {
            for method in [Methods::GET, Methods::POST, Methods::HEAD, Methods::DELETE] {
                for after in router.routes().iter().map(|id| id.place()).chain([Place::START]) {
                    let route = router.find_after(after, method, path.as_bytes(), &mut captures);
                    found.push((route, captures.values().to_vec()));
                }
            }
        }
        found
    };
    let before = all(&router);
    router.seal();
    assert_eq!(all(&router), before);
    let gone = router.routes()[1];
    assert!(router.remove(gone));
    let unsealed = all(&router);
    router.seal();
    assert_eq!(all(&router), unsealed);
    assert!(unsealed != before);
}

fn loose(source: &str) -> Outer<'_> {
    Outer {
        source,
        case_sensitive: false,
    }
}

#[test]
fn each_part_of_a_pattern_is_compared_by_its_own_rule() {
    // The rules of the prefix and of the route, and the paths that are taken and are not.
    let rows: [(Options, Options, &[&str], &[&str]); 4] = [
        (EXACT, LOOSE, &["/Admin/x", "/Admin/X"], &["/admin/x", "/ADMIN/X"]),
        (
            LOOSE,
            EXACT,
            &["/Admin/x", "/admin/x", "/ADMIN/x"],
            &["/Admin/X", "/admin/X"],
        ),
        (EXACT, EXACT, &["/Admin/x"], &["/Admin/X", "/admin/x"]),
        (LOOSE, LOOSE, &["/admin/X", "/ADMIN/x"], &["/Admin/y"]),
    ];
    let mut captures = Captures::new();
    for (of_prefix, of_route, taken, others) in rows {
        let outer = Outer {
            source: "/Admin",
            case_sensitive: of_prefix.case_sensitive,
        };
        let mut router = Router::new();
        let id = router
            .insert_below(Methods::GET, &[outer], "/x", &of_route)
            .expect("a good route");
        let below = Prefix::compile_below(&[outer], "/x", &of_route).expect("a good prefix");
        let guard = Prefix::compile("/Admin", &of_prefix).expect("a good prefix");
        assert_eq!(router.cover(&guard, id), Cover::Always);
        for sealed in [false, true] {
            for path in taken {
                let found = router.find(Methods::GET, path.as_bytes(), &mut captures);
                assert_eq!(found, Found::Route(id), "{path} {sealed}");
                assert_eq!(below.matches(path.as_bytes(), &mut captures), Some(8), "{path}");
                assert_eq!(guard.matches(path.as_bytes(), &mut captures), Some(6), "{path}");
            }
            for path in others {
                let found = router.find(Methods::GET, path.as_bytes(), &mut captures);
                assert_eq!(found, Found::NotFound, "{path} {sealed}");
                assert_eq!(below.matches(path.as_bytes(), &mut captures), None, "{path}");
            }
            router.seal();
        }
    }
}

#[test]
fn routes_stand_below_prefixes() {
    let mut router = Router::new();
    let mut captures = Captures::new();
    let mut insert = |prefixes: &[&str], pattern| {
        let outer: Vec<Outer<'_>> = prefixes.iter().map(|source| loose(source)).collect();
        router.insert_below(Methods::GET, &outer, pattern, &LOOSE)
    };
    let unit = insert(&["/", "/t/:id/", "/v1"], "/units/:id").expect("a name may come again in another part");
    let root = insert(&["/t/:id"], "/").expect("a root");
    assert!(insert(&["/t/*all"], "/").is_err(), "a rest in the middle");
    assert!(
        insert(&[&"/a".repeat(60)], &"/b".repeat(5)).is_err(),
        "too many segments"
    );
    assert_eq!(router.pattern(unit), Some("/t/:id/v1/units/:id"));
    assert_eq!(router.pattern(root), Some("/t/:id"));
    let path = b"/t/red/v1/units/7";
    assert_eq!(router.find(Methods::GET, path, &mut captures), Found::Route(unit));
    assert_eq!(captures.value(path, 0).as_deref(), Some(&b"red"[..]));
    assert_eq!(captures.value(path, 1).as_deref(), Some(&b"7"[..]));
    assert_eq!(router.find(Methods::GET, b"/t/red/", &mut captures), Found::Route(root));
    let prefix = Prefix::compile_below(&[loose("/t/:id")], "/v1", &LOOSE).expect("a prefix");
    assert_eq!(prefix.matches(path, &mut captures), Some(9));
    assert_eq!(prefix.segment_count(), 3);
}
