//! `Set-Cookie` of a response (RFC 6265 section 4.1, and the prefixes and attributes that browsers have added since).
//!
//! Everything is checked before anything is written: a cookie that a browser would drop in silence is an error here.

use super::grammar::is_token;
use super::urlencoded::encode;
use std::fmt;
use std::time::{Duration, UNIX_EPOCH};

/// To which requests from other sites a cookie is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SameSite {
    Strict,
    Lax,
    None,
}

/// A cookie to be set.
#[derive(Clone, Copy, Debug, Default)]
pub struct SetCookie<'a> {
    pub name: &'a [u8],
    /// Any bytes: those that a cookie cannot hold are sent as percent sequences.
    pub value: &'a [u8],
    pub path: Option<&'a [u8]>,
    pub domain: Option<&'a [u8]>,
    /// Seconds; zero or less removes the cookie.
    pub max_age: Option<i64>,
    /// Seconds since 1970.
    pub expires: Option<u64>,
    pub secure: bool,
    pub http_only: bool,
    pub same_site: Option<SameSite>,
    pub partitioned: bool,
}

/// Why a browser would not take the cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetCookieError {
    Name,
    TooLong,
    Path,
    Domain,
    Expires,
    /// Only a secure cookie may be `SameSite=None`.
    SameSiteNoneNeedsSecure,
    PartitionedNeedsSecure,
    SecurePrefix,
    HostPrefix,
}

impl fmt::Display for SetCookieError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            SetCookieError::Name => "the name of a cookie is a token (letters, digits and !#$%&'*+-.^_`|~)",
            SetCookieError::TooLong => "name and value take more than 4096 bytes, path or domain more than 1024",
            SetCookieError::Path => "path must begin with '/' and hold no ';' or control character",
            SetCookieError::Domain => "domain must be a host name",
            SetCookieError::Expires => "expires must lie before the year 10000",
            SetCookieError::SameSiteNoneNeedsSecure => "same_site 'none' needs secure = true",
            SetCookieError::PartitionedNeedsSecure => "partitioned needs secure = true",
            SetCookieError::SecurePrefix => "a name that begins with __Secure- needs secure = true",
            SetCookieError::HostPrefix => "a name that begins with __Host- needs secure = true, path '/' and no domain",
        })
    }
}

/// Browsers drop what is longer.
const PAIR_BYTES_MAX: usize = 4096;
const ATTRIBUTE_BYTES_MAX: usize = 1024;

/// The last second that an HTTP date can tell: the end of 9999.
const EXPIRES_MAX: u64 = 253_402_300_799;

/// What a value may hold beside letters and digits (`cookie-octet`), without the percent sign, which marks sequences.
const VALUE_BYTES: &[u8] = b"!#$&'()*+-./:<=>?@[]^_`{|}~";

impl SetCookie<'_> {
    /// Appends the field's value.
    ///
    /// # Errors
    /// What a browser would drop; then nothing is appended.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), SetCookieError> {
        let start = out.len();
        let written = self.check().and_then(|()| self.write_checked(out));
        if written.is_err() {
            out.truncate(start);
        }
        written
    }

    fn check(&self) -> Result<(), SetCookieError> {
        if !is_token(self.name) {
            return Err(SetCookieError::Name);
        }
        if self.path.is_some_and(|path| !is_path(path)) {
            return Err(SetCookieError::Path);
        }
        if self.domain.is_some_and(|domain| !is_host_name(domain)) {
            return Err(SetCookieError::Domain);
        }
        let long = |value: Option<&[u8]>| value.is_some_and(|value| value.len() > ATTRIBUTE_BYTES_MAX);
        if long(self.path) || long(self.domain) {
            return Err(SetCookieError::TooLong);
        }
        if self.expires.is_some_and(|expires| expires > EXPIRES_MAX) {
            return Err(SetCookieError::Expires);
        }
        if self.partitioned && !self.secure {
            return Err(SetCookieError::PartitionedNeedsSecure);
        }
        if self.same_site == Some(SameSite::None) && !self.secure {
            return Err(SetCookieError::SameSiteNoneNeedsSecure);
        }
        // Browsers compare the prefixes without regard to case.
        if has_prefix(self.name, b"__Secure-") && !self.secure {
            return Err(SetCookieError::SecurePrefix);
        }
        let bound = self.secure && self.domain.is_none() && self.path == Some(b"/");
        if has_prefix(self.name, b"__Host-") && !bound {
            return Err(SetCookieError::HostPrefix);
        }
        Ok(())
    }

    fn write_checked(&self, out: &mut Vec<u8>) -> Result<(), SetCookieError> {
        let start = out.len();
        out.extend_from_slice(self.name);
        out.push(b'=');
        encode(self.value, VALUE_BYTES, out);
        if out.len() - start > PAIR_BYTES_MAX {
            return Err(SetCookieError::TooLong);
        }
        if let Some(max_age) = self.max_age {
            attribute(b"Max-Age", itoa::Buffer::new().format(max_age).as_bytes(), out);
        }
        if let Some(domain) = self.domain {
            attribute(b"Domain", domain, out);
        }
        if let Some(path) = self.path {
            attribute(b"Path", path, out);
        }
        if let Some(expires) = self.expires {
            let date = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(expires));
            attribute(b"Expires", date.as_bytes(), out);
        }
        for (set, name) in [
            (self.http_only, b"; HttpOnly".as_slice()),
            (self.secure, b"; Secure"),
            (self.partitioned, b"; Partitioned"),
        ] {
            if set {
                out.extend_from_slice(name);
            }
        }
        if let Some(same_site) = self.same_site {
            out.extend_from_slice(match same_site {
                SameSite::Strict => b"; SameSite=Strict",
                SameSite::Lax => b"; SameSite=Lax",
                SameSite::None => b"; SameSite=None",
            });
        }
        Ok(())
    }
}

