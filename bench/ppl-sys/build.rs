//! Finds the Parma Polyhedra Library: below `PPL_PREFIX` and nowhere else, or where the C compiler finds
//! libraries.
//!
//! With a prefix, the loader must find the libraries too. Cargo gives the programs it runs the search paths
//! that lie in the target directory, so we link to the libraries from our output directory and name that one,
//! as `analyses/apron-sys/build.rs` does for APRON.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// The C interface, and the library itself, which it uses.
const LIBRARIES: [&str; 2] = ["ppl_c", "ppl"];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PPL_PREFIX");
    let prefix = env::var_os("PPL_PREFIX").filter(|prefix| !prefix.is_empty()).map(PathBuf::from);
    let folder = match &prefix {
        Some(prefix) => {
            ["lib", "lib64"].map(|lib| prefix.join(lib)).into_iter().find(|folder| has_all(folder))
        }
        None => asked_of_the_compiler(),
    };
    let Some(folder) = folder else {
        let place = prefix.map_or("where the linker looks".to_owned(), |prefix| {
            format!("in lib or lib64 of PPL_PREFIX={}", prefix.display())
        });
        println!(
            "cargo::error=the Parma Polyhedra Library (lib{}.so) is not {place}",
            LIBRARIES.join(".so, lib")
        );
        println!(
            "cargo::error=run `scripts/setup --ppl` as root, or set PPL_PREFIX to where you installed it"
        );
        return Ok(());
    };
    println!("cargo::rerun-if-changed={}", folder.join(file_name(LIBRARIES[0])).display());
    if prefix.is_some() {
        println!("cargo::rustc-link-search=native={}", linked_from_here(&folder)?.display());
    } else {
        println!("cargo::rustc-link-search=native={}", folder.display());
    }
    // GMP is called by us as well. Who uses comes before what is used.
    for library in LIBRARIES.iter().chain(&["gmp"]) {
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
    let target = PathBuf::from(out).join("ppl");
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
