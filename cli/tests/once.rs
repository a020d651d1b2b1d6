//! A file that changes while a command runs: whatever is hashed, told, sent and judged comes from one look at
//! it.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::collections::BTreeMap;
use std::fs;
use std::mem::MaybeUninit;
use std::path::Path;

use crate::common::{Folder, data};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;

/// A folder with the coffee machine, and it as an implementation.
fn folder() -> Folder {
    let folder = Folder::with(&[
        ("coreach.yaml", "specification: specification.yaml\npurpose: deliver_coffee.yaml\n"),
        ("iut.yaml", "iut: machine\nsimulated: { model: machine.yaml }\n"),
        (
            "campaign.yaml",
            "campaign: nightly\ntests: [{ configuration: coreach.yaml }]\niuts: [iut.yaml]\n\
             constants: [{ cPrice: 3 }]\nseeds: { first: 1, count: 4 }\n",
        ),
    ]);
    for file in ["specification.yaml", "deliver_coffee.yaml"] {
        fs::copy(data("coffee").join(file), folder.0.join(file)).unwrap();
    }
    fs::copy(data("coffee/specification.yaml"), folder.0.join("machine.yaml")).unwrap();
    folder
}

/// How often a command opens each file of the folder. The kernel tells of every time that a file is opened
/// and closed; it joins what is told twice in a row, which one after the other is not.
fn opened_by(folder: &Folder, arguments: &[&str], code: i32) -> BTreeMap<String, usize> {
    let watch = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
    let what = WatchFlags::OPEN | WatchFlags::CLOSE_NOWRITE | WatchFlags::CLOSE_WRITE;
    inotify::add_watch(&watch, &folder.0, what).unwrap();
    let output = folder.coreach(arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
    let mut buffer = [MaybeUninit::uninit(); 1 << 16];
    let mut reader = inotify::Reader::new(&watch, &mut buffer);
    let mut counts = BTreeMap::new();
    loop {
        match reader.next() {
            Ok(event) if event.events().contains(ReadFlags::OPEN) => {
                if let Some(name) = event.file_name() {
                    *counts.entry(name.to_string_lossy().into_owned()).or_default() += 1;
                }
            }
            Ok(event) => assert!(!event.events().contains(ReadFlags::QUEUE_OVERFLOW)),
            Err(Errno::AGAIN) => return counts,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Each file is opened once for its content. What a command is about to write is held against the files that
/// it reads, for which these are asked once more what they are, and once what they name (`outputs.rs`);
/// nothing else comes of that. One more, and what is hashed is not what is run.
#[test]
fn nothing_is_read_twice() {
    const ONCE: usize = 1;
    const AND_FOR_OUTPUTS: usize = 3;
    const AND_FOR_PARTS: usize = 2;
    const AND_FOR_ITS_KIND: usize = 2;
    const FOR_BOTH: usize = 4;
    let folder = folder();
    let test = ["test", "coreach.yaml", "--iut", "iut.yaml", "--constant", "cPrice=3", "--keep", "kept"];
    let replay = ["replay", "kept/deliver_coffee.1.json", "--iut", "iut.yaml"];
    let models = [("specification.yaml", AND_FOR_OUTPUTS), ("deliver_coffee.yaml", ONCE)];
    let machine = [("iut.yaml", AND_FOR_OUTPUTS), ("machine.yaml", AND_FOR_PARTS)];
    let alone =
        [("coreach.yaml", AND_FOR_ITS_KIND), ("specification.yaml", ONCE), ("deliver_coffee.yaml", ONCE)];
    let configuration = [("coreach.yaml", AND_FOR_OUTPUTS)];
    for (arguments, wanted) in [
        (&["run", "coreach.yaml", "--quiet"][..], [&configuration[..], &models].concat()),
        (&["mutate", "coreach.yaml", "--mutants", "1"], alone.to_vec()),
        (&test, [&[("coreach.yaml", FOR_BOTH)][..], &models, &machine].concat()),
        (&replay, vec![("iut.yaml", ONCE), ("machine.yaml", ONCE)]),
        (
            &["campaign", "campaign.yaml"],
            [&[("campaign.yaml", AND_FOR_OUTPUTS)][..], &configuration, &models, &machine].concat(),
        ),
    ] {
        let mut counts = opened_by(&folder, arguments, 0);
        counts.retain(|name, _| name.ends_with(".yaml"));
        let wanted = wanted.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
        assert_eq!(counts, wanted, "{arguments:?}");
    }
}

/// The implementation replaces every file the moment that it is started: the runs behind it are those of the
/// campaign that was read, and their keys say so.
#[test]
fn what_changes_after_the_first_look_changes_nothing() {
    let folder = folder();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/coffee_machine/iut.py");
    let program = fs::read_to_string(example).unwrap();
    let replaced = ["campaign.yaml", "coreach.yaml", "specification.yaml", "deliver_coffee.yaml"];
    let replacing = format!(
        "for name in {replaced:?}:\n    open(name, 'w').write('changed: true')\n\
         open('iut.yaml', 'w').write('iut: machine\\nstdio: {{ command: [\"false\"] }}')\n{program}"
    );
    folder.write("replacing.py", &replacing);
    let described = "iut: machine\nstdio: { command: [python3, replacing.py] }\n";
    folder.write("iut.yaml", described);
    let output = folder.coreach(&["campaign", "campaign.yaml", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["executed"], 4, "{told}");
    assert!(fs::read_to_string(folder.0.join("iut.yaml")).unwrap().contains("false"));
    let store = rusqlite::Connection::open(folder.0.join("nightly.sqlite")).unwrap();
    let kept: Vec<String> = store
        .prepare("SELECT description FROM iuts")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let kept: Vec<serde_json::Value> = kept.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    assert_eq!(kept.iter().map(|kept| &kept["file"]).collect::<Vec<_>>(), [described]);
}
