//! The processes that are measured: started on a core of their own, asked for their address and memory, and ended.
//!
//! It may assume Linux's /proc. It must never leave a process behind: dropping one ends it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::Outcome;

/// Where a process runs, so that server and clients do not take turns on one core.
#[derive(Clone, Copy)]
pub enum Core {
    Server,
    Clients,
}

/// A child with its output read by lines.
pub struct Process {
    child: Child,
    input: Option<ChildStdin>,
    lines: BufReader<ChildStdout>,
}

impl Process {
    /// Starts `words` with as many descriptors as the system allows; `cpath` is where Lua finds native modules.
    pub fn start(words: &[&str], core: Core, cpath: &str) -> Outcome<Self> {
        let mut command = Command::new("sh");
        command
            .args(["-c", "ulimit -n $(ulimit -H -n) && exec \"$0\" \"$@\""])
            .args(pinning(core))
            .args(words)
            .env("LUA_CPATH", cpath)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", words[0]))?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or("a child without output")?;
        Ok(Self {
            child,
            input,
            lines: BufReader::new(output),
        })
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line of its output; an end is an error.
    pub fn line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        if self.lines.read_line(&mut line)? == 0 {
            return Err("a process ended early".into());
        }
        Ok(line.trim_end().to_owned())
    }

    pub fn tell(&mut self, line: &str) -> Outcome<()> {
        let input = self.input.as_mut().ok_or("its input is closed")?;
        writeln!(input, "{line}")?;
        Ok(input.flush()?)
    }

    /// Ends its input and waits until it has ended by itself.
    pub fn finish(mut self) -> Outcome<()> {
        drop(self.input.take());
        self.child.wait()?;
        Ok(())
    }

    /// The address in its next line, as `127.0.0.1:8080`.
    pub fn address(&mut self) -> Outcome<String> {
        let line = self.line()?;
        let address = line
            .split("http://")
            .nth(1)
            .ok_or_else(|| format!("no address in: {line}"))?;
        Ok(address.to_owned())
    }

    /// The figure of that name in /proc/PID/status, in KiB.
    pub fn status_kib(&self, name: &str) -> Option<f64> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.id())).ok()?;
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.split_whitespace().next()?.parse().ok()
    }

    /// An error unless the fastslua that it has loaded is the file `library` and no other.
    pub fn check_library(&self, library: &Path) -> Outcome<()> {
        let expected = fs::canonicalize(library)?;
        let maps = fs::read_to_string(format!("/proc/{}/maps", self.id()))?;
        let mut loaded: Vec<&str> = maps
            .lines()
            .filter_map(|line| line.find('/').map(|at| &line[at..]))
            .filter(|path| path.contains("fastslua.so"))
            .collect();
        loaded.dedup();
        if loaded.len() == 1 && Path::new(loaded[0]) == expected {
            return Ok(());
        }
        Err(format!("{} was to be measured, but loaded is {loaded:?}", expected.display()).into())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already; then there is nobody to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The words that put a command on its core; none where there is one core or no taskset.
fn pinning(core: Core) -> Vec<String> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    match (installed("taskset"), core) {
        (Some(taskset), _) if cores > 1 => {
            let number = if matches!(core, Core::Server) {
                cores - 1
            } else {
                cores - 2
            };
            vec![taskset, "-c".to_owned(), number.to_string()]
        }
        _ => Vec::new(),
    }
}

/// A tool that is built beside this one.
pub fn sibling(name: &str) -> Outcome<String> {
    let path = std::env::current_exe()?.with_file_name(name);
    if !path.exists() {
        return Err(format!("{} is not built: make bench builds it", path.display()).into());
    }
    Ok(path.to_string_lossy().into_owned())
}

/// Where `command` lies, in PATH or where Debian keeps servers.
pub fn installed(command: &str) -> Option<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    folders
        .map(|folder| folder.join(command))
        .find(|file| file.is_file())
        .map(|file| file.to_string_lossy().into_owned())
}

/// What a command prints, trimmed; `None` where it cannot be run or fails.
pub fn output_of(words: &[&str]) -> Option<String> {
    let output = Command::new(words[0]).args(&words[1..]).output().ok()?;
    let said = if output.stdout.is_empty() {
        output.stderr
    } else {
        output.stdout
    };
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&said).trim().to_owned())
}

/// Waits until something listens there.
pub fn wait_for(address: &str) -> Outcome<()> {
    for _ in 0..100 {
        if TcpStream::connect(address).is_ok() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err(format!("nothing listens on {address}").into())
}

/// Asks a host of bench/host.lua to end.
pub fn ask_to_finish(address: &str) -> Outcome<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.write_all(b"GET /finish HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    if answer.starts_with("HTTP/1.1 200 ") {
        return Ok(());
    }
    Err(format!("/finish was answered: {answer}").into())
}
