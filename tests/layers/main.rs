//! The rules of the house as tests: which module may name which, how long a file and a function may be, how a file opens,
//! and what no source may say. ARCHITECTURE.md says why each rule stands.
//!
//! The checkers are functions from a path and a text to complaints, so each is first shown a bad sample it has to refuse.
//! They look at text with comments and strings blanked, not at a syntax tree, and must never pass because they found no file.

mod lua;
mod rust;

use std::fs;
use std::path::{Path, PathBuf};

const FILE_LINES_MAX: usize = 600;
const FUNCTION_LINES_MAX: usize = 70;
const LUA_COLUMNS_MAX: usize = 120;

/// One source file: its path from the root with `/` between the parts, and its text.
struct Source {
    path: String,
    text: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below the `top` folders whose name ends with `extension`; what is built or measured is left out.
fn sources(top: &[&str], extension: &str) -> Vec<Source> {
    let mut found = Vec::new();
    for folder in top {
        collect(&root().join(folder), extension, &mut found);
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn collect(folder: &Path, extension: &str, found: &mut Vec<Source>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("a readable folder").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            if !matches!(
                name,
                "target" | "build" | ".git" | "node_modules" | "results" | "corpus" | "artifacts" | "run"
            ) {
                collect(&path, extension, found);
            }
        } else if name.ends_with(extension) && name != ".git" {
            let text = fs::read_to_string(&path).expect("a text file");
            let path = path
                .strip_prefix(root())
                .expect("below the root")
                .to_string_lossy()
                .replace('\\', "/");
            found.push(Source { path, text });
        }
    }
}

fn rust_sources() -> Vec<Source> {
    sources(&["src", "tests", "bench", "fuzz"], ".rs")
}

fn lua_sources() -> Vec<Source> {
    sources(&["lua", "spec", "examples", "bench", "types"], ".lua")
}

fn assert_none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// Runs `check` over `files`, of which there have to be some.
fn check_all(files: &[Source], check: impl Fn(&Source) -> Vec<String>) {
    assert!(!files.is_empty(), "no file to check");
    assert_none(files.iter().flat_map(check).collect());
}

fn sample(path: &str, text: &str) -> Source {
    Source {
        path: path.to_owned(),
        text: text.to_owned(),
    }
}

fn file_length(source: &Source) -> Vec<String> {
    let lines = source.text.lines().count();
    if lines < FILE_LINES_MAX {
        return Vec::new();
    }
    vec![format!(
        "{}: {lines} lines; a file has fewer than {FILE_LINES_MAX}",
        source.path
    )]
}

fn function_lengths(source: &Source, functions: Vec<(usize, usize)>) -> Vec<String> {
    let long = functions
        .into_iter()
        .filter(|(start, end)| end - start + 1 >= FUNCTION_LINES_MAX);
    long.map(|(start, end)| {
        let lines = end - start + 1;
        format!(
            "{}:{start}: a function of {lines} lines; one has fewer than {FUNCTION_LINES_MAX}",
            source.path
        )
    })
    .collect()
}

fn opening_page(source: &Source) -> Vec<String> {
    let mut lines = source.text.lines().filter(|line| !line.starts_with("#!/"));
    let first = lines.next().unwrap_or_default();
    let mark = if source.path.ends_with(".rs") { "//! " } else { "--" };
    if first.starts_with(mark) {
        return Vec::new();
    }
    vec![format!("{}: opens without its page ({mark})", source.path)]
}

/// Folders that exist on the machine of whoever wrote a file and mean nothing to whoever reads it.
fn private_paths(source: &Source) -> Vec<String> {
    let mut complaints = Vec::new();
    for (number, line) in source.text.lines().enumerate() {
        for folder in ["home", "root", "Users", "work", "farm"] {
            let needle = format!("/{folder}/");
            let absolute = |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-~*}".contains(c));
            if line.match_indices(&needle).any(|(at, _)| absolute(at)) {
                complaints.push(format!("{}:{}: names a path of one machine", source.path, number + 1));
            }
        }
    }
    complaints
}

fn lua_layout(source: &Source) -> Vec<String> {
    let mut complaints = Vec::new();
    for (number, line) in source.text.lines().enumerate() {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let problem = if line.contains('\t') {
            "a tab"
        } else if line.ends_with(' ') {
            "a trailing blank"
        } else if line.chars().count() > LUA_COLUMNS_MAX {
            "more than 120 columns"
        } else if indent % 2 != 0 && !line.trim_start().starts_with("--") {
            "an odd indent"
        } else {
            continue;
        };
        complaints.push(format!("{}:{}: {problem}", source.path, number + 1));
    }
    complaints
}

