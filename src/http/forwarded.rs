//! What proxies say of their clients: `X-Forwarded-*` and `Forwarded` (RFC 7239).
//!
//! Anybody can write such a field, so each entry is believed only as far as the one who added it is trusted: the walk
//! begins at the socket's peer, goes from right to left, and ends at the first address that is not a trusted proxy's.

use super::grammar::{list, parameters, trim, unquote};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Addresses with a common prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Network {
    address: IpAddr,
    /// Bits that count, of 32 or 128.
    prefix: u8,
}

impl Network {
    const fn new(address: IpAddr, prefix: u8) -> Self {
        Self { address, prefix }
    }

    fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let differing = network.to_bits() ^ address.to_bits();
                differing.leading_zeros() >= u32::from(self.prefix)
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let differing = network.to_bits() ^ address.to_bits();
                differing.leading_zeros() >= u32::from(self.prefix)
            }
            _ => false,
        }
    }
}

const LOOPBACK: [Network; 2] = [
    Network::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 0)), 8),
    Network::new(IpAddr::V6(Ipv6Addr::LOCALHOST), 128),
];

/// RFC 1918 and RFC 4193, and addresses of one link.
const PRIVATE: [Network; 6] = [
    Network::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 0)), 8),
    Network::new(IpAddr::V4(Ipv4Addr::new(172, 16, 0, 0)), 12),
    Network::new(IpAddr::V4(Ipv4Addr::new(192, 168, 0, 0)), 16),
    Network::new(IpAddr::V4(Ipv4Addr::new(169, 254, 0, 0)), 16),
    Network::new(IpAddr::V6(Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0)), 7),
    Network::new(IpAddr::V6(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0)), 10),
];

/// The proxies that are believed. None by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedProxies {
    networks: Vec<Network>,
}

impl TrustedProxies {
    /// Adds an address, a network as `10.0.0.0/8`, `loopback` or `private`; false when it is none of these.
    pub fn add(&mut self, item: &str) -> bool {
        match item {
            "loopback" => self.networks.extend(LOOPBACK),
            "private" => self.networks.extend(PRIVATE),
            _ => match network(item) {
                Some(network) => self.networks.push(network),
                None => return false,
            },
        }
        true
    }

    /// Whether nobody is trusted.
    pub fn is_empty(&self) -> bool {
        self.networks.is_empty()
    }

    /// Whether this address is a trusted proxy's.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.networks.iter().any(|network| network.contains(address))
    }
}

fn network(item: &str) -> Option<Network> {
    let (address, prefix) = match item.split_once('/') {
        Some((address, prefix)) => (address, Some(prefix)),
        None => (item, None),
    };
    let address: IpAddr = address.parse().ok()?;
    let bits = if address.is_ipv4() { 32 } else { 128 };
    let prefix = match prefix {
        Some(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            text.parse().ok().filter(|&n: &u8| n <= bits)?
        }
        Some(_) => return None,
        None => bits,
    };
    Some(Network { address, prefix })
}

/// Where a request came from, as far as it can be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<'a> {
    pub address: IpAddr,
    /// `http` or `https`, when the proxy says so.
    pub scheme: Option<&'a [u8]>,
    /// The authority that the client asked for, when the proxy tells it.
    pub host: Option<&'a [u8]>,
}

/// What is said by `X-Forwarded-For`, `-Proto` and `-Host`; each a joined list, empty when it was not sent. Of scheme
/// and host the last is taken: the one that the nearest proxy has added.
pub fn x_forwarded<'a>(
    trusted: &TrustedProxies,
    peer: IpAddr,
    addresses: &[u8],
    schemes: &'a [u8],
    hosts: &'a [u8],
) -> Origin<'a> {
    if !trusted.contains(peer) {
        return Origin {
            address: peer,
            scheme: None,
            host: None,
        };
    }
    let mut address = peer;
    for entry in addresses.rsplit(|&byte| byte == b',') {
        match node(trim(entry)) {
            Some(found) => address = found,
            None => break,
        }
        if !trusted.contains(address) {
            break;
        }
    }
    Origin {
        address,
        scheme: last(schemes).and_then(scheme),
        host: last(hosts).and_then(host),
    }
}

