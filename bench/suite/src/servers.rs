//! Starts what is measured, each on a port that the system chooses.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use crate::Outcome;
use crate::plan::{Launch, Scenario, Variant};
use crate::process::{Core, Process, installed, sibling, wait_for};

/// A server that listens.
pub struct Server {
    pub process: Process,
    pub address: String,
    /// Where a host with frames takes the marks of the measured window.
    pub marks: Option<String>,
}

/// Starts `variant` as `scenario` needs it. `extra`: more words for bench/host.lua.
pub fn start(variant: &Variant, scenario: &Scenario, extra: &[&str]) -> Outcome<Server> {
    match variant.launch {
        Launch::Host { server, lua } => start_host(variant, server, lua, scenario, extra),
        Launch::Floor => start_plainly(&[&sibling("floor")?]),
        Launch::Native => start_plainly(&[&sibling("native")?]),
        Launch::Node => start_plainly(&["node", "bench/node.js"]),
        Launch::LuaHttp => start_plainly(&["lua5.1", "bench/lua_http.lua"]),
        Launch::Nginx => start_nginx(),
    }
}

/// Where Lua finds that library: as `?.so` in its folder, and nowhere else before the system's places.
pub fn cpath(library: &Path) -> String {
    format!("{}/?.so;;", library.parent().unwrap_or(Path::new(".")).display())
}

fn start_host(variant: &Variant, server: &str, lua: &str, scenario: &Scenario, extra: &[&str]) -> Outcome<Server> {
    let profile = if scenario.frames { variant.profile } else { "capacity" };
    let (server, profile) = (format!("server={server}"), format!("profile={profile}"));
    let turn = if scenario.frames { "loop=frames" } else { "loop=run" };
    let words: Vec<&str> = [lua, "bench/host.lua", &server, &profile, turn]
        .into_iter()
        .chain(scenario.has_slow_readers().then_some("big=yes"))
        .chain(scenario.collects.then_some("collect=yes"))
        .chain(extra.iter().copied())
        .collect();
    let mut process = Process::start(&words, Core::Server, &cpath(&variant.library))?;
    let address = process.address()?;
    let marks = if scenario.frames {
        Some(process.address()?)
    } else {
        None
    };
    if variant.is_fastslua() {
        process.check_library(&variant.library)?;
    }
    Ok(Server {
        process,
        address,
        marks,
    })
}

fn start_plainly(words: &[&str]) -> Outcome<Server> {
    let mut process = Process::start(words, Core::Server, ";;")?;
    let address = process.address()?;
    Ok(Server {
        process,
        address,
        marks: None,
    })
}

/// One process that answers by itself, with the same 200. nginx cannot tell a port it chose, so one is chosen for it.
fn start_nginx() -> Outcome<Server> {
    let nginx = installed("nginx").ok_or("nginx is not installed")?;
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let folder = fs::canonicalize("build")?.join("nginx");
    fs::create_dir_all(&folder)?;
    let config = folder.join("nginx.conf");
    fs::write(
        &config,
        fs::read_to_string("bench/nginx.conf")?.replace("PORT", &port.to_string()),
    )?;
    let (folder, config) = (folder.to_string_lossy(), config.to_string_lossy());
    let words = [nginx.as_str(), "-e", "stderr", "-p", &folder, "-c", &config];
    let process = Process::start(&words, Core::Server, ";;")?;
    let address = format!("127.0.0.1:{port}");
    wait_for(&address)?;
    Ok(Server {
        process,
        address,
        marks: None,
    })
}
