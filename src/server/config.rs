//! Every limit and budget of a server, with its default and the checks between them.
//!
//! Plain data: the binding fills it from Lua options, tests fill it by hand. Nothing here may be changed once a server
//! has been made from it.

use crate::h1;
use std::time::Duration;

/// Limits, budgets and time-outs of one server. Sizes are bytes unless said otherwise.
#[derive(Clone, Debug)]
pub struct Config {
    /// Connections served at once; above it the oldest silent one is evicted, or the new one gets 503.
    pub max_connections: usize,
    /// The same for one peer address; 0 = no limit.
    pub max_connections_per_address: usize,
    /// Request line and fields together: 431 above it.
    pub max_header_bytes: usize,
    /// Header fields of one request: 431 above it.
    pub max_headers: usize,
    /// Request target: 414 above it.
    pub max_target_bytes: usize,
    /// Request content after de-chunking: 413 above it.
    pub max_body_bytes: usize,
    /// Response content: a handler's longer answer becomes 500.
    pub max_response_bytes: usize,
    /// All request and response bytes held outside the Lua heap: 503 for what does not fit.
    pub max_buffered_bytes: usize,
    /// Requests on one connection, the last of which is answered with `Connection: close`; 0 = no limit.
    pub max_requests_per_connection: u32,
    /// From the first byte of a request to the end of its head, absolute: 408 after it.
    pub header_timeout: Duration,
    /// Without progress of a request body, and the window over which [`MIN_RATE`] is asked: 408 after it.
    pub body_timeout: Duration,
    /// Without any byte of a (next) request: closed in silence.
    pub keep_alive_timeout: Duration,
    /// Without progress of a response, and the window over which [`MIN_RATE`] is asked: closed.
    pub write_timeout: Duration,
    /// Of a request that is there but has not reached its handler: 503 after it.
    pub dispatch_timeout: Duration,
    /// Time budget of a turn.
    pub step_seconds: Duration,
    /// Connections accepted in one turn.
    pub max_accepts_per_step: usize,
    /// Handlers called in one turn; 0 = as many as fit the time.
    pub max_dispatches_per_step: usize,
    /// Bytes received and sent in one turn.
    pub max_io_bytes_per_step: usize,
    /// Bytes received, and bytes sent, in one visit of one connection.
    pub max_io_bytes_per_visit: usize,
    /// Which authorities requests may name.
    pub allowed_hosts: AllowedHosts,
    /// Which origins may send state-changing requests.
    pub allowed_origins: AllowedOrigins,
}

/// Authorities a request may name; others get 421, so that a page that rebinds its DNS name reaches nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowedHosts {
    /// Loopback names, IP literals and this name, which is what the server was bound to.
    Local { bound: String },
    /// These names only (without port, ASCII case-insensitive).
    List(Vec<String>),
    /// Any name.
    Any,
}

/// Origins that may send methods other than GET, HEAD and OPTIONS; others get 403.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowedOrigins {
    /// The origin whose authority is the one the request names.
    Same,
    /// The same, and these serialised origins (`https://example.org:8443`).
    List(Vec<String>),
    /// Any origin.
    Any,
}

/// Bytes per second that a body or a response has to move, averaged over its time-out. Low enough for a modem, high
/// enough that holding a connection costs its holder something.
pub const MIN_RATE: u64 = 64;

/// The parser's table of fields lies on the stack, so their number has an upper bound.
pub const MAX_HEADERS_BOUND: usize = h1::HEADERS_MAX;

impl Default for Config {
    fn default() -> Self {
        Self {
            max_connections: 1024,
            max_connections_per_address: 0,
            max_header_bytes: 16 * 1024,
            max_headers: 100,
            max_target_bytes: 8192,
            max_body_bytes: 1 << 20,
            max_response_bytes: 64 << 20,
            max_buffered_bytes: 64 << 20,
            max_requests_per_connection: 1000,
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            keep_alive_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(30),
            dispatch_timeout: Duration::from_secs(30),
            step_seconds: Duration::from_millis(2),
            max_accepts_per_step: 64,
            max_dispatches_per_step: 0,
            max_io_bytes_per_step: 4 << 20,
            max_io_bytes_per_visit: 64 << 10,
            allowed_hosts: AllowedHosts::Local {
                bound: String::from("127.0.0.1"),
            },
            allowed_origins: AllowedOrigins::Same,
        }
    }
}

/// An option that contradicts another one or its own bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The option's name as users type it.
    pub option: &'static str,
    /// A sentence that says what is wrong with it.
    pub message: String,
}

