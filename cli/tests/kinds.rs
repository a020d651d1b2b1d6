//! Files that are not there, folders, and files of another kind than a command takes: what is said helps.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::process::Output;

use crate::common::{Folder, coreach, exits, stderr};
use coreach_project::file_kind::{FileKind, find_kind};

/// The commands that take files, each with the kinds that it takes. `{}` is where the file stands.
const COMMANDS: [(&str, &[FileKind]); 21] = {
    use FileKind::*;
    [
        ("check {}", &FileKind::ALL),
        ("run {}", &[Configuration]),
        ("show {}", &[Specification, Purpose, Property, Configuration]),
        ("compare {}", &[Configuration]),
        ("explore {} --depth 2", &[Specification]),
        ("verify {}", &[Configuration]),
        ("cover {}", &[Specification, Configuration]),
        ("test {} --iut iut.yaml", &[Configuration, TestCase]),
        ("test coreach.yaml --iut {}", &[Iut]),
        ("explain {} 1", &[Run, Store]),
        ("explain runs/open_after_wrong.1.json --test {}", &[Configuration, TestCase]),
        ("replay {} 1 --iut iut.yaml", &[Run, Store]),
        ("replay runs/open_after_wrong.1.json --iut {}", &[Iut]),
        ("replay runs/open_after_wrong.1.json --test {} --iut iut.yaml", &[Configuration, TestCase]),
        ("mutate {} --mutants 1", &[Configuration]),
        ("campaign {}", &[Campaign]),
        ("campaign merge merged.sqlite {}", &[Store]),
        ("campaign merge {} nightly.sqlite", &[Store]),
        ("coverage {}", &[Campaign, Configuration, Store, Run]),
        (
            "report {} --out page.html",
            &[Configuration, Specification, Purpose, Property, Campaign, Store, Run],
        ),
        ("timed path {} --path 1", &[Specification, Configuration]),
    ]
};

/// A file of each kind.
const FILES: [(&str, FileKind); 9] = [
    ("specification.yaml", FileKind::Specification),
    ("open_after_wrong.yaml", FileKind::Purpose),
    ("never_blocked.yaml", FileKind::Property),
    ("coreach.yaml", FileKind::Configuration),
    ("iut.yaml", FileKind::Iut),
    ("small.yaml", FileKind::Campaign),
    ("out/open_after_wrong/test_case.json", FileKind::TestCase),
    ("runs/open_after_wrong.1.json", FileKind::Run),
    ("nightly.sqlite", FileKind::Store),
];

fn here(folder: &Folder, line: &str) -> Output {
    coreach(line.split(' ')).current_dir(&folder.0).output().unwrap()
}

/// All kinds of files, each of them right.
fn begun() -> Folder {
    let folder = Folder::new();
    exits(&here(&folder, "init"), 0);
    folder.write(
        "never_blocked.yaml",
        "property: never_blocked\nof: locker\ninitial: { location: Fine }\ntransitions:\n  - { from: Fine, to: Violate, on: Blocked }\n",
    );
    let campaign = fs::read_to_string(folder.0.join("campaign.yaml")).unwrap();
    folder.write("small.yaml", &campaign.replace("count: 5", "count: 1").replace(", iut_faulty.yaml", ""));
    exits(&here(&folder, "run coreach.yaml"), 0);
    exits(&here(&folder, "test coreach.yaml --iut iut.yaml --keep runs"), 0);
    exits(&here(&folder, "campaign small.yaml"), 0);
    folder
}

#[test]
fn a_file_of_another_kind_is_told_with_what_takes_it() {
    let folder = begun();
    for (file, is) in FILES {
        assert_eq!(find_kind(&folder.0.join(file)), Some(is), "{file}");
    }
    for (line, takes) in COMMANDS {
        for (file, is) in FILES {
            if takes.contains(&is) {
                continue;
            }
            let output = here(&folder, &line.replace("{}", file));
            let said =
                stderr(&output).split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
            exits(&output, 2);
            assert!(said.contains("wrong-kind-of-file"), "{line} with {file}: {said}");
            // A path may be wrapped.
            let is_here = format!("but this is {}: {file}", is.name()).replace(' ', "");
            assert!(said.replace(' ', "").contains(&is_here), "{line} with {file}: {said}");
            // A command that does take it: with it, the same is not said.
            let (_, help) = said.split_once("help: ").unwrap();
            let quoted = help.split('`').skip(1).step_by(2);
            let named: Vec<&str> = quoted.filter(|quoted| quoted.starts_with("coreach ")).collect();
            assert!(named.len() > 1 || is == FileKind::Iut, "{help}");
            for command in named {
                let words = command.strip_prefix("coreach ").unwrap();
                let known = COMMANDS.iter().any(|(line, takes)| {
                    takes.contains(&is)
                        && words.split(' ').all(|word| line.split(' ').any(|known| known == word))
                });
                assert!(known, "`{command}` is said to take {}", is.name());
            }
        }
    }
    // What is taken is not refused, whatever else may be wrong with it.
    for (line, takes) in COMMANDS {
        for (file, is) in FILES {
            if takes.contains(&is) {
                let said = stderr(&here(&folder, &line.replace("{}", file)));
                assert!(!said.contains("wrong-kind-of-file"), "{line} with {file}: {said}");
            }
        }
    }
}

