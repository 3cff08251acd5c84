//! What one seed is about: limits, faults, and who comes to visit.
//!
//! Half of the seeds are calm: generous limits under the same network faults, and every request of a sound client has to be
//! answered. The others draw limits that hurt, slow handlers and a host that closes the server half-way.

use std::time::Duration;

use fastslua::server::Config;
use fastslua::testing::{Faults, Random};

use crate::script::{self, Script};

/// The time between two turns, unless the host sleeps in the poller.
pub const FRAME: Duration = Duration::from_micros(16_667);

/// Everything a run needs besides the code under test.
pub struct Plan {
    pub calm: bool,
    pub config: Config,
    pub faults: Faults,
    /// The network claims that short receives drain.
    pub drains: bool,
    /// The host sleeps in the poller as long as the server allows, instead of coming by once a frame.
    pub sleeps: bool,
    /// Most that one handler costs, in microseconds.
    pub handler_micros: usize,
    /// Handlers may leave a request to its fate.
    pub careless: bool,
    /// The handler of this request closes (or shuts down) the server.
    pub closes_at: Option<(usize, bool)>,
    pub scripts: Vec<Script>,
}

impl Plan {
    pub fn draw(seed: u64) -> Plan {
        let mut random = Random::new(seed);
        let calm = random.chance(50);
        let mut faults = Faults::draw(&mut random);
        let drains = random.chance(50);
        if drains {
            (faults.strict, faults.short_recv) = (false, 0);
        }
        if calm {
            faults.accept_fails = 0;
        }
        let config = if calm {
            calm_limits(&mut random)
        } else {
            harsh_limits(&mut random)
        };
        config.check().expect("a draw of limits that may be used");
        let count = random.between(1, if calm { 10 } else { 16 });
        let scripts = (0..count)
            .map(|client| script::draw(client, &config, &mut random))
            .collect();
        let closes_at = (!calm && random.chance(20)).then(|| (random.between(1, 20), random.chance(50)));
        Plan {
            calm,
            config,
            faults,
            drains,
            sleeps: random.chance(50),
            handler_micros: *random.pick(if calm { &[0, 20, 500] } else { &[0, 500, 5_000, 400_000] }),
            careless: !calm && random.chance(50),
            closes_at,
            scripts,
        }
    }
}

fn calm_limits(random: &mut Random) -> Config {
    Config {
        step_seconds: Duration::from_micros(*random.pick(&[200, 2_000, 5_000])),
        max_io_bytes_per_visit: *random.pick(&[4 << 10, 64 << 10, 256 << 10]),
        max_accepts_per_step: *random.pick(&[1, 64]),
        max_dispatches_per_step: *random.pick(&[0, 0, 1, 3]),
        ..Config::default()
    }
}

/// Limits that hurt: each is drawn from its least sensible value up to its default.
fn harsh_limits(random: &mut Random) -> Config {
    let defaults = Config::default();
    let millis = |random: &mut Random, choices: &[u64]| Duration::from_millis(*random.pick(choices));
    let max_io_bytes_per_step = *random.pick(&[100, 5_000, 4 << 20]);
    let max_buffered_bytes = *random.pick(&[64 << 10, 256 << 10, 64 << 20]);
    let max_header_bytes = *random.pick(&[512, 4096, 16 << 10]);
    let max_connections = *random.pick(&[1, 2, 4, 1024]);
    Config {
        max_connections,
        max_connections_per_address: *random.pick(&[0, 0, 1]),
        max_header_bytes,
        max_headers: *random.pick(&[4, 16, 100]),
        max_target_bytes: *random.pick(&[64, 512]),
        max_body_bytes: *random.pick(&[0, 100, 20_000, 64 << 10]),
        max_response_bytes: *random.pick(&[100, 100_000, defaults.max_response_bytes]),
        max_buffered_bytes,
        max_requests_per_connection: *random.pick(&[0, 1, 2, 1000]),
        header_timeout: millis(random, &[50, 1_000, 10_000]),
        body_timeout: millis(random, &[50, 1_000, 30_000]),
        keep_alive_timeout: millis(random, &[50, 1_000, 60_000]),
        write_timeout: millis(random, &[50, 1_000, 30_000]),
        dispatch_timeout: millis(random, &[5, 1_000, 30_000]),
        step_seconds: Duration::from_micros(*random.pick(&[0, 1, 50, 2_000])),
        max_accepts_per_step: *random.pick(&[1, 2, 64]),
        max_dispatches_per_step: *random.pick(&[0, 1, 2]),
        max_io_bytes_per_step,
        max_io_bytes_per_visit: (*random.pick(&[17, 1000, 256 << 10])).min(max_io_bytes_per_step),
        ..defaults
    }
}
