//! Writes the place of `native/z3` into the program, so that it starts by itself wherever the target directory is.
//!
//! `.cargo/config.toml` gives it run paths relative to `target/`; they do not help when `CARGO_TARGET_DIR` is elsewhere,
//! after `cargo install`, or when `RUSTFLAGS` replaces the flags of that file. With the feature `apron`, an APRON of the
//! user's own is found in the same way.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let Some(crate_dir) = env::var_os("CARGO_MANIFEST_DIR") else {
        return;
    };
    println!("cargo::rerun-if-env-changed=APRON_PREFIX");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    if let Some(root) = Path::new(&crate_dir).parent() {
        println!("cargo::rustc-link-arg-bins=-Wl,-rpath,{}", root.join("native/z3/lib").display());
    }
    let prefix = env::var("APRON_PREFIX").unwrap_or_default();
    if env::var_os("CARGO_FEATURE_APRON").is_some() && !prefix.is_empty() {
        for folder in ["lib", "lib64"] {
            println!("cargo::rustc-link-arg-bins=-Wl,-rpath,{}", Path::new(&prefix).join(folder).display());
        }
    }
}