/// A scheme that a request can have come by: a proxy may hand on what a client wrote.
fn scheme(text: &[u8]) -> Option<&[u8]> {
    let known = text.eq_ignore_ascii_case(b"http") || text.eq_ignore_ascii_case(b"https");
    known.then_some(text)
}

/// What can be an authority: the characters of a host and a port (RFC 3986 section 3.2), and no others.
fn host(text: &[u8]) -> Option<&[u8]> {
    let sound = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=:[]".contains(byte);
    (!text.is_empty() && text.iter().all(sound)).then_some(text)
}

fn last(field: &[u8]) -> Option<&[u8]> {
    let text = trim(field.rsplit(|&byte| byte == b',').next()?);
    (!text.is_empty()).then_some(text)
}

/// Proxies in a row that are followed; each costs a walk over the field.
const HOPS_MAX: usize = 32;

/// What is said by `Forwarded`. Protocol and host are those of the element that told the address.
pub fn forwarded<'a>(trusted: &TrustedProxies, peer: IpAddr, field: &'a [u8]) -> Origin<'a> {
    let mut origin = Origin {
        address: peer,
        scheme: None,
        host: None,
    };
    // Elements are found from the left, since quotes decide where they end; the last of those that may be believed is
    // known when the walk from the right has ended.
    let count = list(field).count();
    for place in (0..count).rev().take(HOPS_MAX) {
        if !trusted.contains(origin.address) {
            break;
        }
        let Some(element) = list(field).nth(place) else { break };
        let value = |name: &[u8]| {
            parameters(element)
                .find(|(found, _)| found.eq_ignore_ascii_case(name))
                .map(|(_, value)| bare(value))
        };
        origin.scheme = value(b"proto").and_then(scheme).or(origin.scheme);
        origin.host = value(b"host").and_then(host).or(origin.host);
        match value(b"for").and_then(node) {
            Some(address) => origin.address = address,
            None => break,
        }
    }
    origin
}

/// A value without its quotation marks. Nothing that we look for needs an escape.
fn bare(value: &[u8]) -> &[u8] {
    match unquote(value) {
        std::borrow::Cow::Borrowed(value) => value,
        std::borrow::Cow::Owned(_) => b"",
    }
}

/// The address of `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:80`; `None` for a name
/// that hides it (RFC 7239 section 6).
fn node(text: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(text).ok()?;
    if let Some(rest) = text.strip_prefix('[') {
        let (address, port) = rest.split_once(']')?;
        let sound = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
        return sound.then(|| address.parse().ok().map(|v6: Ipv6Addr| IpAddr::V6(v6).to_canonical()))?;
    }
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(address.to_canonical());
    }
    let (address, port) = text.split_once(':')?;
    is_port(port).then(|| address.parse().ok().map(IpAddr::V4))?
}

