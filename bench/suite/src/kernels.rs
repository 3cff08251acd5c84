//! Runs the micro kernels and reads their lines, `BENCH <name> iters=N total_us=T us_per_op=P`.

use std::path::Path;
use std::process::Command;

use crate::Outcome;
use crate::process::{installed, sibling};
use crate::results::Kernel;

/// Programs that are run: what the progress bar counts.
pub const COMMANDS: usize = 8;
/// Scripts whose kernels have names that say too little among others, and what is put before them.
const PREFIXED: [(&str, &str); 2] = [
    ("bench/middleware.lua", "middleware_"),
    ("bench/application.lua", "application_"),
];

/// All kernels. What is not installed is told in `notes`. `quick`: each kernel for a shorter time.
pub fn measure(quick: bool, notes: &mut Vec<String>, mut done: impl FnMut()) -> Outcome<Vec<Kernel>> {
    let seconds = if quick { "0.05" } else { "0.4" };
    let mut commands = vec![vec![sibling("micro")?, seconds.to_owned()]];
    match calibration_in_c() {
        Ok(program) => commands.push(vec![program, seconds.to_owned()]),
        Err(error) => notes.push(format!("calibration in C: {error}")),
    }
    for lua in ["lua5.1", "luajit"] {
        if installed(lua).is_none() {
            notes.push(format!("kernels on {lua}: not installed, left out"));
            continue;
        }
        for script in ["bench/micro.lua", "bench/json.lua"] {
            commands.push(vec![lua.to_owned(), script.to_owned(), seconds.to_owned()]);
        }
    }
    for (script, _) in PREFIXED {
        commands.push(vec!["lua5.1".to_owned(), script.to_owned(), seconds.to_owned()]);
    }
    let mut kernels = Vec::new();
    for command in &commands {
        kernels.extend(run(command)?);
        done();
    }
    Ok(kernels)
}

/// The C twin is compiled as releases of C programs are; gives the path of the program.
fn calibration_in_c() -> Outcome<String> {
    let program = Path::new("build/calibration");
    let status = Command::new("cc")
        .args(["-O2", "-o", &program.to_string_lossy(), "bench/micro/calibration.c"])
        .status()?;
    if status.success() {
        return Ok(program.to_string_lossy().into_owned());
    }
    Err("cc failed".into())
}

fn run(command: &[String]) -> Outcome<Vec<Kernel>> {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let output = Command::new(words[0])
        .args(&words[1..])
        .env("LUA_CPATH", "build/?.so;;")
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("{words:?} failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let program = Path::new(words[0]).file_name().unwrap_or_default().to_string_lossy();
    let runtime = match &*program {
        "micro" => "Rust",
        "lua5.1" => "Lua 5.1",
        "luajit" => "LuaJIT",
        _ => "C",
    };
    let mut kernels: Vec<Kernel> = said.lines().filter_map(|line| read_line(line, runtime)).collect();
    if let Some((_, prefix)) = PREFIXED.iter().find(|(script, _)| words.contains(script)) {
        for kernel in &mut kernels {
            kernel.name.insert_str(0, prefix);
        }
    }
    if kernels.is_empty() {
        return Err(format!("{words:?} printed no kernel").into());
    }
    Ok(kernels)
}

fn read_line(line: &str, runtime: &str) -> Option<Kernel> {
    let mut words = line.strip_prefix("BENCH ")?.split_whitespace();
    let name = words.next()?.to_owned();
    let figure = |key: &str| {
        line.split_whitespace()
            .find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
    };
    Some(Kernel {
        name,
        runtime: runtime.to_owned(),
        iters: figure("iters")?.parse().ok()?,
        us_per_op: figure("us_per_op")?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::read_line;

    #[test]
    fn a_line_is_read_and_others_are_not() {
        let kernel = read_line("BENCH head_parse iters=10 total_us=5.0 us_per_op=0.5", "C").unwrap();
        assert_eq!(
            (kernel.name.as_str(), kernel.iters, kernel.us_per_op),
            ("head_parse", 10, 0.5)
        );
        assert!(read_line("head_parse iters=10", "C").is_none());
        assert!(read_line("BENCH head_parse iters=10", "C").is_none());
    }
}
