//! What the house rules look at in a Rust file.
//!
//! It may assume that a file compiles, so brackets match once comments and literals are blanked. It must never judge what
//! stands in a comment or a string.

use crate::Source;

/// The modules at the root of the crate, and what each may name beside itself.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("h1", &[]),
    ("http", &[]),
    ("ws", &[]),
    ("net", &[]),
    ("routing", &[]),
    ("json", &[]),
    ("server", &["h1", "ws", "net"]),
    ("testing", &["h1", "http", "ws", "net", "routing", "json", "server"]),
    ("binding", &["h1", "http", "ws", "net", "routing", "json", "server"]),
];

/// `text` with comments, strings and character literals blanked; line breaks stay where they are.
pub fn code(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = literal_end(text, at);
        for byte in &mut out[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end.max(at + 1);
    }
    String::from_utf8(out).expect("blanking replaces whole literals")
}

/// The end of the comment or literal that starts at `at`; `at` itself when none starts there.
fn literal_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let rest = &bytes[at..];
    let after_word = at > 0 && is_word(bytes[at - 1]);
    if rest.starts_with(b"//") {
        return at + rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    }
    if rest.starts_with(b"/*") {
        return at + block_comment_length(rest);
    }
    if rest[0] == b'"' {
        return at + 1 + quoted_length(&rest[1..], b'"');
    }
    if !after_word && (rest[0] == b'r' || rest.starts_with(b"br")) {
        return at + raw_string_length(rest);
    }
    if rest[0] == b'\'' {
        return at + character_length(&text[at..]);
    }
    at
}

/// Length of the character literal that starts here, zero when the quote opens a lifetime.
fn character_length(text: &str) -> usize {
    let mut characters = text.chars().skip(1);
    match characters.next() {
        Some('\\') => 1 + quoted_length(&text.as_bytes()[1..], b'\''),
        Some(inner) if characters.next() == Some('\'') => inner.len_utf8() + 2,
        _ => 0,
    }
}

fn block_comment_length(bytes: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

/// Length up to and including the closing `quote`; a backslash takes the next byte with it.
fn quoted_length(bytes: &[u8], quote: u8) -> usize {
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Length of the raw string that starts here, zero when this is a word that merely starts like one.
fn raw_string_length(bytes: &[u8]) -> usize {
    let prefix = if bytes[0] == b'b' { 2 } else { 1 };
    let hashes = bytes[prefix..].iter().take_while(|&&byte| byte == b'#').count();
    if bytes.get(prefix + hashes) != Some(&b'"') {
        return 0;
    }
    let open = prefix + hashes + 1;
    let close = [b"\"".as_slice(), &b"#".repeat(hashes)].concat();
    let inner = bytes[open..].windows(close.len()).position(|window| window == close);
    inner.map_or(bytes.len(), |inner| open + inner + close.len())
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Where `word` stands in `code` as a whole word.
fn word_positions<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let bytes = code.as_bytes();
    code.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        let before = at == 0 || !is_word(bytes[at - 1]);
        before && bytes.get(at + word.len()).is_none_or(|&byte| !is_word(byte))
    })
}

fn line_of(code: &str, at: usize) -> usize {
    code[..at].matches('\n').count() + 1
}

/// Where the tests of a file start; its end when it has none.
fn tests_start(code: &str) -> usize {
    code.find("#[cfg(test)]").unwrap_or(code.len())
}

/// Files that exist for tests alone.
fn is_test_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    !path.starts_with("src/")
        || path.starts_with("src/testing/")
        || name.ends_with("tests.rs")
        || path.contains("/tests/")
}

/// Names of other root modules that this file may not know.
pub fn imports(source: &Source) -> Vec<String> {
    let module = source
        .path
        .trim_start_matches("src/")
        .split('/')
        .next()
        .unwrap_or_default();
    let Some((_, allowed)) = MAY_NAME.iter().find(|(name, _)| *name == module) else {
        return Vec::new();
    };
    let code = code(&source.text);
    let tests = if is_test_file(&source.path) {
        0
    } else {
        tests_start(&code)
    };
    let mut complaints = Vec::new();
    for (at, name) in named_modules(&code) {
        let in_tests = name == "testing" && at >= tests;
        if name != module && !allowed.contains(&name) && !in_tests {
            complaints.push(format!("{}:{}: {module} names {name}", source.path, line_of(&code, at)));
        }
    }
    complaints
}

/// The root modules that `crate::…`, `crate::{…}` and `super::super::…` name, and where.
fn named_modules(code: &str) -> Vec<(usize, &str)> {
    let mut named = Vec::new();
    for (at, path) in code
        .match_indices("crate::")
        .chain(code.match_indices("super::super::"))
    {
        let start = at + path.len();
        for (offset, segment) in first_segments(&code[start..]) {
            if MAY_NAME.iter().any(|(name, _)| *name == segment) {
                named.push((start + offset, segment));
            }
        }
    }
    named
}