/// A file is what is in it, whatever it is called.
#[test]
fn the_content_decides_and_not_the_name() {
    let folder = begun();
    for (file, name) in [
        ("out/open_after_wrong/test_case.json", "case"),
        ("runs/open_after_wrong.1.json", "run.txt"),
        ("nightly.sqlite", "store.json"),
        ("specification.yaml", "model.json"),
    ] {
        fs::copy(folder.0.join(file), folder.0.join(name)).unwrap();
        let kind = find_kind(&folder.0.join(file));
        assert!(kind.is_some() && find_kind(&folder.0.join(name)) == kind, "{name}");
    }
    let campaign = fs::read_to_string(folder.0.join("small.yaml")).unwrap();
    folder.write("named.yaml", &campaign.replace("configuration: coreach.yaml", "test_case: case"));
    for line in [
        "check case run.txt store.json model.json named.yaml",
        "test case --iut iut.yaml",
        "explain run.txt --test case",
        "explain store.json 1",
        "replay run.txt --test case --iut iut.yaml",
        "campaign named.yaml --store other.sqlite",
        "explore model.json --depth 2",
        "report model.json store.json --out page.html",
    ] {
        let output = here(&folder, line);
        assert_eq!(output.status.code(), Some(0), "{line}: {}", stderr(&output));
    }
}

#[test]
fn a_name_that_is_nearly_right_is_told() {
    let folder = begun();
    for (line, takes) in COMMANDS {
        // What a merge makes need not be there.
        if line == "campaign merge {} nightly.sqlite" {
            continue;
        }
        let (file, _) = FILES.iter().find(|(_, is)| takes.contains(is)).unwrap();
        let (stem, ending) = file.rsplit_once('.').unwrap();
        let wrong = format!("{stem}x.{ending}");
        let output = here(&folder, &line.replace("{}", &wrong));
        let said = stderr(&output).split_whitespace().filter(|word| *word != "│").collect::<String>();
        assert!(said.contains(&format!("didyoumean`{file}`?")), "{line} with {wrong}: {said}");
        exits(&output, 2);
    }
}

#[test]
fn a_folder_is_told_with_the_configuration_in_it() {
    let folder = begun();
    fs::create_dir(folder.0.join("deeper")).unwrap();
    fs::copy(folder.0.join("coreach.yaml"), folder.0.join("deeper/coreach.yaml")).unwrap();
    for (line, takes) in COMMANDS {
        let is_of_folders = line.starts_with("coverage") || line.starts_with("report");
        if is_of_folders || !takes.contains(&FileKind::Configuration) {
            continue;
        }
        let output = here(&folder, &line.replace("{}", "deeper"));
        let said = stderr(&output);
        exits(&output, 2);
        assert!(said.contains("did you mean `deeper/coreach.yaml`?"), "{line}: {said}");
    }
    // Where there is no such file, nothing is guessed.
    let said = stderr(&here(&folder, "run runs"));
    assert!(said.contains("it is a folder") && !said.contains("did you mean"), "{said}");
    let said = stderr(&here(&folder, "run no/such/coreach.yaml"));
    assert!(said.contains("there is no folder `no`"), "{said}");
}

/// A purpose of a specification of nearly this name; a configuration that fixes a constant so that nothing
/// can begin.
#[test]
fn what_is_elsewhere_is_told() {
    let folder = begun();
    let purpose = fs::read_to_string(folder.0.join("open_after_wrong.yaml")).unwrap();
    folder.write("open_after_wrong.yaml", &purpose.replace("of: locker", "of: loker"));
    let said = stderr(&here(&folder, "check open_after_wrong.yaml"));
    assert!(said.contains("did you mean `of: locker`?"), "{said}");
    folder.write("open_after_wrong.yaml", &purpose.replace("of: locker", "of: fridge"));
    let said = stderr(&here(&folder, "check open_after_wrong.yaml"));
    assert!(said.contains("a file with `iosts: fridge`"), "{said}");

    folder.write("open_after_wrong.yaml", &purpose);
    folder.write(
        "none.yaml",
        "specification: specification.yaml\npurpose: open_after_wrong.yaml\ninstantiate: { cTries: 0 }\n",
    );
    let output = here(&folder, "run none.yaml");
    exits(&output, 2);
    let said = stderr(&output);
    assert!(said.contains("no-initial-state") && said.contains("`cTries` is fixed here"), "{said}");
}
