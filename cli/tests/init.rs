//! `coreach init`: what it writes can be used at once, and it writes over nothing. `coreach schema`: editors
//! find what files name.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::common::{Folder, coreach, exits, run, stderr, stdout};
use coreach_project::beginning::{SCHEMAS, TEMPLATES};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All that lies below a folder, with its content.
fn below(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|item| item.unwrap().path()).collect();
    paths.sort();
    let inside = |path: PathBuf| match path.is_dir() && !path.is_symlink() {
        true => below(&path),
        false => vec![(path.clone(), fs::read_to_string(&path).unwrap_or_default())],
    };
    paths.into_iter().flat_map(inside).collect()
}

#[test]
fn every_step_that_is_printed_does_what_is_said() {
    let folder = Folder::new();
    let begun = coreach(["init", "my locker"]).current_dir(&folder.0).output().unwrap();
    exits(&begun, 0);
    let said = stdout(&begun);
    let (_, steps) = said.split_once("\nNext:\n").unwrap();
    let mut lines = steps.lines().map(str::trim);
    assert_eq!(lines.next(), Some("cd 'my locker'"));
    let place = folder.0.join("my locker");
    let mut done = 0;
    while let (Some(purpose), Some(command)) = (lines.next(), lines.next()) {
        let code = match purpose.strip_prefix("# ").unwrap().rsplit_once("; exit code ") {
            Some((_, code)) => code.parse().unwrap(),
            None => 0,
        };
        let words = command.strip_prefix("coreach ").unwrap().split(' ');
        let output = coreach(words).current_dir(&place).output().unwrap();
        exits(&output, code);
        // A word of warning would be a poor welcome.
        assert!(!stderr(&output).contains("warning"), "{command}: {}", stderr(&output));
        done += 1;
    }
    assert_eq!(done, 8);
    for file in [
        "out/open_after_wrong/test_case.svg",
        "runs/open_after_wrong.1.json",
        "nightly.sqlite",
        "report.html",
    ] {
        assert!(place.join(file).is_file(), "{file}");
    }
}

/// The fault that is planted for the tutorial: no test finds it that stays away from the last try.
#[test]
fn the_other_fault_is_found_by_who_goes_there_and_by_nobody_else() {
    let folder = Folder::new();
    exits(&coreach(["init"]).current_dir(&folder.0).output().unwrap(), 0);
    let iut = fs::read_to_string(folder.0.join("iut_faulty.yaml")).unwrap();
    folder.write("iut_late.yaml", &iut.replace("--fault, count", "--fault, late"));
    let purpose = "purpose: blocked\nof: locker\ninitial: { location: Begin }\ntransitions:\n  - { from: Begin, to: Accept, on: Blocked }\n";
    folder.write("blocked.yaml", purpose);
    folder.write("blocking.yaml", "specification: specification.yaml\npurpose: blocked.yaml\n");
    let test = |configuration: &str, iut: &str| {
        let words = [
            "test",
            configuration,
            "--iut",
            iut,
            "--runs",
            "5",
            "--constant",
            "cTries=2",
            "--strategy",
            "plan",
        ];
        coreach(words).current_dir(&folder.0).output().unwrap()
    };
    exits(&test("coreach.yaml", "iut_late.yaml"), 0);
    exits(&test("blocking.yaml", "iut.yaml"), 0);
    exits(&test("blocking.yaml", "iut_late.yaml"), 1);
}

#[test]
fn what_is_in_the_way_is_told_at_once_and_nothing_is_written() {
    let here = |folder: &Folder| coreach(["init"]).current_dir(&folder.0).output().unwrap();
    let folder = Folder::with(&[("iut.yaml", "mine"), ("locker.py", "mine, too"), ("other", "")]);
    symlink("nowhere", folder.0.join("coreach.yaml")).unwrap();
    folder.write(".coreach", "a file where a folder is needed");
    let before = below(&folder.0);
    let refused = here(&folder);
    exits(&refused, 2);
    let said = stderr(&refused);
    for name in ["iut.yaml", "locker.py", "coreach.yaml", ".coreach"] {
        assert!(said.contains(name), "{name}: {said}");
    }
    assert!(!said.contains("specification.yaml") && !said.contains("model.schema.json"), "{said}");
    assert_eq!(below(&folder.0), before);

    // A second time in the same folder, too.
    let folder = Folder::new();
    exits(&here(&folder), 0);
    let before = below(&folder.0);
    exits(&here(&folder), 2);
    assert_eq!(below(&folder.0), before);

    let file = folder.0.join("iut.yaml");
    exits(&run([Path::new("init"), &file]), 2);
    exits(&run([Path::new("init"), Path::new("/proc/nothing-of-ours")]), 8);
}

