//! A slow, obvious reader of HTTP/1.1 requests, written from RFC 9110 and RFC 9112 and from the choices that
//! docs/http-support.md makes where they leave one.
//!
//! It reads a whole text at once and copies everything. It shares nothing with the code under test, and knows no limits
//! but that of a body.

/// One request as it was sent, its body without framing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub method: Vec<u8>,
    pub target: Vec<u8>,
    pub path: Vec<u8>,
    pub query: Option<Vec<u8>>,
    pub host: Option<Vec<u8>>,
    pub fields: Vec<(Vec<u8>, Vec<u8>)>,
    /// `None`: no body was announced.
    pub body: Option<Vec<u8>>,
    /// The client lets the connection stay open.
    pub persistent: bool,
}

/// How the text ends behind its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With the last request.
    Clean,
    /// Inside a request that may still become good, as far as this reader looks.
    Incomplete,
    /// In something that no request may hold.
    Refused,
    /// In a request behind which the connection closes.
    Closed,
}

/// Why nothing could be read.
type Stop = End;

/// Longest method that is known here (RFC 9112 section 3).
const METHOD_BYTES_MAX: usize = 32;
/// Longest line with a chunk size.
const CHUNK_LINE_BYTES_MAX: usize = 1024;

/// Every request of `text`, and how it ends. A body has at most `body_bytes_max` bytes.
pub fn read_requests(text: &[u8], body_bytes_max: usize) -> (Vec<Request>, End) {
    let mut requests = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        match read_request(rest, body_bytes_max) {
            Ok((request, behind)) => {
                let persistent = request.persistent;
                requests.push(request);
                rest = behind;
                if !persistent {
                    return (requests, End::Closed);
                }
            }
            // An empty line alone is no request (RFC 9112 section 2.2).
            Err(End::Incomplete) if rest == b"\r\n" => return (requests, End::Clean),
            Err(stop) => return (requests, stop),
        }
    }
    (requests, End::Clean)
}

