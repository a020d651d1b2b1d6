//! `coreach watch`: again after every change of a file that matters, until it is ended. Nothing here waits
//! for a time: the tests wait for what the program says.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Command, Stdio};

use crate::common::{Folder, coreach, exits};
use rustix::process::{Pid, Signal, kill_process};

/// A watch that a test has begun, ended with the test.
struct Watch {
    child: Child,
    says: BufReader<ChildStderr>,
}

impl Watch {
    fn begin(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let says = BufReader::new(child.stderr.take().unwrap());
        Watch { child, says }
    }

    /// All that is said up to the end of the next time: of that, the line that tells it.
    fn next(&mut self) -> (String, String) {
        let mut said = String::new();
        loop {
            let mut line = String::new();
            assert!(self.says.read_line(&mut line).unwrap() > 0, "it has ended:\n{said}");
            said += &line;
            if line.contains("; watching ") {
                return (said, line.trim().to_owned());
            }
        }
    }

    /// Ends it by a signal; its exit code.
    fn end(mut self, signal: Signal) -> Option<i32> {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn begun() -> Folder {
    let folder = Folder::new();
    exits(&coreach(["init"]).current_dir(&folder.0).output().unwrap(), 0);
    folder
}

#[test]
fn each_change_of_what_is_named_is_checked() {
    let folder = begun();
    let read = |name: &str| fs::read_to_string(folder.0.join(name)).unwrap();
    let (specification, configuration) = (read("specification.yaml"), read("coreach.yaml"));
    let mut watch = Watch::begin(coreach(["watch", "coreach.yaml"]).current_dir(&folder.0));
    assert_eq!(watch.next().1, "exit code 0; watching 3 files; Ctrl-C ends");

    // A mistake, drawn; then none.
    folder.write("specification.yaml", &specification.replace("vLeft - 1", "vLaft - 1"));
    let (said, line) = watch.next();
    assert_eq!(line, "exit code 2; watching 3 files; Ctrl-C ends");
    assert!(
        said.contains("changed: specification.yaml") && said.contains("did you mean the variable `vLeft`?"),
        "{said}"
    );
    // By another file of the name, as editors do it.
    folder.write("specification.yaml~", &specification);
    fs::rename(folder.0.join("specification.yaml~"), folder.0.join("specification.yaml")).unwrap();
    assert_eq!(watch.next().1, "exit code 0; watching 3 files; Ctrl-C ends");

    // A file that is not there yet is watched from when it is named.
    folder.write(
        "coreach.yaml",
        &configuration.replace("[open_after_wrong.yaml]", "[open_after_wrong.yaml, blocked.yaml]"),
    );
    assert_eq!(watch.next().1, "exit code 2; watching 4 files; Ctrl-C ends");
    let purpose = "purpose: blocked\nof: locker\ninitial: { location: B }\ntransitions:\n  - { from: B, to: Accept, on: Blocked }\n";
    folder.write("blocked.yaml", purpose);
    let (said, line) = watch.next();
    assert!(said.contains("changed: blocked.yaml"), "{said}");
    assert_eq!(line, "exit code 0; watching 4 files; Ctrl-C ends");

    // Half a file, and none: what was watched stays.
    folder.write("coreach.yaml", &configuration[..configuration.find("[open").unwrap() + 9]);
    assert_eq!(watch.next().1, "exit code 2; watching 4 files; Ctrl-C ends");
    fs::remove_file(folder.0.join("coreach.yaml")).unwrap();
    assert_eq!(watch.next().1, "exit code 2; watching 4 files; Ctrl-C ends");
    folder.write("coreach.yaml", &configuration);
    assert_eq!(watch.next().1, "exit code 0; watching 3 files; Ctrl-C ends");
    assert_eq!(watch.end(Signal::INT), Some(130));
}

#[test]
fn with_run_the_test_cases_are_made_each_time() {
    let folder = begun();
    let mut watch =
        Watch::begin(coreach(["watch", "coreach.yaml", "--run", "--verbose"]).current_dir(&folder.0));
    let (said, line) = watch.next();
    assert_eq!(line, "exit code 0; watching 3 files; Ctrl-C ends");
    // What every command takes is passed on.
    assert!(said.contains("wrote out/open_after_wrong/test_case.yaml: "), "{said}");
    fs::remove_dir_all(folder.0.join("out")).unwrap();
    let purpose = fs::read_to_string(folder.0.join("open_after_wrong.yaml")).unwrap();
    folder.write("open_after_wrong.yaml", &purpose.replace("on: Wrong", "on: Blocked"));
    // Nothing opens behind Blocked.
    assert_eq!(watch.next().1, "exit code 7; watching 3 files; Ctrl-C ends");
    assert!(folder.0.join("out/open_after_wrong/test_case.yaml").is_file());
    assert_eq!(watch.end(Signal::TERM), Some(143));
}

/// Work that is under way ends with the watch, and nothing of it stays.
#[test]
fn the_end_is_the_end_of_what_it_has_started() {
    let folder = Folder::new();
    // Some minutes of work, were it not ended.
    folder.write(
        "hard.yaml",
        "iosts: hard\nvariables: { a: int, b: int, c: int }\ninitial: { location: A, condition: \"a > 1 && b > 1 && c > 1 && a * a * a + b * b * b == c * c * c\" }\n\
         outputs: { O: {} }\ntransitions:\n  - { from: A, to: A, on: O, when: \"a * a * a * a + b * b * b * b == c * c * c * c\" }\n",
    );
    let mut watch = Watch::begin(coreach(["watch", "hard.yaml", "--verbose"]).current_dir(&folder.0));
    let mut line = String::new();
    watch.says.read_line(&mut line).unwrap();
    let parent = watch.child.id();
    assert_eq!(watch.end(Signal::TERM), Some(143));
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let after = stat.rsplit(')').next().unwrap_or_default();
        assert_ne!(after.split_whitespace().nth(1), Some(parent.to_string().as_str()), "{stat}");
        let command = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        let is_of_here = fs::read_link(entry.path().join("cwd")).is_ok_and(|place| place == folder.0);
        assert!(!(is_of_here && command.contains("check")), "{command}");
    }
}
