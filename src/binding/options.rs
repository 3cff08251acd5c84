//! The options of `listen`: names, kinds, bounds, and the draft of a server they make.
//!
//! Plain Rust: the raw layer reads the Lua table one entry after another and hands the values here. Every message names
//! the option. Nothing is bound before all options were taken and checked together.

use super::origin::{Proxies, ProxyHeader};
use crate::server::{AllowedHosts, AllowedOrigins, Config};
use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

/// An option's value as Lua gave it.
#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    Number(f64),
    Text(&'a [u8]),
    /// A table; its items come one by one through [`Draft::push_item`].
    List,
    Function,
    Flag(bool),
    /// Anything else, by the name of its type.
    Other(&'static str),
}

impl Value<'_> {
    fn type_name(&self) -> &'static str {
        match self {
            Value::Number(_) => "number",
            Value::Text(_) => "string",
            Value::List => "table",
            Value::Function => "function",
            Value::Flag(_) => "boolean",
            Value::Other(name) => name,
        }
    }
}

/// What becomes of a value that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Whole,
    /// A list: its items are expected.
    Items,
    /// A function, to be kept in this place by the raw layer.
    Callback(Callback),
}

/// Functions among the options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Callback {
    OnError,
    OnLog,
    AccessLog,
}

/// How an option is read into a configuration.
enum Kind {
    /// A whole number of something, from 0.
    Count(fn(&mut Config) -> &mut usize),
    Count32(fn(&mut Config) -> &mut u32),
    Seconds(fn(&mut Config) -> &mut Duration),
    Host,
    Port,
    Backlog,
    Hosts,
    Origins,
    TrustedProxies,
    ProxyHeader,
    Etag,
    Function(Callback),
}

/// Every option, in the order of the documentation.
const OPTIONS: [(&str, Kind); 30] = [
    ("host", Kind::Host),
    ("port", Kind::Port),
    ("backlog", Kind::Backlog),
    ("max_connections", Kind::Count(|c| &mut c.max_connections)),
    (
        "max_connections_per_address",
        Kind::Count(|c| &mut c.max_connections_per_address),
    ),
    ("max_header_bytes", Kind::Count(|c| &mut c.max_header_bytes)),
    ("max_headers", Kind::Count(|c| &mut c.max_headers)),
    ("max_target_bytes", Kind::Count(|c| &mut c.max_target_bytes)),
    ("max_body_bytes", Kind::Count(|c| &mut c.max_body_bytes)),
    ("max_response_bytes", Kind::Count(|c| &mut c.max_response_bytes)),
    ("max_buffered_bytes", Kind::Count(|c| &mut c.max_buffered_bytes)),
    (
        "max_requests_per_connection",
        Kind::Count32(|c| &mut c.max_requests_per_connection),
    ),
    ("header_timeout", Kind::Seconds(|c| &mut c.header_timeout)),
    ("body_timeout", Kind::Seconds(|c| &mut c.body_timeout)),
    ("keep_alive_timeout", Kind::Seconds(|c| &mut c.keep_alive_timeout)),
    ("write_timeout", Kind::Seconds(|c| &mut c.write_timeout)),
    ("dispatch_timeout", Kind::Seconds(|c| &mut c.dispatch_timeout)),
    ("step_seconds", Kind::Seconds(|c| &mut c.step_seconds)),
    ("max_accepts_per_step", Kind::Count(|c| &mut c.max_accepts_per_step)),
    (
        "max_dispatches_per_step",
        Kind::Count(|c| &mut c.max_dispatches_per_step),
    ),
    ("max_io_bytes_per_step", Kind::Count(|c| &mut c.max_io_bytes_per_step)),
    ("max_io_bytes_per_visit", Kind::Count(|c| &mut c.max_io_bytes_per_visit)),
    ("allowed_hosts", Kind::Hosts),
    ("allowed_origins", Kind::Origins),
    ("trusted_proxies", Kind::TrustedProxies),
    ("proxy_header", Kind::ProxyHeader),
    ("etag", Kind::Etag),
    ("on_error", Kind::Function(Callback::OnError)),
    ("on_log", Kind::Function(Callback::OnLog)),
    ("access_log", Kind::Function(Callback::AccessLog)),
];

