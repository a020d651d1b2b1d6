//! Lets every program that cargo runs in this workspace find the Z3 of `native/z3`: tests, doctests,
//! `cargo run`.
//!
//! Cargo puts a library's directory into the loader's path only if it lies in the target directory, and a run
//! path given by a build script reaches only its own package's programs, never a doctest. So we link to the
//! library from our output directory and name that directory. This works with any target directory and any
//! `RUSTFLAGS`. Without `native/z3` (a system Z3, see `scripts/setup`) there is nothing to do but to say so
//! where that is missing or too old: it would be found out after some minutes, by the linker, in words that
//! help nobody, or by the program that was built.

use std::path::Path;
use std::process::Command;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let (Some(crate_dir), Some(out)) = (env::var_os("CARGO_MANIFEST_DIR"), env::var_os("OUT_DIR")) else {
        return Err(io::Error::other("run by something other than cargo"));
    };
    let source = Path::new(&crate_dir).join("../native/z3/lib");
    if !source.is_dir() {
        if let Some(problem) = problem_of_the_system_s() {
            println!(
                "cargo::error={problem}: run scripts/setup (--build: only what building needs), then this again"
            );
        }
        return Ok(());
    }
    println!("cargo::rerun-if-changed={}", source.display());
    let target = Path::new(&out).join("z3");
    if target.exists() {
        fs::remove_dir_all(&target)?;
    }
    fs::create_dir_all(&target)?;
    for entry in fs::read_dir(source.canonicalize()?)? {
        let entry = entry?;
        link(&entry.path(), &target.join(entry.file_name()))?;
    }
    println!("cargo::rustc-link-search=native={}", target.display());
    Ok(())
}

/// The oldest Z3 that will do, as `scripts/setup` has it.
const OLDEST: &str = "4.13.3";

/// What is wrong with the Z3 that z3-sys and the linker find outside of this checkout. What cannot be asked
/// is nothing: then the linker decides.
fn problem_of_the_system_s() -> Option<String> {
    let others = ["Z3_LIBRARY_PATH_OVERRIDE", "LIBRARY_PATH"];
    for variable in others.iter().chain(&["PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR", "PATH"]) {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    if others.iter().any(|variable| env::var_os(variable).is_some()) {
        return None;
    }
    let known = |arguments: &[&str]| {
        Command::new("pkg-config").args(arguments).arg("z3").status().is_ok_and(|status| status.success())
    };
    if known(&["--exists"]) {
        let is_old = !known(&[&format!("--atleast-version={OLDEST}")]);
        return is_old.then(|| format!("the Z3 of this system is older than {OLDEST}"));
    }
    // Of a library that it does not find, the compiler repeats the name.
    let found = Command::new("cc").arg("-print-file-name=libz3.so").output().ok()?;
    let path = String::from_utf8_lossy(&found.stdout).trim().to_owned();
    Path::new(&path).is_relative().then(|| "Z3 is missing".to_owned())
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(not(unix))]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to).map(|_| ())
}
