//! The processes that are measured: started, asked for their address and their CPU time, and ended.
//!
//! It may assume Linux's /proc. It must never leave a process behind: dropping one ends it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::Outcome;

/// The unit of utime and stime in /proc/PID/stat: USER_HZ, which is 100 on every Linux that Rust runs on.
const TICKS_PER_SECOND: f64 = 100.0;

/// A child with its output read by lines.
pub struct Process {
    child: Child,
    input: Option<ChildStdin>,
    lines: BufReader<ChildStdout>,
}

impl Process {
    /// Starts `words`, with as many descriptors as the system allows.
    pub fn start(words: &[&str]) -> Outcome<Self> {
        let mut command = Command::new("sh");
        command
            .args(["-c", "ulimit -n $(ulimit -H -n) && exec \"$0\" \"$@\""])
            .args(words);
        command
            .env("LUA_CPATH", "build/?.so;;")
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

    /// The address in its first line, as `127.0.0.1:8080`.
    pub fn address(&mut self) -> Outcome<String> {
        let line = self.line()?;
        let address = line
            .split("http://")
            .nth(1)
            .ok_or_else(|| format!("no address in: {line}"))?;
        Ok(address.to_owned())
    }

    /// CPU time in user and system mode since it started, in seconds.
    pub fn cpu_seconds(&self) -> Outcome<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The second field is a name in parentheses that may hold blanks.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok());
        let (user, system) = ticks(11).zip(ticks(12)).ok_or("an unknown /proc/PID/stat")?;
        Ok((user + system) / TICKS_PER_SECOND)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already; then there is nobody to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A tool that is built beside this one.
pub fn sibling(name: &str) -> Outcome<String> {
    let path = std::env::current_exe()?.with_file_name(name);
    if !path.exists() {
        return Err(format!(
            "{} is not built: cargo build --release --package {name}",
            path.display()
        )
        .into());
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