#[test]
fn modules_import_one_way() {
    assert_eq!(
        rust::imports(&sample("src/h1/a.rs", "use crate::server::Config;")).len(),
        1
    );
    assert_eq!(
        rust::imports(&sample("src/h1/a.rs", "use crate::{net::Tcp, h1::Span};")).len(),
        1
    );
    assert_eq!(
        rust::imports(&sample("src/net/a.rs", "fn f() -> super::super::h1::Span {}")).len(),
        1
    );
    assert_eq!(
        rust::imports(&sample("src/server/a.rs", "use crate::routing::Routes;")).len(),
        1
    );
    assert_eq!(
        rust::imports(&sample("src/h1/a.rs", "use crate::testing::cuts;")).len(),
        1
    );
    assert_none(rust::imports(&sample(
        "src/h1/a.rs",
        "// crate::net\n#[cfg(test)] use crate::testing::cuts;",
    )));
    assert_none(rust::imports(&sample(
        "src/server/a.rs",
        "use crate::{h1::{self, Reject}, net::Ready};",
    )));
    check_all(&sources(&["src"], ".rs"), rust::imports);
}

#[test]
fn only_the_binding_names_lua_and_unsafe_has_two_homes() {
    assert_eq!(
        rust::reserved_words(&sample("src/server/a.rs", "use mlua::Lua;")).len(),
        1
    );
    assert_eq!(
        rust::reserved_words(&sample("src/binding/a.rs", "unsafe { f() }")).len(),
        1
    );
    assert_eq!(rust::reserved_words(&sample("bench/a.rs", "unsafe fn f() {}")).len(), 1);
    assert_eq!(
        rust::reserved_words(&sample("src/net/tcp.rs", "unsafe { f() }")).len(),
        1
    );
    assert_eq!(
        rust::reserved_words(&sample("src/net/exclusive.rs/a.rs", "unsafe { f() }")).len(),
        1
    );
    assert_none(rust::reserved_words(&sample("src/net/exclusive.rs", "unsafe { f() }")));
    assert_none(rust::reserved_words(&sample(
        "src/lib.rs",
        "#![deny(unsafe_code)] // mlua, unsafe",
    )));
    assert_none(rust::reserved_words(&sample(
        "src/binding/raw/a.rs",
        "// SAFETY: so\nunsafe { f() }",
    )));
    check_all(&rust_sources(), rust::reserved_words);
}

#[test]
fn unsafe_code_says_why_it_is_sound() {
    assert_eq!(
        rust::safety(&sample("src/binding/raw/a.rs", "fn f() {\n  unsafe { g() }\n}")).len(),
        1
    );
    assert_eq!(
        rust::safety(&sample("src/binding/raw/a.rs", "/// Does.\nunsafe fn f() {}")).len(),
        1
    );
    assert_none(rust::safety(&sample(
        "src/binding/raw/a.rs",
        "// SAFETY: so\nlet x =\n  unsafe { g() };",
    )));
    assert_none(rust::safety(&sample(
        "src/binding/raw/a.rs",
        "/// # Safety\n/// So.\npub unsafe fn f() {}",
    )));
    check_all(&sources(&["src"], ".rs"), rust::safety);
}

#[test]
fn the_library_neither_panics_nor_prints() {
    for code in [
        "a.unwrap();",
        "panic!()",
        "todo!()",
        "unimplemented!()",
        "println!()",
        "eprintln!()",
        "dbg!(a)",
    ] {
        assert_eq!(
            rust::forbidden_calls(&sample("src/server/a.rs", code)).len(),
            1,
            "{code}"
        );
    }
    assert_none(rust::forbidden_calls(&sample(
        "src/server/a.rs",
        "\"panic!()\"; #[cfg(test)] a.unwrap()",
    )));
    check_all(&sources(&["src"], ".rs"), rust::forbidden_calls);
}

#[test]
fn lua_files_require_the_module_alone() {
    assert_eq!(
        lua::requires(&sample("lua/a.lua", "local s = require('socket')")).len(),
        1
    );
    assert_eq!(
        lua::requires(&sample("lua/a.lua", "local s = require \"ltn12\"")).len(),
        1
    );
    assert_eq!(lua::requires(&sample("lua/a.lua", "local s = require(name)")).len(), 1);
    assert_none(lua::requires(&sample(
        "lua/a.lua",
        "-- require('socket')\nlocal f = require(\"fastslua.router\")\nlocal required = it.is_require_(f)",
    )));
    assert_none(sources(&["lua"], ".lua").iter().flat_map(lua::requires).collect());
}

