//! What is given to users is described right: of what the program is made, how it is installed. The release
//! itself is built by `scripts/release` and tried by `scripts/try-install`, which take too long for every
//! change.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// A folder of a test's own, gone at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("coreach-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The packages of the lock file: name and version, with the checksum of those that come from a registry.
fn locked() -> BTreeMap<(String, String), Option<String>> {
    let field = |block: &str, name: &str| {
        let head = format!("{name} = \"");
        let line = block.lines().find_map(|line| line.strip_prefix(&head));
        line.map(|line| line.trim_end_matches('"').to_owned())
    };
    let lock = read("Cargo.lock");
    let blocks = lock.split("[[package]]").skip(1);
    blocks
        .map(|block| {
            ((field(block, "name").unwrap(), field(block, "version").unwrap()), field(block, "checksum"))
        })
        .collect()
}

#[test]
fn the_bill_of_materials_has_all_that_is_linked_and_nothing_else() {
    let folder = Folder::new("components");
    let (sbom, licences) = (folder.0.join("bill.json"), folder.0.join("licences.txt"));
    let make = || {
        let output = Command::new(root().join("scripts/components"))
            .args(["--sbom".as_ref(), sbom.as_os_str(), "--licences".as_ref(), licences.as_os_str()])
            .current_dir("/")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        [fs::read_to_string(&sbom).unwrap(), fs::read_to_string(&licences).unwrap()]
    };
    let made = make();
    assert_eq!(made, make(), "the same bytes each time");
    let [text, licences] = made;
    let home = std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME")).unwrap();
    for path in [root().display().to_string(), home] {
        assert!(!text.contains(&path), "{path} is a place of this machine");
    }

    let bill: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&"CycloneDX".into(), &"1.5".into()));
    let locked = locked();
    let mut names = BTreeSet::new();
    let mut references = BTreeSet::from([bill["metadata"]["component"]["bom-ref"].as_str().unwrap()]);
    for component in bill["components"].as_array().unwrap() {
        let [name, version] = ["name", "version"].map(|key| component[key].as_str().unwrap().to_owned());
        assert!(component["licenses"].as_array().is_some_and(|licences| licences.len() == 1), "{name}");
        assert!(references.insert(component["bom-ref"].as_str().unwrap()), "{name} twice");
        if !name.starts_with("coreach-") {
            assert!(licences.contains(&format!("\n{name} {version}: ")), "{name} has no licence");
        }
        if component["purl"].as_str().unwrap().starts_with("pkg:cargo/") {
            let checksum =
                locked.get(&(name.clone(), version.clone())).unwrap_or_else(|| panic!("{name} {version}"));
            assert_eq!(component["hashes"][0]["content"].as_str(), checksum.as_deref(), "{name}");
        }
        names.insert(name);
    }
    // What the manifests of the crates name that are in the program, direct dependencies and libraries that
    // are no crate; and what is there for tests and builds only.
    for name in [
        "clap",
        "z3",
        "rusqlite",
        "ring",
        "granit-parser",
        "coreach-octagon",
        "coreach-import",
        "roxmltree",
        "sqlite",
        "cytoscape",
        "rust-std",
    ] {
        assert!(names.contains(name), "{name} is missing");
    }
    // With a Z3 of the system, none goes along.
    assert_eq!(names.contains("z3-solver"), root().join("native/z3/stamp").is_file());
    for name in ["proptest", "rcgen", "cc", "pkg-config", "windows-sys", "coreach-tests", "coreach-apron"] {
        assert!(!names.contains(name), "{name} is not in the program");
    }
    for dependency in bill["dependencies"].as_array().unwrap() {
        let to = dependency["dependsOn"].as_array().unwrap().iter();
        for reference in to.chain([&dependency["ref"]]) {
            assert!(references.contains(reference.as_str().unwrap()), "{reference} is no component");
        }
    }
    assert_eq!(bill["dependencies"].as_array().unwrap().len(), references.len());
    let has_licence = licences.contains("Copyright (c) Microsoft Corporation");
    assert_eq!(has_licence, names.contains("z3-solver"), "Z3's licence goes with Z3");
}

