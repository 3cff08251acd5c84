//! Where a request came from, put together from its connection, its fields, and whom the options trust.
//!
//! Plain Rust. Without trusted proxies it looks at no field.

use crate::http::forwarded::{self, Origin, TrustedProxies};
use crate::server::Request;
use std::borrow::Cow;
use std::net::IpAddr;

/// The fields that the trusted proxies set. Only one family is read: the other one would be whatever a client sent, and
/// a proxy that does not know it hands it on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ProxyHeader {
    /// `X-Forwarded-For`, `X-Forwarded-Proto`, `X-Forwarded-Host`.
    #[default]
    XForwarded,
    /// `Forwarded` (RFC 7239).
    Forwarded,
}

/// The options that decide whom to believe.
#[derive(Clone, Debug, Default)]
pub(super) struct Proxies {
    pub(super) trusted: TrustedProxies,
    pub(super) header: ProxyHeader,
}

/// The address at the other end of the socket. A listener on `::` sees IPv4 clients as mapped addresses, which are theirs
/// all the same.
pub(super) fn peer(request: &Request<'_>) -> IpAddr {
    request.remote_addr().ip().to_canonical()
}

/// Calls `read` with the origin of a request.
pub(super) fn of<R>(proxies: &Proxies, request: &Request<'_>, read: impl FnOnce(Origin<'_>) -> R) -> R {
    let peer = peer(request);
    if proxies.trusted.is_empty() || !proxies.trusted.contains(peer) {
        return read(Origin {
            address: peer,
            scheme: None,
            host: None,
        });
    }
    let field = |name| joined(request, name).unwrap_or_default();
    match proxies.header {
        ProxyHeader::XForwarded => {
            let addresses = field(b"x-forwarded-for");
            let schemes = field(b"x-forwarded-proto");
            let hosts = field(b"x-forwarded-host");
            read(forwarded::x_forwarded(
                &proxies.trusted,
                peer,
                &addresses,
                &schemes,
                &hosts,
            ))
        }
        ProxyHeader::Forwarded => read(forwarded::forwarded(&proxies.trusted, peer, &field(b"forwarded"))),
    }
}

/// All fields of that name (in lower case) as one list (RFC 9110 section 5.3); `None` when there is none.
pub(super) fn joined<'a>(request: &Request<'a>, name: &[u8]) -> Option<Cow<'a, [u8]>> {
    let mut list: Option<Cow<'a, [u8]>> = None;
    for field in &request.head().fields {
        if !request.text(field.name).eq_ignore_ascii_case(name) {
            continue;
        }
        let value = request.text(field.value);
        match &mut list {
            None => list = Some(Cow::Borrowed(value)),
            Some(list) => {
                let list = list.to_mut();
                list.extend_from_slice(b", ");
                list.extend_from_slice(value);
            }
        }
    }
    list
}

/// Whom the client asked for: the target's authority, or Host (RFC 9112 section 3.3).
pub(super) fn authority<'a>(request: &Request<'a>) -> Option<&'a [u8]> {
    let head = request.head();
    head.authority.or(head.host).map(|span| request.text(span))
}

/// An authority without its port, and without the brackets of an IPv6 literal.
pub(super) fn host_name(authority: &[u8]) -> &[u8] {
    if let Some(rest) = authority.strip_prefix(b"[") {
        return rest.split(|&byte| byte == b']').next().unwrap_or_default();
    }
    authority.split(|&byte| byte == b':').next().unwrap_or_default()
}
