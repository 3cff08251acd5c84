//! Tables: what patterns take, what is captured, what is refused and in which words.

use super::*;

/// A pattern, paths with the values they give, and paths that are not found.
type Row<'r> = (&'r str, &'r [(&'r str, &'r str)], &'r [&'r str]);

/// A router with one route, and what a path leads to.
struct Single {
    router: Router,
    captures: Captures,
}

impl Single {
    fn new(pattern: &str, options: &Options) -> Single {
        let mut router = Router::new();
        router
            .insert(Methods::GET, pattern, options)
            .unwrap_or_else(|error| panic!("{error}"));
        Single {
            router,
            captures: Captures::new(),
        }
    }

    /// The captured values joined by `|`, or why there are none.
    fn find(&mut self, path: &str) -> Result<String, Found> {
        match self.router.find(Methods::GET, path.as_bytes(), &mut self.captures) {
            Found::Route(_) => {
                let value = |index| self.captures.value(path.as_bytes(), index).expect("captured");
                let values =
                    (0..self.captures.values().len()).map(|index| String::from_utf8_lossy(&value(index)).into_owned());
                Ok(values.collect::<Vec<_>>().join("|"))
            }
            other => Err(other),
        }
    }
}

fn check(options: Options, rows: &[Row<'_>]) {
    for (pattern, taken, refused) in rows {
        let mut single = Single::new(pattern, &options);
        for (path, values) in *taken {
            assert_eq!(single.find(path), Ok((*values).to_owned()), "{pattern} {path}");
        }
        for path in *refused {
            assert_eq!(single.find(path), Err(Found::NotFound), "{pattern} {path}");
        }
    }
}

#[test]
fn patterns_take_what_they_say() {
    check(
        Options::default(),
        &[
            ("/", &[("/", ""), ("", "")], &["//", "/a", "*", "a", "example.com:80"]),
            (
                "/a",
                &[("/a", ""), ("/A", ""), ("/a/", ""), ("/%61", "")],
                &["/", "/ab", "/a//", "//a", "/a/b", "/./a", "/a%2F"],
            ),
            ("/a/", &[("/a", ""), ("/a/", "")], &["/a//"]),
            (
                "/caf%C3%A9/a%20b%3Ac",
                &[("/caf%c3%a9/a%20b:c", ""), ("/caf\u{e9}/A b%3ac", "")],
                &["/cafe/a b:c"],
            ),
            ("/caf\u{e9}", &[("/caf%c3%a9", "")], &["/caf%c3%89"]),
            (
                "/:id",
                &[
                    ("/7", "7"),
                    ("/7/", "7"),
                    ("/a%2Fb", "a/b"),
                    ("/..", ".."),
                    ("/a%00b", "a\0b"),
                ],
                &["/", "//", "/a/b"],
            ),
            (
                "/u/:id/x",
                &[("/U/Ab/X", "Ab"), ("/u/%25/x", "%")],
                &["/u//x", "/u/x", "/u/1/x/y"],
            ),
            (
                "/:from-:to",
                &[("/a-b", "a|b"), ("/a-b-c", "a|b-c"), ("/%2D-x", "-|x"), ("/--x", "-|x")],
                &["/a-", "/-b", "/ab"],
            ),
            (
                "/file.:ext",
                &[
                    ("/file.txt", "txt"),
                    ("/FILE.tar.gz", "tar.gz"),
                    ("/f%69le.%74xt", "txt"),
                ],
                &["/file.", "/filetxt"],
            ),
            (
                "/:name.json",
                &[("/a.json", "a"), ("/a.json.json", "a.json"), ("/%C3%A9.JSON", "\u{e9}")],
                &["/.json"],
            ),
            (
                "/v:major<uint>.:minor<uint>",
                &[("/v1.20", "1|20")],
                &["/v1", "/v1.x", "/v-1.2", "/v1.99999999999999999"],
            ),
            (
                "/:a<int>..:b<int>",
                &[("/-1..2", "-1|2"), ("/1..-2", "1|-2")],
                &["/1.2", "/..", "/1..2..3"],
            ),
        ],
    );
}

#[test]
fn constraints_and_rests_take_what_they_say() {
    check(
        Options::default(),
        &[
            (
                "/:n(%d+)",
                &[("/042", "042"), ("/%34%32", "42")],
                &["/", "/4x", "/x4", "/4%2F"],
            ),
            ("/:n(%d+):unit(%a+)", &[("/12kg", "12|kg")], &["/12", "/kg"]),
            ("/:s([%w_-]+)", &[("/a_b-C9", "a_b-C9")], &["/a.b", "/a%20b"]),
            (
                "/:a(.-):b(%d*)",
                &[("/ab12", "ab|12"), ("/12", "|12"), ("/ab", "ab|"), ("/a1b2", "a1b|2")],
                &[],
            ),
            (
                "/:y(%d%d%d%d)-:m(%d%d?)",
                &[("/2024-1", "2024|1"), ("/2024-12", "2024|12")],
                &["/24-1", "/2024-123"],
            ),
            ("/:p(%(%)%%)", &[("/()%25", "()%")], &["/()"]),
            ("/:set([]x])", &[("/]", "]"), ("/x", "x")], &["/y"]),
            ("/:x([a%]-z])", &[("/]", "]"), ("/-", "-"), ("/z", "z")], &["/b"]),
            ("/:x([^/]+)", &[("/ab", "ab")], &["/a%2Fb"]),
            (
                "/*rest",
                &[("/", ""), ("", ""), ("/a/b", "a/b"), ("/a%2Fb/", "a/b/"), ("//", "/")],
                &["*"],
            ),
            (
                "/files/*rest",
                &[
                    ("/files", ""),
                    ("/files/", ""),
                    ("/FILES/a/", "a/"),
                    ("/files//x", "/x"),
                ],
                &["/file", "/filesx"],
            ),
            ("/:a/*rest", &[("/x/y/z", "x|y/z"), ("/x", "x|")], &["/", "//y"]),
        ],
    );
}

#[test]
fn types_are_bounded() {
    let hex64 = "a".repeat(64);
    let row = |path: &'static str| (path, &path[1..]);
    let uuid = "/123e4567-E89B-12d3-a456-426614174000";
    check(
        Options::default(),
        &[
            (
                "/:v<int>",
                &[row("/0"), row("/-5"), row("/007"), row("/9007199254740992")],
                &[
                    "/-",
                    "/1.0",
                    "/0x10",
                    "/1e3",
                    "/9007199254740993",
                    "/00000000000000001",
                    "/ 1",
                    "/+1",
                ],
            ),
            (
                "/:v<uint>",
                &[row("/0"), row("/9007199254740992")],
                &["/-1", "/a", "/9007199254740993"],
            ),
            (
                "/:v<number>",
                &[row("/1"), row("/-1.25"), row("/0.5")],
                &["/.5", "/1.", "/1.2.3", "/1e5", "/-", "/12345678901234567", "/nan"],
            ),
            (
                "/:v<hex>",
                &[row("/09afAF"), (&format!("/{hex64}"), &hex64)],
                &["/g", "/0x1", &format!("/{hex64}a")],
            ),
            (
                "/:v<uuid>",
                &[row(uuid)],
                &[
                    "/123e4567e89b12d3a456426614174000",
                    "/123e4567-e89b-12d3-a456-42661417400g",
                    "/123e4567-e89b-12d3-a456-4266141740001",
                ],
            ),
            (
                "/:v<alpha>",
                &[row("/abcXYZ")],
                &["/a1", "/%C3%A9", &format!("/{}", "a".repeat(65))],
            ),
        ],
    );
}

#[test]
fn case_and_trailing_slash_by_option() {
    let exact = Options {
        case_sensitive: true,
        strict: false,
    };
    check(
        exact,
        &[
            ("/Ab", &[("/Ab", ""), ("/Ab/", ""), ("/%41b", "")], &["/ab", "/AB"]),
            ("/x:id(%d+)Y", &[("/x1Y", "1")], &["/X1Y", "/x1y"]),
        ],
    );
    let strict = Options {
        case_sensitive: false,
        strict: true,
    };
    check(
        strict,
        &[
            ("/a", &[("/A", "")], &["/a/"]),
            ("/a/", &[("/a/", "")], &["/a", "/a//"]),
            ("/", &[("/", ""), ("", "")], &["//"]),
            ("/a/*rest", &[("/a/", ""), ("/a/b/", "b/")], &["/a"]),
            ("/*rest", &[("/", ""), ("/b", "b")], &[]),
        ],
    );
    let mut router = Router::new();
    let id = |result: Result<RouteId, PatternError>| result.expect("a good pattern");
    let upper = id(router.insert(Methods::GET, "/Users", &exact));
    let lower = id(router.insert(Methods::GET, "/users", &exact));
    let any = id(router.insert(Methods::GET, "/USERS", &Options::default()));
    let mut captures = Captures::new();
    for (path, expected) in [("/Users", upper), ("/users", lower), ("/uSERS", any)] {
        assert_eq!(
            router.find(Methods::GET, path.as_bytes(), &mut captures),
            Found::Route(expected),
            "{path}"
        );
    }
}

/// A pattern, and what is wrong with it.
const REFUSED: &[(&str, &str)] = &[
    ("", "it must begin with a slash"),
    ("users", "it must begin with a slash"),
    ("*", "it must begin with a slash"),
    ("/a//b", "it holds an empty segment (//)"),
    ("//", "it holds an empty segment (//)"),
    (
        "/:",
        ": needs a name behind it, as in :id (a colon itself is written %3A)",
    ),
    (
        "/a/:/b",
        ": needs a name behind it, as in :id (a colon itself is written %3A)",
    ),
    ("/:1st", "the parameter name \"1st\" begins with a digit"),
    ("/:id/:id", "it names two parameters \"id\""),
    ("/:id/*id", "it names two parameters \"id\""),
    ("/:a:b", "two parameters stand side by side with no text between them"),
    ("/*", "* needs a name behind it, as in *rest"),
    ("/*rest/a", "*rest must be the last segment, by itself"),
    ("/*rest/", "*rest must be the last segment, by itself"),
    ("/a*", "* must be a segment by itself, as in /*rest"),
    (
        "/:id?",
        "? cannot stand here: write one route for each form; the query is no part of a path",
    ),
    (
        "/a?b=1",
        "? cannot stand here: write one route for each form; the query is no part of a path",
    ),
    ("/a#b", "# cannot stand here: a fragment is never sent"),
    ("/{id}", "{ and } cannot stand here: a parameter is written :name"),
    ("/(a)", "( and ) can only stand behind a parameter, as in :id(%d+)"),
    ("/<int>", "< and > can only stand behind a parameter, as in :id<int>"),
    ("/\\d", "\\ cannot stand here: a reserved character is written %XX"),
    ("/a\nb", "it holds a control character"),
    ("/100%", "% must be followed by two hexadecimal digits"),
    ("/%zz", "% must be followed by two hexadecimal digits"),
    (
        "/:id<integer>",
        "there is no type <integer>; there are int, uint, number, hex, uuid and alpha",
    ),
    ("/:id<int", "the type <int is not closed with >"),
    ("/:id(%d+", "a constraint is not closed with )"),
    ("/:id(%", "a constraint is not closed with )"),
    ("/:id()", "a constraint is empty"),
    (
        "/:id((%d))",
        "a constraint cannot hold a capture; a parenthesis is written %( or %)",
    ),
    (
        "/:id(^%d+$)",
        "a constraint needs no anchor: it always takes the whole value",
    ),
    (
        "/:id(+)",
        "a constraint repeats nothing; a plain character is written with % before it",
    ),
    ("/:id(%b())", "a constraint knows %a %c %d %l %p %s %u %w %x only"),
    ("/:id(%1)", "a constraint knows %a %c %d %l %p %s %u %w %x only"),
    ("/:id([a-", "a set in a constraint is not closed with ]"),
    ("/:id([]", "a set in a constraint is not closed with ]"),
    (
        "/:id([z-a])",
        "a set in a constraint holds a range that runs backwards or is not ASCII",
    ),
    ("/:id(\u{e9})", "a constraint may hold ASCII characters only"),
];

#[test]
fn a_bad_pattern_is_refused_in_a_sentence_that_names_it() {
    let long = "/x".repeat(65);
    let wide = format!("/:a-{}-:b", "x".repeat(62));
    for (pattern, what) in REFUSED.iter().copied().chain([
        (&*long, "it has more than 64 segments"),
        (
            &*wide,
            "a segment needs more than 63 characters and classes between its ends",
        ),
    ]) {
        let mut router = Router::new();
        let error = router
            .insert(Methods::GET, pattern, &Options::default())
            .expect_err(pattern);
        assert_eq!(error.to_string(), format!("route pattern \"{pattern}\": {what}"));
        assert!(router.routes().is_empty());
    }
}

#[test]
fn bad_percent_is_told_apart_from_no_route() {
    let mut single = Single::new("/:id", &Options::default());
    for path in ["/%", "/%4", "/%zz", "/a%4g", "/x/%", "/%%41"] {
        assert_eq!(single.find(path), Err(Found::BadPercent), "{path}");
    }
    assert_eq!(single.find("/%25"), Ok("%".into()));
}

#[test]
fn decoding_keeps_what_is_malformed() {
    for (raw, text) in [
        ("", ""),
        ("a+b", "a+b"),
        ("%41%zz%4", "A%zz%4"),
        ("%25%32%35", "%25"),
        ("%", "%"),
        ("%C3%A9", "\u{e9}"),
    ] {
        assert_eq!(decode(raw.as_bytes()), text.as_bytes());
    }
    assert!(matches!(decode(b"plain"), std::borrow::Cow::Borrowed(_)));
}
