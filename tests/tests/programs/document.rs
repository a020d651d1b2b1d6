//! `docs/how-to/import-and-export.md` does what it says of test cases as programs: its commands print what
//! stands below them, its adapters work.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use super::made::root;
use super::python::Folder;

/// What the page says of them.
fn document() -> String {
    let page = fs::read_to_string(root().join("docs/how-to/import-and-export.md")).unwrap();
    page.split_once("\n## Write a test case as a program\n").unwrap().1.to_owned()
}

/// The blocks with this word behind their fence.
fn blocks(word: &str) -> Vec<String> {
    let text = document();
    let begin = format!("\n```{word}\n");
    text.split(&begin).skip(1).map(|rest| rest.split("\n```").next().unwrap().to_owned()).collect()
}

/// A folder with the examples, and `coreach` in a folder of its own.
fn place(name: &str) -> (Folder, String) {
    let folder = Folder::new(name);
    fs::create_dir(folder.0.join("bin")).unwrap();
    symlink(env!("CARGO_BIN_EXE_program"), folder.0.join("bin/coreach")).unwrap();
    symlink(root().join("examples").canonicalize().unwrap(), folder.0.join("examples")).unwrap();
    let path = format!("{}:{}", folder.0.join("bin").display(), std::env::var("PATH").unwrap());
    (folder, path)
}

fn shell(folder: &Path, path: &str, command: &str) -> String {
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", path)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// `...` stands for any lines.
fn fits(shown: &[&str], printed: &[&str]) -> bool {
    match shown {
        [] => printed.is_empty(),
        ["...", rest @ ..] => (0..=printed.len()).any(|at| fits(rest, &printed[at..])),
        [first, rest @ ..] => printed.first() == Some(first) && fits(rest, &printed[1..]),
    }
}

#[test]
fn the_commands_of_the_document_print_what_it_shows() {
    let (folder, path) = place("commands");
    let mut done = 0;
    for block in blocks("console") {
        for part in format!("\n{block}").split("\n$ ").skip(1) {
            let (command, shown) = part.split_once('\n').unwrap_or((part, ""));
            let said = shell(&folder.0, &path, command);
            let shown: Vec<&str> = shown.lines().collect();
            assert!(fits(&shown, &said.lines().collect::<Vec<_>>()), "{command} prints\n{said}");
            done += 1;
        }
    }
    assert_eq!(done, 5);
}

/// The adapter in Python, with a stub of pytest and with the real one where it is there.
#[test]
fn the_adapter_in_python_meets_the_test_case() {
    let (folder, path) = place("adapter");
    let (adapter,) = match blocks("python").as_slice() {
        [one] => (one.clone(),),
        other => panic!("{} blocks", other.len()),
    };
    shell(&folder.0, &path, blocks("console")[0].lines().next().unwrap().trim_start_matches("$ "));
    folder.file("conftest.py", &adapter);
    let stubs = folder.0.join("stubs");
    fs::create_dir(&stubs).unwrap();
    let stub = "fixture = lambda function: function\nclass mark:\n    parametrize = staticmethod(lambda *given: lambda function: function)\n";
    fs::write(stubs.join("pytest.py"), stub).unwrap();
    let script = "import sys; sys.path[:0] = ['stubs', '.']\nimport conftest, test_case\n\
                  print([test_case.run(conftest.coreach_adapter(), seed, conftest.coreach_constants()).verdict for seed in range(5)])";
    folder.file("all.py", script);
    let said = shell(&folder.0, &path, "python3 all.py");
    assert_eq!(said, "['Pass', 'Pass', 'Pass', 'Pass', 'Pass']\n");
    let python = std::env::var("PYTEST").unwrap_or_else(|_| "python3".to_owned());
    if shell(&folder.0, &path, &format!("{python} -c 'import pytest' && echo there")) == "there\n" {
        let said = shell(
            &folder.0,
            &path,
            &format!("COREACH_RUNS=5 {python} -m pytest -q -p no:cacheprovider test_case.py"),
        );
        assert!(said.contains("5 passed"), "{said}");
    } else {
        println!("skipped: {python} has no pytest");
    }
}

/// The one in Rust is that of the crate's own documentation, which cargo compiles and runs.
#[test]
fn the_adapter_in_rust_is_one_that_is_compiled() {
    let source = fs::read_to_string(root().join("execution/src/trial.rs")).unwrap();
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let documented: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    let [block] = blocks("rust").try_into().unwrap();
    assert!(documented.join("\n").contains(&block), "{block}");
}
