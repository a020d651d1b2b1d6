//! No command writes over what is read: every option that writes, as the command line itself declares them,
//! against every kind of file, by its name, by a symbolic link and by a hard link. It is refused, or nothing
//! happens to the file.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap::builder::ValueParser;
use coreach_cli::arguments::Arguments;
use coreach_cli::outputs::OutputPath;

use crate::common::{Folder, coreach, stderr, stdout};

/// An option that writes, and a command line for it: `@` is the path, `@/NAME` that of a folder in which a
/// file of this name is written.
const OPTIONS: [(&str, &str); 17] = [
    ("init DIR", "init @/coreach.yaml"),
    ("run --out", "run coreach.yaml --stages test_case --out @/deliver_coffee/test_case.json"),
    ("import --out", "import lift.aut --inputs CALL --outputs * --out @"),
    ("explore --draw", "explore models/specification.yaml --depth 1 --draw @.svg"),
    ("explore --out", "explore models/specification.yaml --depth 2 --all-paths 2 --out @"),
    ("cover --out", "cover models/specification.yaml --depth 2 --out @/coreach.yaml"),
    ("test --keep", "test coreach.yaml --iut right.yaml --seed 7 --keep @/deliver_coffee.7.json"),
    ("test --junit", "test coreach.yaml --iut right.yaml --junit @"),
    ("explain --draw", "explain nightly.sqlite 1 --draw @.dot"),
    ("replay --keep", "replay nightly.sqlite 1 --keep @"),
    ("campaign --store", "campaign campaign.yaml --store @"),
    ("campaign --junit", "campaign campaign.yaml --junit @"),
    ("campaign --html", "campaign campaign.yaml --html @"),
    ("campaign merge INTO", "campaign merge @ nightly.sqlite"),
    ("coverage --lcov", "coverage campaign.yaml --lcov @"),
    ("report --out", "report campaign.yaml --out @"),
    ("schema --out", "schema campaign --out @/campaign.schema.json"),
];

/// Those of a folder into which nothing is put that is no file of ours, and those of a timed model.
const MORE: [(&str, &str); 3] = [
    ("man DIR", "man @/coreach.1"),
    ("timed path --out", "timed path timed.yaml --path 1,2 --tm 5 --out @/test_case.json"),
    ("timed inputs --out", "timed inputs timed.yaml --cover transitions --out @/1.csv"),
];

/// The kinds of files, each with the options that write this kind, and so may change such a file.
const FILES: [(&str, &[&str]); 14] = [
    ("models/specification.yaml", &[]),
    ("models/deliver_coffee.yaml", &[]),
    ("property.yaml", &[]),
    ("coreach.yaml", &[]),
    ("wrong.yaml", &[]),
    ("server.sh", &[]),
    ("ca.pem", &[]),
    ("campaign.yaml", &[]),
    ("kept/deliver_coffee.7.json", &[]),
    ("kept/deliver_coffee.test_case.json", &["run --out", "timed path --out"]),
    ("nightly.sqlite", &["campaign --store", "campaign merge INTO"]),
    ("lift.aut", &[]),
    ("trace.csv", &["timed inputs --out"]),
    ("timed.yaml", &[]),
];

fn declared(command: &clap::Command, name: &str, found: &mut BTreeSet<String>) {
    let writes = ValueParser::from(clap::value_parser!(OutputPath)).type_id();
    for argument in command.get_arguments().filter(|one| one.get_value_parser().type_id() == writes) {
        let shown = match argument.get_long() {
            Some(long) => format!("--{long}"),
            None => argument.get_value_names().unwrap()[0].to_string(),
        };
        found.insert(format!("{name} {shown}").trim_start().to_owned());
    }
    for inner in command.get_subcommands() {
        declared(inner, format!("{name} {}", inner.get_name()).trim_start(), found);
    }
}

#[test]
fn every_option_that_writes_is_in_the_table() {
    let mut found = BTreeSet::new();
    declared(&Arguments::command(), "", &mut found);
    let table: BTreeSet<String> =
        OPTIONS.iter().chain(&MORE).map(|(option, _)| (*option).to_owned()).collect();
    assert_eq!(found, table);
}

/// One file of each kind.
fn files() -> Folder {
    let folder = Folder::of_machines("models");
    folder.write("lift.aut", "des (0, 2, 2)\n(0, \"CALL\", 1)\n(1, \"OPEN\", 0)\n");
    let timed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/trajectory/specification.yaml");
    fs::copy(timed, folder.0.join("timed.yaml")).unwrap();
    folder.write("property.yaml", "property: never\nof: coffee_machine\n");
    folder.write("server.sh", "#!/bin/sh\nexec cat\n");
    folder.write("ca.pem", "-----BEGIN CERTIFICATE-----\n");
    folder.write("trace.csv", "delay,action,values\n1,location,2\n");
    folder.write("served.yaml", "iut: served\nstdio: { command: [sh, server.sh, ca.pem] }\n");
    let campaign = |iuts: &str| {
        format!(
            "campaign: nightly\ntests: [{{ configuration: coreach.yaml }}]\niuts: [{iuts}]\nseeds: {{ first: 1, count: 1 }}\n"
        )
    };
    folder.write("campaign.yaml", &campaign("wrong.yaml"));
    let made = |arguments: &[&str]| {
        let output = folder.coreach(arguments);
        assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{arguments:?}: {}", stderr(&output));
    };
    made(&["campaign", "campaign.yaml", "--store", "nightly.sqlite"]);
    made(&["test", "coreach.yaml", "--iut", "wrong.yaml", "--seed", "7", "--keep", "kept"]);
    folder.write("campaign.yaml", &campaign("wrong.yaml, served.yaml"));
    folder
}