fn read_request(text: &[u8], body_bytes_max: usize) -> Result<(Request, &[u8]), Stop> {
    // A line is judged when the head is whole, so that its verdict does not depend on what is still to come.
    let mut rest = text.strip_prefix(b"\r\n").unwrap_or(text);
    let mut lines = Vec::new();
    loop {
        let (line, behind) = take_line(rest)?;
        rest = behind;
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    let (request_line, lines) = lines.split_first().ok_or(End::Refused)?;
    let parts: Vec<&[u8]> = request_line.split(|&byte| byte == b' ').collect();
    let [method, target, version] = parts[..] else {
        return Err(End::Refused);
    };
    let minor = match version {
        [b'H', b'T', b'T', b'P', b'/', b'1', b'.', minor] if minor.is_ascii_digit() => *minor,
        _ => return Err(End::Refused),
    };
    let fields = lines.iter().map(|line| field(line)).collect::<Result<Vec<_>, Stop>>()?;
    check(is_token(method) && method.len() <= METHOD_BYTES_MAX && method != b"CONNECT")?;
    let (authority, path, query) = split_target(method, target)?;
    let hosts = values(&fields, "host");
    check(hosts.len() <= 1 && hosts.iter().all(|host| is_host(host)))?;
    check(minor == b'0' || hosts.len() == 1)?;
    let expected = elements(&fields, "expect");
    check(minor == b'0' || expected.iter().all(|e| e.is_empty() || e == b"100-continue"))?;
    let (body, rest) = read_body(&fields, minor == b'0', rest, body_bytes_max)?;
    let options = elements(&fields, "connection");
    let says = |option: &[u8]| options.iter().any(|own| own == option);
    let request = Request {
        method: method.to_vec(),
        target: target.to_vec(),
        path,
        query,
        host: authority.or_else(|| hosts.first().cloned()),
        body,
        persistent: !says(b"close") && (minor != b'0' || says(b"keep-alive")),
        fields,
    };
    Ok((request, rest))
}

fn check(good: bool) -> Result<(), Stop> {
    if good { Ok(()) } else { Err(End::Refused) }
}

/// A line that ends in CRLF, without it, and what is behind it.
fn take_line(text: &[u8]) -> Result<(&[u8], &[u8]), Stop> {
    let end = text.iter().position(|&byte| byte == b'\n').ok_or(End::Incomplete)?;
    let line = text[..end].strip_suffix(b"\r").ok_or(End::Refused)?;
    Ok((line, &text[end + 1..]))
}

/// `token ":" OWS field-value OWS` (RFC 9112 section 5).
fn field(line: &[u8]) -> Result<(Vec<u8>, Vec<u8>), Stop> {
    let colon = line.iter().position(|&byte| byte == b':').ok_or(End::Refused)?;
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    check(is_token(name) && value.iter().all(|&byte| is_value_byte(byte)))?;
    Ok((name.to_vec(), trim(value).to_vec()))
}

fn is_token(text: &[u8]) -> bool {
    let is_tchar = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    !text.is_empty() && text.iter().all(is_tchar)
}

/// Visible ASCII, space, tab, and bytes above ASCII (RFC 9110 section 5.5).
fn is_value_byte(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

fn trim(text: &[u8]) -> &[u8] {
    let inner = |byte: &u8| *byte != b' ' && *byte != b'\t';
    match (text.iter().position(inner), text.iter().rposition(inner)) {
        (Some(first), Some(last)) => &text[first..=last],
        _ => &[],
    }
}

fn values(fields: &[(Vec<u8>, Vec<u8>)], name: &str) -> Vec<Vec<u8>> {
    let named = fields
        .iter()
        .filter(|(own, _)| own.eq_ignore_ascii_case(name.as_bytes()));
    named.map(|(_, value)| value.clone()).collect()
}

/// The elements of a list over all lines of a field, in lower case (RFC 9110 section 5.6.1).
fn elements(fields: &[(Vec<u8>, Vec<u8>)], name: &str) -> Vec<Vec<u8>> {
    let lines = values(fields, name);
    let parts = lines.iter().flat_map(|line| line.split(|&byte| byte == b','));
    parts.map(|part| trim(part).to_ascii_lowercase()).collect()
}

type Target = (Option<Vec<u8>>, Vec<u8>, Option<Vec<u8>>);

/// Authority, path and query of a target (RFC 9112 section 3.2).
fn split_target(method: &[u8], target: &[u8]) -> Result<Target, Stop> {
    check(std::str::from_utf8(target).is_ok() && target.iter().all(|&byte| byte > b' ' && byte != 0x7f))?;
    if target == b"*" && method == b"OPTIONS" {
        return Ok((None, b"*".to_vec(), None));
    }
    let lower = target.to_ascii_lowercase();
    let scheme = ["http://", "https://"]
        .into_iter()
        .find(|scheme| lower.starts_with(scheme.as_bytes()));
    let (authority, rest) = match scheme {
        Some(scheme) => {
            let rest = &target[scheme.len()..];
            let end = rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len());
            check(is_host(&rest[..end]) && end > 0 && rest[0] != b':')?;
            (Some(rest[..end].to_vec()), &rest[end..])
        }
        None => {
            check(target.starts_with(b"/"))?;
            (None, target)
        }
    };
    check(!rest.contains(&b'#') && escapes_are_whole(rest))?;
    Ok(match rest.iter().position(|&byte| byte == b'?') {
        Some(mark) => (authority, rest[..mark].to_vec(), Some(rest[mark + 1..].to_vec())),
        None => (authority, rest.to_vec(), None),
    })
}

fn escapes_are_whole(text: &[u8]) -> bool {
    let is_hex = |at: usize| text.get(at).is_some_and(u8::is_ascii_hexdigit);
    (0..text.len()).all(|at| text[at] != b'%' || (is_hex(at + 1) && is_hex(at + 2)))
}

/// `uri-host [ ":" port ]`; the host may be empty (RFC 3986 section 3.2).
fn is_host(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    let (host, port) = match text.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        Some((address, behind)) => {
            let port = behind
                .strip_prefix(':')
                .unwrap_or(if behind.is_empty() { "" } else { "x" });
            return address.parse::<std::net::Ipv6Addr>().is_ok() && is_port(port);
        }
        None => text.split_once(':').unwrap_or((text, "")),
    };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=%".contains(&byte);
    host.bytes().all(is_plain) && escapes_are_whole(host.as_bytes()) && is_port(port)
}

fn is_port(port: &str) -> bool {
    port.is_empty() || (port.len() <= 5 && port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok())
}

type Body<'a> = (Option<Vec<u8>>, &'a [u8]);