fn is_port(text: &str) -> bool {
    (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trusted(items: &[&str]) -> TrustedProxies {
        let mut trusted = TrustedProxies::default();
        for item in items {
            assert!(trusted.add(item), "{item}");
        }
        trusted
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn networks() {
        let proxies = trusted(&["10.0.0.0/8", "192.0.2.7", "2001:db8::/32", "loopback", "0.0.0.0/32"]);
        for (address, wanted) in [
            ("10.255.0.1", true),
            ("11.0.0.1", false),
            ("192.0.2.7", true),
            ("192.0.2.8", false),
            ("2001:db8:1::1", true),
            ("2001:db9::1", false),
            ("::ffff:10.0.0.1", true),
            ("127.0.0.9", true),
            ("::1", true),
            ("::2", false),
        ] {
            assert_eq!(proxies.contains(ip(address)), wanted, "{address}");
        }
        assert!(trusted(&["0.0.0.0/0"]).contains(ip("8.8.8.8")));
        assert!(trusted(&["private"]).contains(ip("192.168.3.4")));
        for bad in [
            "",
            "x",
            "10.0.0.0/33",
            "10.0.0.0/",
            "10.0.0.0/+8",
            "::/129",
            "10.0.0",
            "*",
        ] {
            assert!(!TrustedProxies::default().add(bad), "{bad}");
        }
        assert!(TrustedProxies::default().is_empty());
    }

    #[test]
    fn x_forwarded_fields() {
        let proxies = trusted(&["10.0.0.0/8"]);
        for (peer, addresses, wanted) in [
            ("192.0.2.1", "1.1.1.1", "192.0.2.1"),
            ("10.0.0.1", "", "10.0.0.1"),
            ("10.0.0.1", "1.1.1.1", "1.1.1.1"),
            ("10.0.0.1", "6.6.6.6, 1.1.1.1", "1.1.1.1"),
            ("10.0.0.1", "6.6.6.6, 1.1.1.1 ,10.0.0.2", "1.1.1.1"),
            ("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"),
            ("10.0.0.1", "6.6.6.6, unknown", "10.0.0.1"),
            ("10.0.0.1", "6.6.6.6, junk, 10.0.0.2", "10.0.0.2"),
            ("10.0.0.1", "1.1.1.1:4711", "1.1.1.1"),
            ("10.0.0.1", "[2001:db8::1]:80", "2001:db8::1"),
            ("10.0.0.1", "2001:db8::1", "2001:db8::1"),
            ("10.0.0.1", "::ffff:10.0.0.2", "10.0.0.2"),
        ] {
            let origin = x_forwarded(&proxies, ip(peer), addresses.as_bytes(), b"", b"");
            assert_eq!(origin.address, ip(wanted), "{peer} {addresses}");
        }
        let told = x_forwarded(&proxies, ip("10.0.0.1"), b"1.1.1.1", b"http, https", b"a.test");
        assert_eq!(
            (told.scheme, told.host),
            (Some(b"https".as_slice()), Some(b"a.test".as_slice()))
        );
        let untold = x_forwarded(&proxies, ip("1.0.0.1"), b"1.1.1.1", b"https", b"a.test");
        assert_eq!((untold.scheme, untold.host), (None, None));
    }

    #[test]
    fn forwarded_field() {
        let proxies = trusted(&["10.0.0.0/8"]);
        for (peer, field, address, scheme) in [
            ("192.0.2.1", "for=1.1.1.1;proto=https", "192.0.2.1", None),
            ("10.0.0.1", "", "10.0.0.1", None),
            ("10.0.0.1", "for=1.1.1.1;proto=https", "1.1.1.1", Some("https")),
            ("10.0.0.1", "For=\"[2001:db8::1]:80\"", "2001:db8::1", None),
            ("10.0.0.1", "for=6.6.6.6;proto=x, for=1.1.1.1", "1.1.1.1", None),
            (
                "10.0.0.1",
                "for=1.1.1.1;proto=https, for=10.0.0.2;proto=http",
                "1.1.1.1",
                Some("https"),
            ),
            (
                "10.0.0.1",
                "for=1.1.1.1, for=_hidden;proto=https",
                "10.0.0.1",
                Some("https"),
            ),
            ("10.0.0.1", "for=\"1.1.1.1, for=6.6.6.6", "10.0.0.1", None),
        ] {
            let origin = forwarded(&proxies, ip(peer), field.as_bytes());
            assert_eq!(origin.address, ip(address), "{peer} {field}");
            assert_eq!(origin.scheme, scheme.map(str::as_bytes), "{peer} {field}");
        }
        let told = forwarded(&proxies, ip("10.0.0.1"), b"for=1.1.1.1;host=\"a.test:80\"");
        assert_eq!(told.host, Some(b"a.test:80".as_slice()));
    }
}