/// Connections that the system keeps until they are accepted.
const BACKLOG_DEFAULT: i32 = 512;

/// A server in the making.
pub(super) struct Draft {
    pub(super) config: Config,
    pub(super) backlog: i32,
    pub(super) proxies: Proxies,
    pub(super) etag: bool,
    host: String,
    port: Option<u16>,
}

impl Draft {
    pub(super) fn new() -> Self {
        Self {
            config: Config::default(),
            backlog: BACKLOG_DEFAULT,
            proxies: Proxies::default(),
            etag: true,
            host: String::from("127.0.0.1"),
            port: None,
        }
    }

    /// Takes one option, or writes why not.
    pub(super) fn take(&mut self, name: &[u8], value: Value<'_>, fault: &mut impl Write) -> Option<Taken> {
        let Some((name, kind)) = OPTIONS.iter().find(|(known, _)| known.as_bytes() == name) else {
            let _ = write!(
                fault,
                "unknown option '{}'",
                String::from_utf8_lossy(name).escape_debug()
            );
            return None;
        };
        match self.apply(kind, value) {
            Ok(taken) => Some(taken),
            Err(reason) => {
                let _ = write!(fault, "option '{name}' {reason}");
                None
            }
        }
    }

    fn apply(&mut self, kind: &Kind, value: Value<'_>) -> Result<Taken, String> {
        match kind {
            Kind::Count(field) => *field(&mut self.config) = whole(value, usize::MAX as f64)? as usize,
            Kind::Count32(field) => *field(&mut self.config) = whole(value, f64::from(u32::MAX))? as u32,
            Kind::Seconds(field) => *field(&mut self.config) = seconds(value)?,
            Kind::Backlog => self.backlog = whole(value, f64::from(i32::MAX))? as i32,
            Kind::Port => self.port = Some(whole(value, 65535.0)? as u16),
            Kind::Host => self.host = text(value)?,
            Kind::Hosts => match value {
                Value::Text(b"*") => self.config.allowed_hosts = AllowedHosts::Any,
                Value::List => {
                    self.config.allowed_hosts = AllowedHosts::List(Vec::new());
                    return Ok(Taken::Items);
                }
                other => return Err(list_wanted(other)),
            },
            Kind::Origins => match value {
                Value::Text(b"*") => self.config.allowed_origins = AllowedOrigins::Any,
                Value::List => {
                    self.config.allowed_origins = AllowedOrigins::List(Vec::new());
                    return Ok(Taken::Items);
                }
                other => return Err(list_wanted(other)),
            },
            Kind::TrustedProxies => match value {
                Value::List => return Ok(Taken::Items),
                other => return Err(format!("must be a list of strings, got a {}", other.type_name())),
            },
            Kind::ProxyHeader => {
                self.proxies.header = match text(value)?.to_ascii_lowercase().as_str() {
                    "x-forwarded" => ProxyHeader::XForwarded,
                    "forwarded" => ProxyHeader::Forwarded,
                    other => {
                        return Err(format!(
                            "must be 'x-forwarded' or 'forwarded', got '{}'",
                            other.escape_debug()
                        ));
                    }
                }
            }
            Kind::Etag => match value {
                Value::Flag(flag) => self.etag = flag,
                other => return Err(format!("must be true or false, got a {}", other.type_name())),
            },
            Kind::Function(callback) => match value {
                Value::Function => return Ok(Taken::Callback(*callback)),
                other => return Err(format!("must be a function, got a {}", other.type_name())),
            },
        }
        Ok(Taken::Whole)
    }