impl Config {
    /// Checks every bound and every relation between options.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        self.check_relations()
    }

    /// What the protocol core needs of it.
    pub fn h1_limits(&self) -> h1::Limits {
        h1::Limits {
            head_bytes_max: self.max_header_bytes,
            headers_max: self.max_headers,
            target_bytes_max: self.max_target_bytes,
            body_bytes_max: self.max_body_bytes,
        }
    }

    fn check_bounds(&self) -> Result<(), ConfigError> {
        let bounds = [
            // The slot number has to fit the poller's token beside the generation.
            ("max_connections", self.max_connections, 1, 1 << 20),
            (
                "max_connections_per_address",
                self.max_connections_per_address,
                0,
                1 << 20,
            ),
            ("max_header_bytes", self.max_header_bytes, 256, 1 << 20),
            ("max_headers", self.max_headers, 1, MAX_HEADERS_BOUND),
            ("max_target_bytes", self.max_target_bytes, 1, 1 << 20),
            // Positions in a connection's buffer are 32 bits wide.
            ("max_body_bytes", self.max_body_bytes, 0, 1 << 30),
            ("max_response_bytes", self.max_response_bytes, 0, 1 << 40),
            ("max_buffered_bytes", self.max_buffered_bytes, 64 << 10, 1 << 40),
            ("max_accepts_per_step", self.max_accepts_per_step, 1, 1 << 20),
            ("max_dispatches_per_step", self.max_dispatches_per_step, 0, 1 << 30),
            ("max_io_bytes_per_step", self.max_io_bytes_per_step, 1, 1 << 40),
            ("max_io_bytes_per_visit", self.max_io_bytes_per_visit, 1, 1 << 40),
        ];
        for (option, value, least, most) in bounds {
            if value < least || value > most {
                let message = format!("must be between {least} and {most}, got {value}");
                return Err(ConfigError { option, message });
            }
        }
        let times = [
            ("header_timeout", self.header_timeout),
            ("body_timeout", self.body_timeout),
            ("keep_alive_timeout", self.keep_alive_timeout),
            ("write_timeout", self.write_timeout),
            ("dispatch_timeout", self.dispatch_timeout),
        ];
        for (option, value) in times {
            if value.is_zero() || value > TIMEOUT_MAX {
                let message = format!("must be above 0 and at most {} seconds", TIMEOUT_MAX.as_secs());
                return Err(ConfigError { option, message });
            }
        }
        if self.step_seconds > TIMEOUT_MAX {
            let message = format!("must be at most {} seconds", TIMEOUT_MAX.as_secs());
            return Err(ConfigError {
                option: "step_seconds",
                message,
            });
        }
        Ok(())
    }

    fn check_relations(&self) -> Result<(), ConfigError> {
        let pairs = [
            // A request has to fit the pool whole, with the doubling of its buffer.
            (
                "max_body_bytes",
                self.max_body_bytes,
                "max_buffered_bytes",
                self.max_buffered_bytes,
            ),
            (
                "max_header_bytes",
                self.max_header_bytes,
                "max_buffered_bytes",
                self.max_buffered_bytes,
            ),
            (
                "max_target_bytes",
                self.max_target_bytes,
                "max_header_bytes",
                self.max_header_bytes,
            ),
            (
                "max_io_bytes_per_visit",
                self.max_io_bytes_per_visit,
                "max_io_bytes_per_step",
                self.max_io_bytes_per_step,
            ),
            (
                "max_connections_per_address",
                self.max_connections_per_address,
                "max_connections",
                self.max_connections,
            ),
        ];
        for (option, value, of, most) in pairs {
            if value > most {
                let message = format!("is {value}, more than {of} ({most})");
                return Err(ConfigError { option, message });
            }
        }
        Ok(())
    }
}

/// Longest time-out: a day. More is a mistake in units.
const TIMEOUT_MAX: Duration = Duration::from_secs(86_400);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_consistent() {
        assert_eq!(Config::default().check(), Ok(()));
    }

    #[test]
    fn each_contradiction_names_its_option() {
        type Spoil = fn(&mut Config);
        let rows: [(&str, Spoil); 8] = [
            ("max_body_bytes", |c| c.max_body_bytes = c.max_buffered_bytes + 1),
            ("max_target_bytes", |c| c.max_target_bytes = c.max_header_bytes + 1),
            ("max_connections", |c| c.max_connections = 0),
            ("max_headers", |c| c.max_headers = MAX_HEADERS_BOUND + 1),
            ("header_timeout", |c| c.header_timeout = Duration::ZERO),
            ("step_seconds", |c| c.step_seconds = Duration::from_secs(100_000)),
            ("max_io_bytes_per_visit", |c| {
                c.max_io_bytes_per_visit = c.max_io_bytes_per_step + 1
            }),
            ("max_connections_per_address", |c| {
                c.max_connections_per_address = c.max_connections + 1
            }),
        ];
        for (option, spoil) in rows {
            let mut config = Config::default();
            spoil(&mut config);
            assert_eq!(config.check().map_err(|e| e.option), Err(option));
        }
    }
}
