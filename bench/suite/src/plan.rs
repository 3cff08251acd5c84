//! What is measured: scenarios, variants, and which of them go together.

use std::path::PathBuf;

use crate::process::installed;

/// Frames of the hosts with a loop of their own.
pub const FRAME_SECONDS: f64 = 1.0 / 60.0;

/// How a server is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launch {
    /// bench/host.lua with that `server=`, under that Lua.
    Host {
        server: &'static str,
        lua: &'static str,
    },
    Floor,
    Native,
    Nginx,
    Node,
    LuaHttp,
}

#[derive(Clone, Debug)]
pub struct Variant {
    pub name: String,
    pub launch: Launch,
    pub profile: &'static str,
    /// The fastslua that it has to load, where it loads one.
    pub library: PathBuf,
}

/// What clients do to a server.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    pub name: &'static str,
    /// A host with sixty frames a second; otherwise as fast as it can.
    pub frames: bool,
    pub target: &'static str,
    /// The healthy clients first.
    pub clients: &'static [&'static str],
    /// At least so long, since some clients take their time.
    pub seconds_min: f64,
    /// The host collects garbage between steps, so that its heap is what it holds; its step times are not compared.
    pub collects: bool,
}

const fn capacity(name: &'static str, target: &'static str, clients: &'static [&'static str]) -> Scenario {
    Scenario {
        name,
        frames: false,
        target,
        clients,
        seconds_min: 0.0,
        collects: false,
    }
}