    /// Takes the next item of the list option called `name`.
    pub(super) fn push_item(&mut self, name: &[u8], item: &[u8], fault: &mut impl Write) -> bool {
        let Ok(item) = std::str::from_utf8(item) else {
            let _ = write!(
                fault,
                "option '{}' holds a name that is not UTF-8",
                String::from_utf8_lossy(name)
            );
            return false;
        };
        if item.is_empty() || !item.bytes().all(|byte| byte.is_ascii_graphic()) {
            let _ = write!(
                fault,
                "option '{}' holds '{}', which is no name of a host, an origin or a network",
                String::from_utf8_lossy(name),
                item.escape_debug()
            );
            return false;
        }
        if name == b"trusted_proxies" {
            if !self.proxies.trusted.add(item) {
                let item = item.escape_debug();
                let _ = write!(
                    fault,
                    "option 'trusted_proxies' holds '{item}', which is no address, no network, and not 'loopback' or 'private'"
                );
                return false;
            }
        } else if name == b"allowed_hosts" {
            if let AllowedHosts::List(hosts) = &mut self.config.allowed_hosts {
                hosts.push(item.to_ascii_lowercase());
            }
        } else if let AllowedOrigins::List(origins) = &mut self.config.allowed_origins {
            origins.push(item.to_ascii_lowercase());
        }
        true
    }

    /// Checks everything together; the address to bind, or the reason why not is written.
    pub(super) fn finish(&mut self, fault: &mut impl Write) -> Option<SocketAddr> {
        let Some(port) = self.port else {
            let _ = fault.write_str("option 'port' is required (0 lets the system choose)");
            return None;
        };
        if let Err(error) = self.config.check() {
            let _ = write!(fault, "option '{}' {}", error.option, error.message);
            return None;
        }
        let Some(ip) = ip_of(&self.host) else {
            let host = self.host.escape_debug();
            let _ = write!(
                fault,
                "option 'host' must be an IP address, 'localhost' or '*', got '{host}'"
            );
            return None;
        };
        if let AllowedHosts::Local { bound } = &mut self.config.allowed_hosts {
            *bound = self.host.to_ascii_lowercase();
        }
        Some(SocketAddr::new(ip, port))
    }
}

/// An address to bind. Names are not looked up: that would make the host wait.
fn ip_of(host: &str) -> Option<IpAddr> {
    match host {
        "*" => Some(Ipv4Addr::UNSPECIFIED.into()),
        host if host.eq_ignore_ascii_case("localhost") => Some(Ipv4Addr::LOCALHOST.into()),
        host => host
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .unwrap_or(host)
            .parse()
            .ok(),
    }
}

fn number(value: Value<'_>, wanted: &str) -> Result<f64, String> {
    match value {
        Value::Number(number) if number.is_nan() => Err(format!("must be {wanted}, got NaN")),
        Value::Number(number) => Ok(number),
        other => Err(format!("must be {wanted}, got a {}", other.type_name())),
    }
}

fn whole(value: Value<'_>, most: f64) -> Result<f64, String> {
    let number = number(value, "a whole number")?;
    if number.is_infinite() || number.fract() != 0.0 || number < 0.0 {
        return Err(format!("must be a whole number from 0, got {number}"));
    }
    // 2^53: above it Lua's numbers are no longer exact.
    let most = most.min(9_007_199_254_740_992.0);
    if number > most {
        return Err(format!("must be at most {most}, got {number}"));
    }
    Ok(number)
}

/// Longest duration, so that adding it to any time is exact: a century is a mistake in units.
const SECONDS_MAX: f64 = 1e9;

/// A duration in seconds.
pub(super) fn seconds(value: Value<'_>) -> Result<Duration, String> {
    let number = number(value, "a number of seconds")?;
    if !(0.0..=SECONDS_MAX).contains(&number) {
        return Err(format!(
            "must be a number of seconds from 0 to {SECONDS_MAX}, got {number}"
        ));
    }
    Ok(Duration::from_secs_f64(number))
}

fn text(value: Value<'_>) -> Result<String, String> {
    match value {
        Value::Text(bytes) => Ok(String::from_utf8_lossy(bytes).into_owned()),
        other => Err(format!("must be a string, got a {}", other.type_name())),
    }
}

fn list_wanted(value: Value<'_>) -> String {
    match value {
        Value::Text(_) => String::from("must be a list of strings or '*'"),
        other => format!("must be a list of strings or '*', got a {}", other.type_name()),
    }
}