/// RFC 9112 section 6.3, as strict as a server may be.
fn read_body<'a>(
    fields: &[(Vec<u8>, Vec<u8>)],
    http10: bool,
    rest: &'a [u8],
    bytes_max: usize,
) -> Result<Body<'a>, Stop> {
    let lengths = values(fields, "content-length");
    if !values(fields, "transfer-encoding").is_empty() {
        check(!http10 && lengths.is_empty() && elements(fields, "transfer-encoding") == [b"chunked"])?;
        let (body, rest) = read_chunks(rest, bytes_max)?;
        return Ok((Some(body), rest));
    }
    let [length] = &lengths[..] else {
        check(lengths.is_empty())?;
        return Ok((None, rest));
    };
    check(!length.is_empty() && length.iter().all(u8::is_ascii_digit))?;
    let digits = std::str::from_utf8(length).unwrap_or_default();
    let length = digits.parse::<usize>().map_err(|_| End::Refused)?;
    check(length <= bytes_max)?;
    match rest.split_at_checked(length) {
        Some((body, rest)) => Ok((Some(body.to_vec()), rest)),
        None => Err(End::Incomplete),
    }
}

/// A chunked body (RFC 9112 section 7.1), and what is behind it.
fn read_chunks(mut rest: &[u8], bytes_max: usize) -> Result<(Vec<u8>, &[u8]), Stop> {
    let mut body = Vec::new();
    loop {
        let (line, behind) = take_line(rest)?;
        rest = behind;
        check(line.len() + 2 <= CHUNK_LINE_BYTES_MAX)?;
        let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        check(digits > 0 && extensions_are_good(&line[digits..]))?;
        let significant = line[..digits].iter().position(|&byte| byte != b'0').unwrap_or(digits);
        let digits = std::str::from_utf8(&line[significant..digits]).unwrap_or_default();
        let size = match digits {
            "" => break,
            digits => usize::from_str_radix(digits, 16).map_err(|_| End::Refused)?,
        };
        check(size <= bytes_max - body.len())?;
        let (data, behind) = rest.split_at_checked(size).ok_or(End::Incomplete)?;
        body.extend_from_slice(data);
        rest = match behind {
            [b'\r', b'\n', rest @ ..] => rest,
            [] | [b'\r'] => return Err(End::Incomplete),
            _ => return Err(End::Refused),
        };
    }
    loop {
        let (line, behind) = take_line(rest)?;
        rest = behind;
        if line.is_empty() {
            return Ok((body, rest));
        }
        field(line)?;
    }
}

/// `*( BWS ";" BWS token [ BWS "=" BWS ( token / quoted-string ) ] )` (RFC 9112 section 7.1.1), cut at the semicolons
/// that stand in no quotes.
fn extensions_are_good(text: &[u8]) -> bool {
    let mut parts = vec![Vec::new()];
    let (mut quoted, mut escaped) = (false, false);
    for &byte in text {
        if byte == b';' && !quoted {
            parts.push(Vec::new());
            continue;
        }
        if byte == b'"' && !escaped {
            quoted = !quoted;
        }
        escaped = quoted && byte == b'\\' && !escaped;
        parts.last_mut().expect("never empty").push(byte);
    }
    let count = parts.len();
    !quoted
        && trim(&parts[0]).is_empty()
        && (count > 1 || text.is_empty())
        && parts[1..].iter().enumerate().all(|(index, part)| {
            // White space at the end of the line is no part of the grammar.
            let ends_well = index + 2 < count || trim(part).last() == part.last();
            ends_well && is_extension(trim(part))
        })
}

fn is_extension(text: &[u8]) -> bool {
    let Some(equals) = text.iter().position(|&byte| byte == b'=') else {
        return is_token(text);
    };
    let (name, value) = (trim(&text[..equals]), trim(&text[equals + 1..]));
    is_token(name) && (is_token(value) || is_quoted_string(value))
}

/// RFC 9110 section 5.6.4.
fn is_quoted_string(text: &[u8]) -> bool {
    let Some(inner) = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")) else {
        return false;
    };
    let mut bytes = inner.iter();
    while let Some(&byte) = bytes.next() {
        let good = match byte {
            b'"' => false,
            b'\\' => bytes.next().is_some_and(|&escaped| is_value_byte(escaped)),
            byte => is_value_byte(byte),
        };
        if !good {
            return false;
        }
    }
    true
}