/// Licences are expressions, and what is refused is refused: a program that is passed on must not have parts
/// under the GPL.
#[test]
fn licences_that_may_not_be_linked_are_refused() {
    let script = "
import importlib.machinery, importlib.util, sys
loader = importlib.machinery.SourceFileLoader('components', sys.argv[1])
spec = importlib.util.spec_from_loader('components', loader)
module = importlib.util.module_from_spec(spec)
sys.dont_write_bytecode = True
loader.exec_module(module)
for expression in sys.argv[2:]:
    try:
        print(module.permits(expression))
    except SystemExit:
        print('no expression')
";
    let cases = [
        ("MIT", "True"),
        ("MIT/Apache-2.0", "True"),
        ("GPL-3.0-or-later", "False"),
        ("GPL-3.0-or-later OR MIT", "True"),
        ("MIT AND GPL-3.0-or-later", "False"),
        ("(MIT OR GPL-2.0-only) AND Unicode-3.0", "True"),
        ("MIT AND (GPL-2.0-only OR LGPL-3.0-only)", "False"),
        ("MIT OR GPL-2.0-only AND LGPL-3.0-only", "True"),
        ("Apache-2.0 WITH LLVM-exception OR GPL-2.0-only", "True"),
        ("GPL-2.0-only WITH Classpath-exception-2.0", "False"),
        ("(MIT", "no expression"),
        ("MIT MIT", "no expression"),
    ];
    let output = Command::new("python3")
        .args(["-B", "-c", script])
        .arg(root().join("scripts/components"))
        .args(cases.map(|(expression, _)| expression))
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        said.lines().collect::<Vec<_>>(),
        cases.map(|(_, expected)| expected),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The lines of the block of a document with this head.
fn block(document: &str, head: &str) -> String {
    let text = read(document);
    let found =
        text.split(&format!("\n```{head}\n")).nth(1).unwrap_or_else(|| panic!("{document}: no {head}"));
    found.split("```").next().unwrap().to_owned()
}

/// The heads of the blocks of a document that hold commands.
fn blocks(document: &str) -> BTreeSet<String> {
    read(document).lines().filter_map(|line| line.strip_prefix("```sh ")).map(str::to_owned).collect()
}

/// A block without a name is run by nobody.
#[test]
fn every_block_of_the_page_on_installing_is_run() {
    let script = read("scripts/try-install");
    for (document, name) in [("docs/install.md", "install.md"), ("docs/how-to/ci.md", "how-to/ci.md")] {
        assert!(!read(document).lines().any(|line| line == "```sh"), "{document} has a block without a name");
        for block in blocks(document) {
            let line = format!("try {name} {block}");
            assert!(
                script.lines().any(|known| known.trim() == line),
                "scripts/try-install does not run {block} of {document}"
            );
        }
    }
}

/// What the README says of it is a block of that page.
#[test]
fn the_readme_installs_as_the_page_does() {
    let blocks = blocks("README.md");
    assert!(blocks.contains("checkout"), "{blocks:?}");
    for name in blocks {
        let head = format!("sh {name}");
        assert_eq!(block("README.md", &head), block("docs/install.md", &head), "{name}");
    }
}

/// The image is of the Rust that the manifests ask for, and takes along what the program looks for.
#[test]
fn the_image_fits_the_manifests() {
    let (image, manifest) = (read("packaging/Dockerfile"), read("Cargo.toml"));
    let rust =
        manifest.lines().find_map(|line| line.strip_prefix("rust-version = ")).unwrap().trim_matches('"');
    assert!(image.contains(&format!("FROM rust:{rust}-slim-bookworm AS build\n")), "{rust}");
    assert!(image.contains("\nUSER 65534:65534\n"));
    assert!(image.contains("COPY --from=build /opt/coreach/lib/coreach /usr/local/lib/coreach\n"));
    // What is made in a checkout does not go into the image.
    let (kept, ignored) = (read(".dockerignore"), read(".gitignore"));
    for line in ignored.lines().filter(|line| line.starts_with('/')) {
        assert!(kept.lines().any(|known| known == line), ".dockerignore lacks {line}");
    }
}

/// A build without Z3 says so at once, and what to do; one with a good Z3 of the system says nothing.
#[test]
#[cfg(unix)]
fn a_build_without_z3_says_so() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("build");
    let script = folder.0.join("build");
    let rustc = Command::new("rustc")
        .args(["--edition", "2024", "-o"])
        .arg(&script)
        .arg(root().join("analyses/build.rs"))
        .output()
        .unwrap();
    assert!(rustc.status.success(), "{}", String::from_utf8_lossy(&rustc.stderr));
    // A system as its pkg-config and its compiler tell it.
    let system = |pkg_config: &str, cc: &str| {
        for (name, text) in [("pkg-config", pkg_config), ("cc", cc)] {
            let path = folder.0.join(name);
            fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let output = Command::new(&script)
            .env_clear()
            .env("PATH", &folder.0)
            .env("CARGO_MANIFEST_DIR", folder.0.join("analyses"))
            .env("OUT_DIR", &folder.0)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8(output.stdout).unwrap();
        said.lines().find_map(|line| line.strip_prefix("cargo::error=")).map(str::to_owned)
    };
    let what_to_do = ": run scripts/setup (--build: only what building needs), then this again";
    let missing = system("exit 1", "echo libz3.so");
    assert_eq!(missing, Some(format!("Z3 is missing{what_to_do}")));
    let old = system("[ \"$1\" = --exists ]", "echo /lib/libz3.so");
    assert_eq!(old, Some(format!("the Z3 of this system is older than 4.13.3{what_to_do}")));
    assert_eq!(system("exit 0", "echo libz3.so"), None);
    assert_eq!(system("exit 1", "echo /lib/libz3.so"), None);
    assert!(read("scripts/setup").contains("readonly Z3_OLDEST=4.13.3 "), "both know the same oldest one");
    assert!(read("scripts/setup").contains("--build) only_builds=yes"));
}

/// What `scripts/install --uninstall` says, and whether it went well.
fn uninstall(prefix: &Path) -> (String, bool) {
    let mut command = Command::new(root().join("scripts/install"));
    let output = command.args(["--uninstall", "--prefix"]).arg(prefix).current_dir("/").output().unwrap();
    (String::from_utf8(output.stderr).unwrap(), output.status.success())
}

#[test]
fn what_was_installed_is_removed_and_nothing_else() {
    let folder = Folder::new("uninstall");
    let prefix = folder.0.join("a prefix");
    let listed = [
        "bin/coreach",
        "lib/coreach/libz3.so.5.4",
        "share/doc/coreach/docs/index.md",
        "share/man/man1/coreach.1",
    ];
    let kept = ["bin/other", "lib/libz3.so", "share/man/man1/other.1", "../beside"];
    let install = |list: &str| {
        for file in listed.iter().chain(&kept) {
            let path = prefix.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        fs::write(prefix.join("lib/coreach/files"), list).unwrap();
    };
    let there = |files: &[&str]| files.iter().all(|file| prefix.join(file).exists());

    // A list that somebody has changed: what it names outside of the prefix is not ours.
    for foreign in ["../beside", "/etc/hostname", "bin/../../beside", "bin/.."] {
        install(&format!("{}\n{foreign}\n", listed.join("\n")));
        let (said, went_well) = uninstall(&prefix);
        assert!(!went_well && said.contains("nothing was removed"), "{foreign}: {said}");
        assert!(there(&listed) && there(&kept), "{foreign}");
    }

    install(&format!("{}\n", listed.join("\n")));
    let (said, went_well) = uninstall(&prefix);
    assert!(went_well, "{said}");
    assert!(there(&kept), "{said}");
    assert!(!listed.iter().any(|file| prefix.join(file).exists()), "{said}");
    assert!(!there(&["lib/coreach"]) && !there(&["share/doc/coreach"]), "empty folders of ours stay");
    // Twice is a mistake, and is told.
    let (said, went_well) = uninstall(&prefix);
    assert!(!went_well && said.contains("nothing is installed in "), "{said}");
}