/// The last files cannot be written, since their paths are too long: those before them go again.
#[test]
fn where_not_all_can_be_written_nothing_stays() {
    let folder = Folder::new();
    // A system takes no path of 4096 bytes or more; the schemas lie deeper than the rest.
    let mut deep = folder.0.clone();
    while deep.as_os_str().len() < 4055 {
        let rest = 4055 - deep.as_os_str().len();
        deep.push("d".repeat(rest.saturating_sub(1).clamp(1, 200)));
    }
    fs::create_dir_all(&deep).unwrap();
    let failed = run([Path::new("init"), &deep]);
    exits(&failed, 8);
    assert!(stderr(&failed).contains("schema.json"), "{}", stderr(&failed));
    assert_eq!(fs::read_dir(&deep).unwrap().count(), 0);
}

#[test]
fn the_files_are_the_example_s_and_name_schemas_that_are_there() {
    let folder = Folder::new();
    exits(&coreach(["init"]).current_dir(&folder.0).output().unwrap(), 0);
    let example = root().join("examples/locker");
    for (name, _) in TEMPLATES {
        let written = fs::read_to_string(folder.0.join(name)).unwrap();
        let known = fs::read_to_string(example.join(name)).unwrap();
        let rest = |text: &str| text.split_once('\n').unwrap().1.to_owned();
        assert_eq!(rest(&written), rest(&known), "{name}");
        if name.ends_with(".yaml") {
            let line = written.lines().next().unwrap();
            let schema = line.strip_prefix("# yaml-language-server: $schema=").unwrap();
            let there = fs::read_to_string(folder.0.join(schema)).unwrap();
            let docs = root().join("docs").join(Path::new(schema).file_name().unwrap());
            assert_eq!(there, fs::read_to_string(docs).unwrap());
            // What a schema refers to lies beside it.
            for piece in there.split("\"$ref\": \"").skip(1) {
                let file = piece.split(['#', '"']).next().unwrap();
                assert!(file.is_empty() || folder.0.join(".coreach/schemas").join(file).is_file(), "{file}");
            }
        }
    }
    // All that a user of the example has is among the templates.
    let mut inside: BTreeSet<String> = fs::read_dir(&example)
        .unwrap()
        .map(|item| item.unwrap().file_name().into_string().unwrap())
        .collect();
    inside.retain(|name| !["README.md", "out", "runs", "nightly.sqlite"].contains(&name.as_str()));
    assert_eq!(inside, TEMPLATES.iter().map(|(name, _)| (*name).to_owned()).collect());
}

#[test]
fn every_schema_can_be_had() {
    let known: BTreeSet<String> = SCHEMAS.iter().map(|schema| schema.file_name()).collect();
    let docs = fs::read_dir(root().join("docs")).unwrap().map(|item| item.unwrap().file_name());
    let docs = docs.map(|name| name.into_string().unwrap()).filter(|name| name.ends_with(".schema.json"));
    assert_eq!(known, docs.collect());
    let listed = run(["schema"]);
    exits(&listed, 0);
    let folder = Folder::new();
    for schema in SCHEMAS {
        assert!(stdout(&listed).lines().any(|line| line.split(' ').next() == Some(schema.kind)));
        let printed = run(["schema", schema.kind]);
        assert_eq!(stdout(&printed), schema.text);
    }
    exits(&coreach(["schema", "purpose", "--out", "one"]).current_dir(&folder.0).output().unwrap(), 0);
    assert_eq!(fs::read_dir(folder.0.join("one")).unwrap().count(), 1);
    // Twice: what is there is replaced.
    for _ in 0..2 {
        exits(&coreach(["schema", "--out", "all"]).current_dir(&folder.0).output().unwrap(), 0);
        assert_eq!(fs::read_dir(folder.0.join("all")).unwrap().count(), SCHEMAS.len());
    }
    exits(&run(["schema", "porpose"]), 2);
}
