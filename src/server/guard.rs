//! Who may ask: the authority a request names, and the origin of a page that sends it.
//!
//! A server on the loopback address is reachable by every page a browser shows. A page that rebinds its own DNS name to
//! 127.0.0.1 still names itself in `Host`, and a page that posts across sites names itself in `Origin`: both are refused
//! before a handler sees them (421, RFC 9110 section 15.5.20; 403).

use super::config::{AllowedHosts, AllowedOrigins};
use crate::h1::{Connection, Method, Reject};
use std::net::Ipv6Addr;

/// Checks requests against the allowed hosts and origins.
pub(super) struct Guard {
    hosts: AllowedHosts,
    origins: AllowedOrigins,
    /// The authority that passed last: clients repeat themselves.
    passed: Vec<u8>,
}

impl Guard {
    pub(super) fn new(hosts: AllowedHosts, origins: AllowedOrigins) -> Self {
        Self {
            hosts,
            origins,
            passed: Vec::new(),
        }
    }

    /// Why the request may not reach its handler.
    pub(super) fn refusal(&mut self, h1: &Connection) -> Option<Reject> {
        let head = h1.head();
        let authority = head.authority.or(head.host).map(|span| h1.text(span));
        if self.hosts != AllowedHosts::Any {
            // Only HTTP/1.0 may come without Host; the parser has refused the others.
            if let Some(authority) = authority
                && authority != self.passed
            {
                if !self.host_allowed(host_of(authority)) {
                    return Some(Reject::MisdirectedRequest);
                }
                self.passed.clear();
                self.passed.extend_from_slice(authority);
            }
        }
        let safe = matches!(head.method, Method::Get | Method::Head | Method::Options);
        if safe || self.origins == AllowedOrigins::Any {
            return None;
        }
        let mut origins = head
            .fields
            .iter()
            .filter(|field| h1.text(field.name).eq_ignore_ascii_case(b"origin"));
        let origin = h1.text(origins.next()?.value);
        // There is one origin (RFC 6454 section 7.3): with two, who knows which of them another program goes by.
        if origins.next().is_some() {
            return Some(Reject::ForbiddenOrigin);
        }
        let allowed = is_origin_of(origin, authority.unwrap_or_default()) || self.origin_listed(origin);
        (!allowed).then_some(Reject::ForbiddenOrigin)
    }

    fn host_allowed(&self, host: &[u8]) -> bool {
        match &self.hosts {
            AllowedHosts::Any => true,
            AllowedHosts::List(names) => names.iter().any(|name| host.eq_ignore_ascii_case(name.as_bytes())),
            AllowedHosts::Local { bound } => {
                is_loopback_name(host) || is_ip_literal(host) || host.eq_ignore_ascii_case(bound.as_bytes())
            }
        }
    }

    fn origin_listed(&self, origin: &[u8]) -> bool {
        match &self.origins {
            AllowedOrigins::List(list) => list.iter().any(|listed| origin.eq_ignore_ascii_case(listed.as_bytes())),
            AllowedOrigins::Same => false,
            AllowedOrigins::Any => true,
        }
    }
}

/// The authority without its port.
fn host_of(authority: &[u8]) -> &[u8] {
    let after_literal = memchr::memrchr(b']', authority).unwrap_or(0);
    match memchr::memrchr(b':', authority) {
        Some(colon) if colon > after_literal || authority.first() != Some(&b'[') => &authority[..colon],
        _ => authority,
    }
}

/// `localhost` and names under it never leave the machine (RFC 6761 section 6.3).
fn is_loopback_name(host: &[u8]) -> bool {
    let host = host.strip_suffix(b".").unwrap_or(host);
    const NAME: &[u8] = b"localhost";
    let Some(at) = host.len().checked_sub(NAME.len()) else {
        return false;
    };
    host[at..].eq_ignore_ascii_case(NAME) && (at == 0 || host[at - 1] == b'.')
}

/// A literal is no name, so it can't have been rebound.
fn is_ip_literal(host: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(host) else {
        return false;
    };
    match text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inner) => inner.parse::<Ipv6Addr>().is_ok(),
        None => text.parse::<std::net::Ipv4Addr>().is_ok(),
    }
}

/// Whether a serialised origin (`http://host[:port]`, RFC 6454 section 6.2) is the one of this authority.
fn is_origin_of(origin: &[u8], authority: &[u8]) -> bool {
    let Some(at) = memchr::memmem::find(origin, b"://") else {
        return false;
    };
    let (scheme, rest) = (&origin[..at], &origin[at + 3..]);
    let default_port: &[u8] = match scheme {
        b"http" => b":80",
        b"https" => b":443",
        _ => return false,
    };
    let bare = |text: &'_ [u8]| text.strip_suffix(default_port).unwrap_or(text).to_ascii_lowercase();
    !authority.is_empty() && bare(rest) == bare(authority)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        let local = Guard::new(
            AllowedHosts::Local {
                bound: "sim.lan".into(),
            },
            AllowedOrigins::Same,
        );
        let rows: [(&str, bool); 14] = [
            ("127.0.0.1:8080", true),
            ("10.1.2.3", true),
            ("[::1]:8080", true),
            ("[::1]", true),
            ("localhost:1", true),
            ("LOCALHOST.", true),
            ("a.localhost", true),
            ("sim.lan:80", true),
            ("evil.test", false),
            ("127.0.0.1.evil.test", false),
            ("notlocalhost", false),
            ("localhost.evil.test", false),
            ("[evil]", false),
            ("", false),
        ];
        for (authority, allowed) in rows {
            assert_eq!(
                local.host_allowed(host_of(authority.as_bytes())),
                allowed,
                "{authority}"
            );
        }
    }

    #[test]
    fn origins() {
        let rows: [(&str, &str, bool); 8] = [
            ("http://127.0.0.1:8080", "127.0.0.1:8080", true),
            ("https://sim.lan", "sim.lan:443", true),
            ("http://SIM.lan:80", "sim.LAN", true),
            ("http://evil.test", "127.0.0.1:8080", false),
            ("null", "127.0.0.1:8080", false),
            ("http://127.0.0.1:9090", "127.0.0.1:8080", false),
            ("ftp://127.0.0.1", "127.0.0.1", false),
            ("http://", "", false),
        ];
        for (origin, authority, same) in rows {
            assert_eq!(
                is_origin_of(origin.as_bytes(), authority.as_bytes()),
                same,
                "{origin} {authority}"
            );
        }
    }
}
