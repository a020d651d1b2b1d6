//! What the tests here share: a folder of a test's own, the program run in it, and what came of it.
#![allow(dead_code, unused_macros, reason = "not every test needs all of it")]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

/// The machine's right change, and one coin less.
pub const RIGHT: &str = "when: vPaid >= cPrice && pRemainingValue == vPaid - cPrice";
pub const WRONG: &str = "when: vPaid > cPrice && pRemainingValue == vPaid - cPrice - 1";

/// Words and paths, as arguments.
macro_rules! arguments {
    ($($argument:expr),* $(,)?) => { [$(std::ffi::OsString::from($argument)),*] };
}

/// A file of the tests.
pub fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)
}

/// A folder of a test's own, gone at its end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("coreach-cli-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// With these files.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let folder = Folder::new();
        for (file, text) in files {
            folder.write(file, text);
        }
        folder
    }

    /// With a copy of each file of a folder of [`data`].
    pub fn of(data: &str) -> Self {
        let folder = Folder::new();
        for entry in fs::read_dir(self::data(data)).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), folder.0.join(entry.file_name())).unwrap();
        }
        folder
    }

    /// With the coffee machine and its purposes in the folder `models` of it, the configuration of one of
    /// these, and two implementations: the machine as `right.yaml`, a mutant of it as `wrong.yaml`.
    pub fn of_machines(models: &str) -> Self {
        let folder = Folder::new();
        let at = |file: &str| Path::new(models).join(file).display().to_string();
        for file in ["specification.yaml", "deliver_coffee.yaml", "several_drinks.yaml", "never.yaml"] {
            folder.write(&at(file), &fs::read_to_string(data("coffee").join(file)).unwrap());
        }
        let (right, wrong) = (at("specification.yaml"), at("mutant.yaml"));
        folder.write(&wrong, &folder.read(&right));
        folder.change(&wrong, RIGHT, WRONG);
        let configuration = format!("specification: {right}\npurpose: {}\n", at("deliver_coffee.yaml"));
        folder.write("coreach.yaml", &configuration);
        folder.write("right.yaml", &format!("iut: right\nsimulated: {{ model: {right} }}\n"));
        folder.write("wrong.yaml", &format!("iut: wrong\nsimulated: {{ model: {wrong} }}\n"));
        folder
    }

    /// A configuration of the coffee machine with one purpose and more lines.
    pub fn coffee(&self, purpose: &str, more: &str) -> PathBuf {
        let (specification, purpose) =
            (data("coffee/specification.yaml"), data(&format!("coffee/{purpose}.yaml")));
        let text =
            format!("specification: {}\npurpose: {}\n{more}\n", specification.display(), purpose.display());
        self.write("coreach.yaml", &text)
    }

    pub fn write(&self, file: &str, text: &str) -> PathBuf {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub fn read(&self, file: &str) -> String {
        fs::read_to_string(self.0.join(file)).unwrap()
    }

    pub fn json(&self, file: &str) -> Value {
        serde_json::from_str(&self.read(file)).unwrap()
    }

    /// Puts `to` for each `from`, which must be there.
    #[track_caller]
    pub fn change(&self, file: &str, from: &str, to: &str) {
        let text = self.read(file);
        assert!(text.contains(from), "{file} has no {from:?}: {text}");
        self.write(file, &text.replace(from, to));
    }

    /// Runs the program here.
    pub fn coreach(&self, arguments: &[&str]) -> Output {
        coreach(arguments).current_dir(&self.0).output().unwrap()
    }

    /// Runs the program here, which must end with this exit code; standard output and standard error.
    #[track_caller]
    pub fn ends(&self, arguments: &[&str], code: i32) -> (String, String) {
        let output = self.coreach(arguments);
        exits(&output, code);
        (stdout(&output), stderr(&output))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The program with these arguments.
pub fn coreach<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coreach"));
    command.args(arguments);
    command
}

/// Runs the program where the test runs.
pub fn run<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Output {
    coreach(arguments).output().unwrap()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[track_caller]
pub fn exits(output: &Output, code: i32) {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "stdout:\n{out}\nstderr:\n{err}");
}

/// The document on standard output.
#[track_caller]
pub fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", stdout(output)))
}
