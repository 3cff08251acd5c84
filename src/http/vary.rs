//! `Vary` of a response (RFC 9110 section 12.5.5): the fields of the request that have decided what it looks like.

use super::grammar::{is_token, list};

/// Appends what the fields of a response list already and each of `more` that is not there yet, in any case. An asterisk
/// says that anything may have decided, and so takes the place of all. False, and nothing appended, when one of `more`
/// is no field name.
pub fn merge<'a>(
    listed: impl Iterator<Item = &'a [u8]>,
    more: impl Iterator<Item = &'a [u8]>,
    out: &mut Vec<u8>,
) -> bool {
    let mut names: Vec<&[u8]> = Vec::new();
    let mut add = |name: &'a [u8]| {
        if !names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            names.push(name);
        }
    };
    listed.flat_map(list).for_each(&mut add);
    for name in more {
        if !is_token(name) {
            return false;
        }
        add(name);
    }
    if names.contains(&b"*".as_slice()) {
        names = vec![b"*"];
    }
    out.extend_from_slice(&names.join(&b", "[..]));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged() {
        type Row = (&'static [&'static str], &'static [&'static str], Option<&'static str>);
        let rows: [Row; 9] = [
            (&[], &["Accept"], Some("Accept")),
            (&[], &[], Some("")),
            (&["Accept"], &["accept", "Origin"], Some("Accept, Origin")),
            (&["a, ,b", "c"], &["B", "d"], Some("a, b, c, d")),
            (&["Accept"], &["*"], Some("*")),
            (&["*"], &["Accept"], Some("*")),
            (&[], &["a b"], None),
            (&[], &["a\r\nX: y"], None),
            (&["Accept"], &[""], None),
        ];
        for (listed, more, wanted) in rows {
            let mut out = Vec::new();
            let (listed, more) = (
                listed.iter().map(|name| name.as_bytes()),
                more.iter().map(|name| name.as_bytes()),
            );
            let merged = merge(listed, more, &mut out).then(|| String::from_utf8_lossy(&out).into_owned());
            assert_eq!(merged.as_deref(), wanted);
            assert!(merged.is_some() || out.is_empty());
        }
    }
}