const fn frame(name: &'static str, seconds_min: f64, clients: &'static [&'static str]) -> Scenario {
    Scenario {
        name,
        frames: true,
        target: "unit",
        clients,
        seconds_min,
        collects: false,
    }
}

pub const SCENARIOS: &[Scenario] = &[
    capacity("capacity", "health", &["close=64"]),
    capacity("capacity-keep-alive", "health", &["keep_alive=64"]),
    capacity("capacity-pipelined", "health", &["pipelined=64"]),
    capacity("capacity-json", "unit", &["keep_alive=64"]),
    frame("frame-healthy", 0.0, &["close=16"]),
    frame("frame-idle", 0.0, &["close=16", "idle=64"]),
    frame("frame-slowloris", 0.0, &["close=16", "slowloris=32"]),
    // A slow reader needs three seconds for its pause alone.
    frame("frame-slow-readers", 4.5, &["close=16", "slow_reader=4"]),
    frame("frame-fragmented", 0.0, &["close=16", "fragmented=8"]),
    frame("frame-healthy-keep-alive", 0.0, &["keep_alive=16"]),
    frame("frame-idle-keep-alive", 0.0, &["keep_alive=16", "idle=64"]),
    frame("frame-slowloris-keep-alive", 0.0, &["keep_alive=16", "slowloris=32"]),
    frame(
        "frame-slow-readers-keep-alive",
        4.5,
        &["keep_alive=16", "slow_reader=4"],
    ),
    frame("frame-fragmented-keep-alive", 0.0, &["keep_alive=16", "fragmented=8"]),
    Scenario {
        collects: true,
        ..frame("heap-slow-readers", 4.5, &["close=16", "slow_reader=4"])
    },
    Scenario {
        collects: true,
        ..frame("soak", 0.0, SOAK)
    },
];

const SOAK: &[&str] = &[
    "close=8",
    "keep_alive=8",
    "idle=32",
    "slowloris=16",
    "slow_reader=4",
    "fragmented=4",
];

impl Scenario {
    pub fn has_slow_readers(&self) -> bool {
        self.clients.iter().any(|clients| clients.starts_with("slow_reader"))
    }

    pub fn is_soak(&self) -> bool {
        self.name == "soak"
    }

    /// The plain-Lua server closes after each answer.
    fn is_persistent(&self) -> bool {
        self.clients[0].starts_with("keep_alive") || self.clients[0].starts_with("pipelined") || self.is_soak()
    }
}

impl Variant {
    fn new(name: &str, launch: Launch, profile: &'static str) -> Self {
        Self {
            name: name.to_owned(),
            launch,
            profile,
            library: PathBuf::from("build/fastslua.so"),
        }
    }

    pub fn is_fastslua(&self) -> bool {
        matches!(
            self.launch,
            Launch::Host {
                server: "app" | "low",
                ..
            }
        )
    }

    fn is_plain(&self) -> bool {
        matches!(self.launch, Launch::Host { server: "plain", .. })
    }

    /// Whether this variant takes part in `scenario`.
    pub fn fits(&self, scenario: &Scenario) -> bool {
        if self.is_plain() && scenario.is_persistent() {
            return false;
        }
        match self.launch {
            Launch::Host { .. } if scenario.name == "heap-slow-readers" => {
                ["app", "plain", "baseline"].contains(&self.name.as_str())
            }
            Launch::Host { server, lua } if scenario.frames => {
                let only_healthy = server == "low" || lua == "luajit";
                let in_soak = server == "app" && lua == "lua5.1" && self.profile == "tuned";
                if scenario.is_soak() {
                    in_soak
                } else {
                    !only_healthy || scenario.name.starts_with("frame-healthy")
                }
            }
            // In capacity scenarios the profiles are one: as many requests on a connection as anybody allows.
            Launch::Host { .. } => self.profile == "default",
            Launch::Floor | Launch::Native | Launch::Nginx => !scenario.frames && scenario.target == "health",
            Launch::Node | Launch::LuaHttp => !scenario.frames,
        }
    }
}

/// All variants that can run on this machine; what cannot is told in `notes`.
pub fn variants(notes: &mut Vec<String>) -> Vec<Variant> {
    let host = |server, lua| Launch::Host { server, lua };
    let mut variants = vec![
        Variant::new("floor", Launch::Floor, "default"),
        Variant::new("native", Launch::Native, "default"),
        Variant::new("app", host("app", "lua5.1"), "default"),
        Variant::new("app-tuned", host("app", "lua5.1"), "tuned"),
        Variant::new("low", host("low", "lua5.1"), "default"),
        Variant::new("plain", host("plain", "lua5.1"), "default"),
        Variant::new("plain-tuned", host("plain", "lua5.1"), "tuned"),
    ];
    let has_lua_http = || crate::process::output_of(&["lua5.1", "-e", "require('http.server')"]).is_some();
    for (name, launch, here) in [
        ("app-luajit", host("app", "luajit"), installed("luajit").is_some()),
        ("nginx", Launch::Nginx, installed("nginx").is_some()),
        ("node", Launch::Node, installed("node").is_some()),
        ("lua-http", Launch::LuaHttp, has_lua_http()),
    ] {
        if here {
            variants.push(Variant::new(name, launch, "default"));
        } else {
            notes.push(format!("{name}: not installed, left out"));
        }
    }
    variants
}

/// What `--quick` leaves out.
pub fn is_quick(variant: &Variant, scenario: &Scenario) -> bool {
    let few = ["floor", "app", "plain", "nginx", "baseline"].contains(&variant.name.as_str());
    scenario.is_soak() || few || (variant.name == "native" && scenario.name == "capacity-keep-alive")
}

#[cfg(test)]
mod tests {
    use super::{SCENARIOS, variants};

    #[test]
    fn every_scenario_has_a_variant_and_the_plain_server_no_persistent_one() {
        let variants = variants(&mut Vec::new());
        for scenario in SCENARIOS {
            assert!(
                variants.iter().any(|variant| variant.fits(scenario)),
                "{}",
                scenario.name
            );
        }
        let plain = variants.iter().find(|variant| variant.name == "plain").unwrap();
        let names: Vec<&str> = SCENARIOS.iter().filter(|s| plain.fits(s)).map(|s| s.name).collect();
        assert_eq!(names.len(), 7, "{names:?}");
    }
}