/// `package.path` is searched first, so a Lua file of the module's own name would hide the native module.
#[test]
fn no_lua_file_hides_the_native_module() {
    for path in ["lua/fastslua.lua", "lua/fastslua/init.lua"] {
        assert!(!root().join(path).exists(), "{path} hides the native module");
    }
}

#[test]
fn files_and_functions_stay_short() {
    let long_file = sample("src/a.rs", &"//\n".repeat(FILE_LINES_MAX));
    assert_eq!(file_length(&long_file).len(), 1);
    let long_rust = sample(
        "src/a.rs",
        &format!("fn a() {{\n{}}}\nfn b();\n", "// {\n".repeat(FUNCTION_LINES_MAX)),
    );
    assert_eq!(function_lengths(&long_rust, rust::functions(&long_rust.text)).len(), 1);
    let long_lua = sample(
        "a.lua",
        &format!(
            "local function f()\n{}end\n",
            "if x then y() end\n".repeat(FUNCTION_LINES_MAX)
        ),
    );
    assert_eq!(function_lengths(&long_lua, lua::functions(&long_lua.text)).len(), 1);

    check_all(&rust_sources(), file_length);
    check_all(&rust_sources(), |source| {
        function_lengths(source, rust::functions(&source.text))
    });
    check_all(&lua_sources(), file_length);
    check_all(&lua_sources(), |source| {
        function_lengths(source, lua::functions(&source.text))
    });
}

#[test]
fn each_file_opens_with_its_page() {
    assert_eq!(opening_page(&sample("src/a.rs", "use std::fs;")).len(), 1);
    assert_eq!(opening_page(&sample("a.lua", "#!/usr/bin/lua\nlocal x")).len(), 1);
    assert_none(opening_page(&sample("a.lua", "#!/usr/bin/lua\n-- page")));
    check_all(&rust_sources(), opening_page);
    check_all(&lua_sources(), opening_page);
}

#[test]
fn lua_files_keep_the_layout() {
    for line in ["\tx()", "x() ", " x()", &"x".repeat(LUA_COLUMNS_MAX + 1)] {
        assert_eq!(lua_layout(&sample("a.lua", line)).len(), 1, "{line:?}");
    }
    check_all(&lua_sources(), lua_layout);
}

#[test]
fn no_text_names_a_path_of_one_machine() {
    assert_eq!(private_paths(&sample("a.md", &format!("see /{}/x", "work"))).len(), 1);
    assert_none(private_paths(&sample(
        "a.md",
        &format!("https://a.example/{}/x and frame/{}/x", "work", "home"),
    )));
    let everything = sources(&["."], "");
    check_all(&everything, private_paths);
}

/// README.md and docs/budgets.md list the same options with the same defaults.
#[test]
fn the_documents_agree_on_the_options() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("a document");
    let readme = option_rows(&read("README.md"));
    assert!(readme.len() >= 25, "README.md lists {} options", readme.len());
    assert_eq!(readme, option_rows(&read("docs/budgets.md")));
}

/// Every field of the server's configuration is an option that the documents and the editor types name.
#[test]
fn the_documents_know_every_option() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("a source");
    let config = read("src/server/config.rs");
    let fields = config
        .split("pub struct Config {")
        .nth(1)
        .and_then(|rest| rest.split("\n}").next())
        .expect("Config");
    let options = fields
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub ")?.split(':').next());
    let options: Vec<&str> = options.chain(["host", "port", "backlog"]).collect();
    assert!(options.len() > 20, "{options:?}");
    let readme = option_rows(&read("README.md"));
    let types = read("types/fastslua.lua");
    for option in options {
        assert!(
            readme.iter().any(|(name, _)| *name == format!("`{option}`")),
            "README.md lacks {option}"
        );
        let annotation = format!("---@field {option}");
        assert!(
            types.lines().any(|line| line.starts_with(&annotation)),
            "types/fastslua.lua lacks {option}"
        );
    }
}

/// The first two cells of each row of the first table whose head starts with `option`.
fn option_rows(text: &str) -> Vec<(String, String)> {
    let table = text.lines().skip_while(|line| !line.starts_with("| option |")).skip(2);
    let rows = table.take_while(|line| line.starts_with('|'));
    rows.map(|line| {
        let mut cells = line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
        (cells.next().unwrap_or_default(), cells.next().unwrap_or_default())
    })
    .collect()
}
