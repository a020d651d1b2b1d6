//! Lets every program that cargo runs in this workspace find the Z3 of `native/z3`: tests, doctests, `cargo run`.
//!
//! Cargo puts a library's directory into the loader's path only if it lies in the target directory, and a run path given
//! by a build script reaches only its own package's programs, never a doctest. So we link to the library from our output
//! directory and name that directory. This works with any target directory and any `RUSTFLAGS`.
//! Without `native/z3` (a system Z3, see `scripts/setup`) there is nothing to do.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let (Some(crate_dir), Some(out)) = (env::var_os("CARGO_MANIFEST_DIR"), env::var_os("OUT_DIR")) else {
        return Err(io::Error::other("run by something other than cargo"));
    };
    let source = Path::new(&crate_dir).join("../native/z3/lib");
    if !source.is_dir() {
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

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(not(unix))]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to).map(|_| ())
}