/// How the file is reached.
#[derive(Clone, Copy, Debug)]
enum Way {
    Name,
    Symbolic,
    Hard,
}

/// The path by which the file is reached: where the option says what it is called, by a link or as a copy of
/// that name.
fn path(folder: &Folder, file: &str, way: Way, called: Option<&str>, number: usize) -> PathBuf {
    let original = folder.0.join(file);
    let place = folder.0.join(format!("links/{number}"));
    let link = place.join(called.unwrap_or("link"));
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    match (way, called) {
        (Way::Name, None) => return original,
        (Way::Name, Some(_)) => drop(fs::copy(&original, &link).unwrap()),
        (Way::Symbolic, _) => symlink(&original, &link).unwrap(),
        (Way::Hard, _) => fs::hard_link(&original, &link).unwrap(),
    }
    link
}

fn against(options: &[(&str, &str)]) {
    let folder = files();
    let (mut number, mut wrong) = (0, Vec::new());
    for (option, line) in options {
        for (at, (file, own)) in FILES.iter().enumerate() {
            if own.contains(option) {
                continue;
            }
            number += 1;
            // All three are tried with each option, and with each kind of file.
            let way = [Way::Name, Way::Symbolic, Way::Hard][(at + number) % 3];
            let word = line.split(' ').find(|word| word.starts_with('@')).unwrap();
            let called = match word.strip_prefix("@/") {
                Some(name) => Some(name.to_owned()),
                None => {
                    word.strip_prefix('@').filter(|ending| !ending.is_empty()).map(|end| format!("x{end}"))
                }
            };
            let reached = path(&folder, file, way, called.as_deref(), number);
            let given = if word.starts_with("@/") {
                folder.0.join(format!("links/{number}"))
            } else {
                reached.clone()
            };
            let before = (fs::read(&reached).unwrap(), fs::read(folder.0.join(file)).unwrap());
            let words = line.split(' ').map(|one| match one == word {
                true => given.clone().into_os_string(),
                false => one.into(),
            });
            let output = coreach(words).current_dir(&folder.0).output().unwrap();
            let told = format!("{option}, {file}, {way:?}: {}{}", stdout(&output), stderr(&output));
            let after = (fs::read(&reached).unwrap(), fs::read(folder.0.join(file)).unwrap());
            if before != after {
                wrong.push(format!("written over: {told}"));
            }
            // What takes another name, as `--keep` does, is safe as well.
            let is_safe = *option == "test --keep";
            let says = [
                "writes-over-input",
                "no-folder",
                "one-file-twice",
                "output-is-there",
                "in-the-way",
                "wrong-kind-of-file",
                "--overwrite",
                "no store",
            ];
            let is_refused =
                output.status.code() == Some(2) && says.iter().any(|word| stderr(&output).contains(word));
            if !is_refused && !is_safe {
                wrong.push(format!("{:?}: {told}", output.status.code()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn what_is_made_of_models_is_written_over_nothing() {
    against(&OPTIONS[..9]);
}

#[test]
fn what_comes_of_runs_is_written_over_nothing() {
    against(&OPTIONS[9..17]);
}

#[test]
fn what_comes_of_campaigns_is_written_over_nothing() {
    against(&OPTIONS[17..]);
}

#[test]
fn what_comes_of_timed_models_is_written_over_nothing() {
    against(&MORE);
}

/// A file of the kind that is written is no input, unless it is one.
#[test]
fn what_is_of_the_same_kind_is_replaced_unless_it_is_read() {
    let folder = files();
    let is_refused = |line: &str| {
        let output = folder.coreach(&line.split(' ').collect::<Vec<_>>());
        if output.status.code() == Some(2) {
            let said = stderr(&output);
            assert!(
                ["writes-over-input", "no-folder"].iter().any(|code| said.contains(code)),
                "{line}: {said}"
            );
        }
        output.status.code() == Some(2)
    };
    folder.write("other.yaml", &folder.read("models/specification.yaml"));
    let import = |more: &str| format!("import lift.aut --inputs CALL --outputs * --out other.yaml{more}");
    assert!(!is_refused(&import(" --overwrite")));
    for kept in ["coreach.yaml", "nightly.sqlite", "wrong.yaml"] {
        assert!(is_refused(&import(" --overwrite").replace("other.yaml", kept)), "{kept}");
    }
    assert!(is_refused("campaign merge nightly.sqlite nightly.sqlite"));
    // A file where a folder is needed.
    for line in ["run coreach.yaml", "schema", "cover models/specification.yaml --depth 2"] {
        assert!(is_refused(&format!("{line} --out models/specification.yaml")), "{line}");
    }
    assert!(is_refused("test coreach.yaml --iut right.yaml --keep coreach.yaml"));
    assert!(is_refused("import other.yaml --from aut --out other.yaml --overwrite"));
    for _ in 0..2 {
        assert!(!is_refused("run coreach.yaml --stages test_case --out out"));
        assert!(!is_refused("cover models/specification.yaml --depth 3 --out suite"));
        assert!(!is_refused("coverage coreach.yaml nightly.sqlite --lcov lcov.info"));
        assert!(!is_refused("explain nightly.sqlite 1 --draw run.svg"));
        assert!(!is_refused("test coreach.yaml --iut right.yaml --junit junit.xml --keep kept"));
        assert!(!is_refused("schema --out schemas") && !is_refused("man manual"));
        assert!(!is_refused(
            "timed path timed.yaml --path 1,2 --tm 5 --out timed --formats dot,json,yaml,sptg"
        ));
    }
}