/// The first segment of a path, or of each path in a `{…}` group.
fn first_segments(code: &str) -> Vec<(usize, &str)> {
    let segment = |at: usize| {
        let rest = &code[at..];
        let blank = rest.len() - rest.trim_start().len();
        let length = rest[blank..].bytes().take_while(|&byte| is_word(byte)).count();
        (at + blank, &rest[blank..blank + length])
    };
    if !code.starts_with('{') {
        return vec![segment(0)];
    }
    let mut segments = vec![segment(1)];
    let mut depth = 0;
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b',' if depth == 1 => segments.push(segment(at + 1)),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    segments
}

/// The homes of words that belong in few places: folders that end with a slash, and whole files.
const HOMES: &[(&str, &[&str])] = &[
    ("mlua", &["src/binding/"]),
    ("unsafe", &["src/binding/raw/", "src/net/exclusive.rs"]),
];

/// `mlua` outside the binding, `unsafe` outside its raw part and the one call beside it.
pub fn reserved_words(source: &Source) -> Vec<String> {
    let code = code(&source.text);
    let mut complaints = Vec::new();
    for (word, homes) in HOMES {
        let at_home = homes
            .iter()
            .any(|home| source.path == *home || home.ends_with('/') && source.path.starts_with(home));
        if let Some(at) = word_positions(&code, word).next()
            && !at_home
        {
            complaints.push(format!(
                "{}:{}: {word} belongs in {}",
                source.path,
                line_of(&code, at),
                homes.join(" or ")
            ));
        }
    }
    complaints
}

/// `unsafe` without a proof: a `SAFETY:` comment above the statement, or a `# Safety` section above the function.
pub fn safety(source: &Source) -> Vec<String> {
    let code = code(&source.text);
    let lines: Vec<&str> = source.text.lines().collect();
    let mut complaints = Vec::new();
    for at in word_positions(&code, "unsafe") {
        let line = line_of(&code, at);
        let mut words = code[at..].split_whitespace().skip(1);
        let is_type = words.next() == Some("extern") && words.next().is_some_and(|word| word.starts_with("fn("));
        let above = &lines[line.saturating_sub(PROOF_LINES_MAX)..line];
        if !is_type
            && !above
                .iter()
                .any(|text| text.contains("SAFETY:") || text.contains("# Safety"))
        {
            complaints.push(format!("{}:{line}: unsafe without SAFETY", source.path));
        }
    }
    complaints
}

/// How far above its `unsafe` a proof may start.
const PROOF_LINES_MAX: usize = 16;

/// Calls that end the host's process or write to its terminal, and work left undone.
pub fn forbidden_calls(source: &Source) -> Vec<String> {
    if is_test_file(&source.path) {
        return Vec::new();
    }
    let code = code(&source.text);
    let product = &code[..tests_start(&code)];
    let mut complaints = Vec::new();
    for call in [
        ".unwrap()",
        "panic!",
        "todo!",
        "unimplemented!",
        "println!",
        "dbg!",
        "process::exit",
    ] {
        for (at, _) in product.match_indices(call) {
            complaints.push(format!("{}:{}: {call}", source.path, line_of(&code, at)));
        }
    }
    complaints
}

/// First and last line of each function with a body.
pub fn functions(text: &str) -> Vec<(usize, usize)> {
    let code = code(text);
    let mut found = Vec::new();
    for at in word_positions(&code, "fn") {
        let named = code[at + 2..]
            .trim_start()
            .starts_with(|c: char| c.is_alphabetic() || c == '_');
        if named && let Some(end) = body_end(&code.as_bytes()[at..]) {
            found.push((line_of(&code, at), line_of(&code, at + end)));
        }
    }
    found
}

/// Offset of the brace that closes the body; `None` for a signature that ends with a semicolon.
fn body_end(code: &[u8]) -> Option<usize> {
    let (mut braces, mut others) = (0, 0);
    for (at, byte) in code.iter().enumerate() {
        match byte {
            b'(' | b'[' => others += 1,
            b')' | b']' => others -= 1,
            b';' if braces == 0 && others == 0 => return None,
            b'{' => braces += 1,
            b'}' => {
                braces -= 1;
                if braces == 0 && others == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

#[test]
fn literals_and_comments_are_blanked() {
    let text = "a(\"{\\\"\", '{', '\\'', 'é', b'}') // {\nr#\"{\"#; br\"}\"; /* { /* } */ { */ for<'a> &'a x";
    let code = code(text);
    assert_eq!(code.len(), text.len());
    assert_eq!(code.split_whitespace().collect::<String>(), "a(,,,,b);;for<'a>&'ax");
}

#[test]
fn functions_are_measured_by_their_braces() {
    let text = "fn a() {\n  if x { \"}\" }\n}\nfn b(f: fn(u8) -> [u8; 2]);\nfn c() -> [u8; 2] { [0; 2] }\n";
    assert_eq!(functions(text), [(1, 3), (5, 5)]);
}
