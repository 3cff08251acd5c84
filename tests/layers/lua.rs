//! What the house rules look at in a Lua file.
//!
//! It may assume that a file loads, so every block is closed. It must never judge what stands in a comment or a string.

use crate::Source;

/// What a word does to the nesting of blocks. `while` and `for` open theirs with `do`, `elseif` and `else` none.
#[derive(PartialEq)]
enum Nesting {
    Function,
    Block,
    End,
}

/// `text` with comments blanked, and the inside of strings too when `strings` says so; line breaks stay.
fn code(text: &str, strings: bool) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let (length, blanked) = if rest.starts_with(b"--") {
            let long = long_bracket_length(&rest[2..]);
            let line = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
            (if long > 0 { long + 2 } else { line }, true)
        } else if rest[0] == b'"' || rest[0] == b'\'' {
            (quoted_length(rest), strings)
        } else if long_bracket_length(rest) > 0 {
            (long_bracket_length(rest), strings)
        } else {
            (1, false)
        };
        if blanked {
            out[at..at + length]
                .iter_mut()
                .filter(|byte| **byte != b'\n')
                .for_each(|byte| *byte = b' ');
        }
        at += length;
    }
    String::from_utf8(out).expect("blanking replaces whole literals")
}

/// Length of `[[…]]` or `[=[…]=]` at the start of `bytes`, zero when there is none.
fn long_bracket_length(bytes: &[u8]) -> usize {
    let level = bytes.iter().skip(1).take_while(|&&byte| byte == b'=').count();
    if bytes.first() != Some(&b'[') || bytes.get(level + 1) != Some(&b'[') {
        return 0;
    }
    let close = [b"]".as_slice(), &b"=".repeat(level), b"]"].concat();
    let inner = bytes.windows(close.len()).position(|window| window == close);
    inner.map_or(bytes.len(), |inner| inner + close.len())
}

fn quoted_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == bytes[0] => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// `require` of anything but the module itself and its parts.
pub fn requires(source: &Source) -> Vec<String> {
    let code = code(&source.text, false);
    let mut complaints = Vec::new();
    let of_a_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    for (at, word) in code.match_indices("require") {
        let before = at.checked_sub(1).and_then(|before| code.as_bytes().get(before));
        if of_a_word(before) || of_a_word(code.as_bytes().get(at + word.len())) {
            continue;
        }
        let argument = code[at + "require".len()..].trim_start_matches([' ', '(']);
        let name = argument
            .strip_prefix(['"', '\''])
            .and_then(|rest| rest.split(['"', '\'']).next());
        if !name.is_some_and(|name| name == "fastslua" || name.starts_with("fastslua.")) {
            let line = code[..at].matches('\n').count() + 1;
            complaints.push(format!(
                "{}:{line}: requires {}",
                source.path,
                name.unwrap_or("something computed")
            ));
        }
    }
    complaints
}

/// First and last line of each function, but for the callbacks that only group specs.
pub fn functions(text: &str) -> Vec<(usize, usize)> {
    let code = code(text, true);
    let mut open = Vec::new();
    let mut found = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let groups = ["describe(", "insulate(", "context("]
            .iter()
            .any(|word| line.contains(word));
        for word in line.split(|c: char| !c.is_alphanumeric() && c != '_') {
            match nesting(word) {
                Some(Nesting::End) => {
                    if let Some((Nesting::Function, start)) = open.pop() {
                        found.push((start, index + 1));
                    }
                }
                Some(Nesting::Function) if groups => open.push((Nesting::Block, index + 1)),
                Some(opening) => open.push((opening, index + 1)),
                None => {}
            }
        }
    }
    found
}

fn nesting(word: &str) -> Option<Nesting> {
    match word {
        "function" => Some(Nesting::Function),
        "if" | "do" | "repeat" => Some(Nesting::Block),
        "end" | "until" => Some(Nesting::End),
        _ => None,
    }
}

#[test]
fn functions_are_measured_by_their_blocks() {
    let text = "-- function\nlocal function a()\n  for i = 1, 2 do\n    if i then b('end') elseif c then d() end\n  end\n  \
                repeat e() until f\nend\ndescribe('x', function()\n  it('y', function()\n  end)\nend)\n";
    assert_eq!(functions(text), [(2, 7), (9, 10)]);
}

#[test]
fn long_strings_and_comments_are_blanked() {
    let code = code("a = [==[ end ]] ]==] --[[ x\ny ]] b = 'it\\'s'", true);
    assert_eq!(code.split_whitespace().collect::<Vec<_>>(), ["a", "=", "b", "="]);
}
