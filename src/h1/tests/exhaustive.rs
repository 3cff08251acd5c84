//! Every combination of what decides framing and persistence, against rules written down once more.

use super::{LIMITS, run};

const LENGTHS: [&[&str]; 7] = [&[], &["5"], &["0"], &["5", "5"], &["5", "6"], &["+5"], &[""]];
const CODINGS: [&[&str]; 9] = [
    &[],
    &["chunked"],
    &["CHUNKED"],
    &["gzip"],
    &["gzip, chunked"],
    &["chunked, chunked"],
    &["chunked", "gzip"],
    &["chunked;a=b"],
    &[""],
];
const CONNECTIONS: [&[&str]; 5] = [&[], &["close"], &["keep-alive"], &["x, keep-alive", "Close"], &["x"]];
const METHODS: [&str; 3] = ["GET", "POST", "HEAD"];

#[test]
fn length_by_coding_by_version_by_connection_by_method() {
    let mut cases = 0;
    for minor in [0, 1] {
        for lengths in LENGTHS {
            for codings in CODINGS {
                for connections in CONNECTIONS {
                    for method in METHODS {
                        one(minor, lengths, codings, connections, method);
                        cases += 1;
                    }
                }
            }
        }
    }
    assert_eq!(cases, 2 * 7 * 9 * 5 * 3);
}

fn one(minor: u8, lengths: &[&str], codings: &[&str], connections: &[&str], method: &str) {
    let mut message = format!("{method} / HTTP/1.{minor}\r\nHost: a\r\n");
    let fields = [
        ("Content-Length", lengths),
        ("Transfer-Encoding", codings),
        ("Connection", connections),
    ];
    for (name, values) in fields {
        for value in values {
            message.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    message.push_str("\r\n");
    let body = if !codings.is_empty() {
        "5\r\nhello\r\n0\r\n\r\n"
    } else if lengths == ["5"] {
        "hello"
    } else {
        ""
    };
    message.push_str(body);
    let expected = expected(minor, lengths, codings, connections, method);
    let bytes = message.as_bytes();
    assert_eq!(run(&LIMITS, &[bytes], false, false), expected, "{message:?}");
    assert_eq!(
        run(&LIMITS, &bytes.chunks(1).collect::<Vec<_>>(), false, false),
        expected,
        "{message:?} in bytes"
    );
}

fn expected(minor: u8, lengths: &[&str], codings: &[&str], connections: &[&str], method: &str) -> String {
    let body = match (minor, codings, lengths) {
        (_, [], []) => "",
        (_, [], ["5"]) => "=hello",
        (_, [], ["0"]) => "=",
        (_, [], [_, _, ..]) => return "400 repeated_content_length".into(),
        (_, [], [_]) => return "400 bad_content_length".into(),
        (0, _, _) => return "400 coding_in_http_1_0".into(),
        (_, _, [_, ..]) => return "400 length_and_coding".into(),
        (_, ["chunked" | "CHUNKED"], []) => "=hello",
        (_, ["gzip, chunked"], []) => return "501 unknown_coding".into(),
        _ => return "400 bad_coding".into(),
    };
    let said = |option: &str| {
        connections
            .iter()
            .any(|c| c.to_lowercase().split(", ").any(|o| o == option))
    };
    let connection = match (minor, said("close"), said("keep-alive")) {
        (_, true, _) | (0, _, false) => " close; closed",
        (0, false, true) => " keep-alive; open",
        _ => "; open",
    };
    format!("{method} /{body}{connection}")
}
