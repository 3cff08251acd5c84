//! Another revision of fastslua, to measure beside the current one: built in a worktree outside the repository.
//!
//! It must never let one library pass for the other: each build has a target folder of its own, the two files must
//! differ where the sources do, and every host that is measured is asked which file it has loaded.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;
use crate::plan::{Launch, Variant};
use crate::process::output_of;

/// The variants of the revision `reference`. `reuse`: takes the library of an earlier run, where it is of that commit.
pub fn variants(reference: &str, reuse: bool) -> Outcome<Vec<Variant>> {
    let wanted = format!("{reference}^{{commit}}");
    let commit = output_of(&["git", "rev-parse", "--verify", "--quiet", &wanted])
        .ok_or_else(|| format!("no revision is called {reference}"))?;
    let folder = std::env::temp_dir().join("fastslua-baseline").join(&commit);
    let library = folder.join("build/fastslua.so");
    let reusable = reuse && library.is_file() && head_of(&folder).as_deref() == Some(commit.as_str());
    if !reusable {
        build(&folder, &commit)?;
    }
    check_differs(&library, &commit)?;
    let host = |name: &str, profile| Variant {
        name: name.to_owned(),
        launch: Launch::Host {
            server: "app",
            lua: "lua5.1",
        },
        profile,
        library: library.clone(),
    };
    Ok(vec![host("baseline", "default"), host("baseline-tuned", "tuned")])
}

fn head_of(folder: &Path) -> Option<String> {
    output_of(&["git", "-C", &folder.to_string_lossy(), "rev-parse", "HEAD"])
}

fn build(folder: &Path, commit: &str) -> Outcome<()> {
    println!("building the baseline {commit} in {}", folder.display());
    let path = folder.to_string_lossy().into_owned();
    if folder.exists() {
        // It may be no worktree any more; then removing the folder is all there is to do.
        let _ = Command::new("git")
            .args(["worktree", "remove", "--force", &path])
            .status();
        let _ = std::fs::remove_dir_all(folder);
    }
    execute(Command::new("git").args(["worktree", "prune"]))?;
    execute(Command::new("git").args(["worktree", "add", "--quiet", "--detach", &path, commit]))?;
    let target = folder.join("target");
    execute(
        Command::new("cargo")
            .args(["build", "--release", "--quiet"])
            .current_dir(folder)
            .env("CARGO_TARGET_DIR", &target),
    )?;
    std::fs::create_dir_all(folder.join("build"))?;
    std::fs::copy(target.join("release/libfastslua.so"), folder.join("build/fastslua.so"))?;
    Ok(())
}

fn execute(command: &mut Command) -> Outcome<()> {
    let status = command.status()?;
    if status.success() {
        return Ok(());
    }
    Err(format!("{command:?} failed").into())
}

/// Libraries of different sources that are the same file, byte for byte, are a mistake.
fn check_differs(library: &Path, commit: &str) -> Outcome<()> {
    let same_sources = Command::new("git")
        .args([
            "diff",
            "--quiet",
            commit,
            "--",
            "src",
            "lua",
            "Cargo.toml",
            "Cargo.lock",
        ])
        .status()?
        .success();
    let current = PathBuf::from("build/fastslua.so");
    if !same_sources && std::fs::read(library)? == std::fs::read(&current)? {
        return Err(format!(
            "{} and {} are one library of two sources",
            library.display(),
            current.display()
        )
        .into());
    }
    Ok(())
}
