//! Lets an installed program find the libraries that lie beside it: in `../lib/coreach`, which is its own, or
//! in `../lib`, both seen from the program.
//!
//! `.cargo/config.toml` gives the programs of a checkout run paths that are relative too, from `target/` to
//! `native/z3`. No run path is absolute: a program that is passed on would say where it was built, and would
//! load a library from there, whoever can write to that place. What that means for a target directory
//! elsewhere is in `docs/dev/decisions.md`.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-link-arg-bins=-Wl,-rpath,$ORIGIN/../lib/coreach");
        println!("cargo::rustc-link-arg-bins=-Wl,-rpath,$ORIGIN/../lib");
    }
}
