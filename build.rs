//! How the library is linked.
//!
//! It stays loaded until the process ends: Lua unloads a library when its state closes, and finalizers that run after that
//! (of objects older than the library, or made by other finalizers) may still call it. It must do nothing else.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if ["linux", "android", "freebsd", "netbsd", "openbsd", "dragonfly"].contains(&system.as_str()) {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
