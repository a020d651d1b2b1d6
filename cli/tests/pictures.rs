//! The pictures of the examples are drawn by the program, and each page of an example shows one.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The picture of each example, and the command that draws it in the example's folder. A command that writes
/// a folder writes the picture into it.
const PICTURES: [(&str, &str); 20] = [
    ("atm_timed", "timed path specification.yaml --path tr1,tr2 --tm 5 --formats svg --out"),
    ("bank", "show deadlock.yaml --format svg"),
    ("bounded_retransmission", "show coreach.yaml --stage test_graph --format svg"),
    ("counter", "show coreach.yaml --stage test_graph --format svg"),
    ("dns", "show coreach.yaml --purpose half_way --stage test_graph --format svg"),
    ("jobs", "show far.yaml --format svg"),
    ("light_switch", "show coreach.yaml --stage test_graph --format svg"),
    ("locker", "show coreach.yaml --stage test_graph --format svg"),
    ("mqtt", "show coreach.yaml --purpose impostor --stage test_graph --format svg"),
    ("numerical", "show gas_burner.yaml --format svg"),
    ("parcels", "show coreach.yaml --stage test_graph --format svg"),
    ("ranges", "show coreach.yaml --purpose resume --stage test_graph --format svg"),
    ("redis", "show coreach.yaml --purpose count_to --stage test_graph --format svg"),
    ("retransmission", "show coreach.yaml --purpose give_up --stage test_graph --format svg"),
    ("session", "show coreach.yaml --purpose beats --stage test_graph --format svg"),
    ("smtp", "show coreach.yaml --purpose announced --stage test_graph --format svg"),
    ("store", "show specification.yaml --format svg"),
    ("trajectory", "timed path specification.yaml --path 1,2 --tm 5 --formats svg --out"),
    ("vending_nondeterministic", "show coreach.yaml --stage test_graph --format svg"),
    ("webdav", "show coreach.yaml --purpose once --stage test_graph --format svg"),
];

/// The picture that a command draws.
fn draw(example: &str, command: &str) -> String {
    let mut words: Vec<&str> = command.split(' ').collect();
    let folder = std::env::temp_dir().join(format!("coreach-picture-{example}-{}", std::process::id()));
    let writes_a_folder = words.ends_with(&["--out"]);
    if writes_a_folder {
        words.push(folder.to_str().unwrap());
    }
    let mut program = Command::new(env!("CARGO_BIN_EXE_coreach"));
    let output = program.args(&words).current_dir(root().join("examples").join(example)).output().unwrap();
    assert!(output.status.success(), "{example}: {}", String::from_utf8_lossy(&output.stderr));
    if !writes_a_folder {
        return String::from_utf8(output.stdout).unwrap();
    }
    let drawn = std::fs::read_to_string(folder.join("test_case.svg")).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    drawn
}

/// *Precision*: a picture may show a better test graph, and then its file must follow.
#[test]
fn the_pictures_of_the_examples_are_drawn_by_the_program() {
    for (example, command) in PICTURES {
        let path = root().join(format!("docs/pictures/{example}.svg"));
        let drawn = draw(example, command);
        if std::env::var_os("COREACH_BLESS").is_some() {
            std::fs::write(&path, &drawn).unwrap();
        }
        assert!(
            std::fs::read_to_string(&path).unwrap() == drawn,
            "{example}: bless docs/pictures/{example}.svg"
        );
    }
}

#[test]
fn every_example_shows_its_picture() {
    let mut examples = 0;
    for entry in std::fs::read_dir(root().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_dir() {
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(path.join("README.md")).unwrap();
        assert!(text.contains(&format!("](../../docs/pictures/{name}.svg)")), "{name}");
        assert!(text.split_whitespace().count() <= 200, "{name}: more than 200 words");
        assert!(root().join(format!("docs/pictures/{name}.svg")).is_file(), "{name}");
        examples += 1;
    }
    assert_eq!(examples, PICTURES.len() + 1, "each has a picture here, but the coffee machine of the README");
}
