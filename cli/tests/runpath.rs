//! Where the program looks for its libraries: beside itself, never at a place of the machine on which it was
//! built.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = env!("CARGO_BIN_EXE_coreach");

#[test]
fn no_run_path_is_absolute() {
    let output = Command::new("readelf").args(["--dynamic", "--wide", PROGRAM]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let paths: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("(RUNPATH)") || line.contains("(RPATH)"))
        .filter_map(|line| line.split_once('[')?.1.split_once(']'))
        .flat_map(|(paths, _)| paths.split(':'))
        .collect();
    assert!(!paths.is_empty(), "{text}");
    for path in paths {
        assert!(path.starts_with("$ORIGIN/"), "`{path}` is a place of this machine");
    }
}

/// A checkout that was moved, and a program that was installed with its library.
#[test]
fn the_program_finds_its_library_from_where_it_lies() {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../native/z3/lib");
    if !library.is_dir() {
        // The system's Z3: it is found wherever the program lies.
        return;
    }
    let library = library.canonicalize().unwrap();
    let folder = std::env::temp_dir().join(format!("coreach-runpath-{}", std::process::id()));
    for (place, libraries) in [
        ("moved/target/release", "moved/native/z3/lib"),
        ("installed/bin", "installed/lib/coreach"),
        ("by_hand/bin", "by_hand/lib"),
    ] {
        let (place, libraries) = (folder.join(place), folder.join(libraries));
        fs::create_dir_all(&place).unwrap();
        fs::create_dir_all(libraries.parent().unwrap()).unwrap();
        symlink(&library, &libraries).unwrap();
        fs::copy(PROGRAM, place.join("coreach")).unwrap();
        // Also by a link from elsewhere, as into a folder of PATH.
        let link = place.with_extension("link");
        symlink(place.join("coreach"), &link).unwrap();
        for program in [place.join("coreach"), link] {
            let mut command = Command::new(&program);
            let output = command.arg("--version").env_remove("LD_LIBRARY_PATH").output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {said}", program.display());
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}