fn attribute(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"; ");
    out.extend_from_slice(name);
    out.push(b'=');
    out.extend_from_slice(value);
}

fn has_prefix(name: &[u8], prefix: &[u8]) -> bool {
    name.get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

fn is_path(path: &[u8]) -> bool {
    path.first() == Some(&b'/') && path.iter().all(|&byte| (0x20..0x7f).contains(&byte) && byte != b';')
}

fn is_host_name(domain: &[u8]) -> bool {
    let name = domain.strip_prefix(b".").unwrap_or(domain);
    name.split(|&byte| byte == b'.')
        .all(|label| !label.is_empty() && label.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(cookie: &SetCookie<'_>) -> Result<String, SetCookieError> {
        let mut out = Vec::new();
        let result = cookie.write(&mut out);
        assert!(result.is_ok() || out.is_empty());
        result.map(|()| String::from_utf8(out).expect("ASCII"))
    }

    const PLAIN: SetCookie<'static> = SetCookie {
        name: b"a",
        value: b"1",
        path: None,
        domain: None,
        max_age: None,
        expires: None,
        secure: false,
        http_only: false,
        same_site: None,
        partitioned: false,
    };

    #[test]
    fn attributes() {
        assert_eq!(written(&PLAIN).as_deref(), Ok("a=1"));
        let full = SetCookie {
            value: b"x y;%\xc3\xa9\"",
            path: Some(b"/p"),
            domain: Some(b"sim.lan"),
            max_age: Some(-5),
            expires: Some(784_111_777),
            secure: true,
            http_only: true,
            same_site: Some(SameSite::None),
            partitioned: true,
            ..PLAIN
        };
        assert_eq!(
            written(&full).as_deref(),
            Ok("a=x%20y%3B%25%C3%A9%22; Max-Age=-5; Domain=sim.lan; Path=/p; \
                Expires=Sun, 06 Nov 1994 08:49:37 GMT; HttpOnly; Secure; Partitioned; SameSite=None")
        );
    }

    fn changed(change: fn(&mut SetCookie<'static>)) -> Result<String, SetCookieError> {
        let mut cookie = PLAIN;
        change(&mut cookie);
        written(&cookie)
    }

    fn bind(cookie: &mut SetCookie<'static>) {
        (cookie.name, cookie.secure) = (b"__Host-a", true);
        cookie.path = Some(b"/");
    }

    fn bind_elsewhere(cookie: &mut SetCookie<'static>) {
        bind(cookie);
        cookie.domain = Some(b"d");
    }

    #[test]
    fn refused() {
        use SetCookieError::*;
        type Row = (fn(&mut SetCookie<'static>), SetCookieError);
        let rows: [Row; 15] = [
            (|c| c.name = b"", Name),
            (|c| c.name = b"a b", Name),
            (|c| c.value = &[b'x'; 4096], TooLong),
            (|c| c.path = Some(&[b'/'; 1025]), TooLong),
            (|c| c.path = Some(b"p"), Path),
            (|c| c.path = Some(b"/;x"), Path),
            (|c| c.path = Some(b"/\r\n"), Path),
            (|c| c.domain = Some(b""), Domain),
            (|c| c.domain = Some(b"a;b"), Domain),
            (|c| c.expires = Some(EXPIRES_MAX + 1), Expires),
            (|c| c.partitioned = true, PartitionedNeedsSecure),
            (|c| c.same_site = Some(SameSite::None), SameSiteNoneNeedsSecure),
            (|c| c.name = b"__secure-a", SecurePrefix),
            (|c| (c.name, c.secure) = (b"__Host-a", true), HostPrefix),
            (bind_elsewhere, HostPrefix),
        ];
        for (at, (change, error)) in rows.into_iter().enumerate() {
            assert_eq!(changed(change), Err(error), "row {at}");
            assert!(!error.to_string().is_empty());
        }
        assert_eq!(changed(bind).as_deref(), Ok("__Host-a=1; Path=/; Secure"));
    }
}
