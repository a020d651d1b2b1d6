//! Finds the APRON library: below `APRON_PREFIX` and nowhere else, or where the C compiler finds libraries.
//!
//! With a prefix, the loader must find the libraries too. Cargo gives the programs it runs the search paths
//! that lie in the target directory, so we link to the libraries from our output directory and name that one,
//! as `analyses/build.rs` does for Z3. `cli/build.rs` writes the prefix into the program that is installed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// The variants that compute with GMP's rationals. One of each: `liboctD` exports the same symbols as
/// `liboctMPQ`.
const LIBRARIES: [&str; 4] = ["polkaMPQ", "octMPQ", "boxMPQ", "apron"];

/// What APRON's libraries use, and those of Debian do not say that they do.
const THEIRS: [&str; 3] = ["mpfr", "gmp", "m"];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=APRON_PREFIX");
    if env::var_os("CARGO_FEATURE_LINK").is_none() {
        return Ok(());
    }
    let prefix = env::var_os("APRON_PREFIX").filter(|prefix| !prefix.is_empty()).map(PathBuf::from);
    let folder = match &prefix {
        Some(prefix) => {
            ["lib", "lib64"].map(|lib| prefix.join(lib)).into_iter().find(|folder| has_all(folder))
        }
        None => asked_of_the_compiler(),
    };
    let Some(folder) = folder else {
        let place = prefix.map_or("where the linker looks".to_owned(), |prefix| {
            format!("in lib or lib64 of APRON_PREFIX={}", prefix.display())
        });
        println!("cargo::error=the APRON library (lib{}.so) is not {place}", LIBRARIES.join(".so, lib"));
        println!(
            "cargo::error=run `scripts/setup --apron` as root, or set APRON_PREFIX to where you installed it"
        );
        return Ok(());
    };
    println!("cargo::rerun-if-changed={}", folder.join(file_name(LIBRARIES[0])).display());
    if prefix.is_some() {
        println!("cargo::rustc-link-search=native={}", linked_from_here(&folder)?.display());
    } else {
        println!("cargo::rustc-link-search=native={}", folder.display());
    }
    // The order matters to some linkers: who uses comes before what is used.
    for library in LIBRARIES.iter().chain(&THEIRS) {
        println!("cargo::rustc-link-lib=dylib={library}");
    }
    Ok(())
}

fn file_name(library: &str) -> String {
    format!("lib{library}.so")
}

fn has_all(folder: &Path) -> bool {
    LIBRARIES.iter().all(|library| folder.join(file_name(library)).exists())
}

/// The folder in which the C compiler finds the libraries. It prints a bare name where it finds none.
fn asked_of_the_compiler() -> Option<PathBuf> {
    let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
    let argument = format!("-print-file-name={}", file_name(LIBRARIES[0]));
    let output = Command::new(compiler).arg(argument).output().ok()?;
    let found = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    let folder = fs::canonicalize(found.parent().filter(|folder| folder.is_absolute())?).ok()?;
    has_all(&folder).then_some(folder)
}

/// Our output directory's folder of links to all files of the libraries, versions in their names or not.
fn linked_from_here(folder: &Path) -> io::Result<PathBuf> {
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("run by something other than cargo"))?;
    let target = PathBuf::from(out).join("apron");
    if target.exists() {
        fs::remove_dir_all(&target)?;
    }
    fs::create_dir_all(&target)?;
    for entry in fs::read_dir(folder.canonicalize()?)? {
        let entry = entry?;
        let name = entry.file_name();
        let ours = |library: &str| name.to_string_lossy().starts_with(&file_name(library));
        if LIBRARIES.iter().any(|library| ours(library)) {
            link(&entry.path(), &target.join(&name))?;
        }
    }
    Ok(target)
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(not(unix))]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to).map(|_| ())
}
