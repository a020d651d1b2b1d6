//! A server that adds, over each way, right or wrong: `data/adder`.
#![allow(dead_code, reason = "not every test needs all of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The ways to it.
pub const WAYS: [&str; 4] = ["stdio", "tcp", "udp", "http"];

/// A folder with the files.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("coreach-adder-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/adder");
        for entry in fs::read_dir(data).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
        }
        Folder(folder)
    }

    /// The file of an implementation with this fault.
    pub fn iut(&self, way: &str, fault: &str) -> String {
        let name = format!("{way}_{fault}.yaml");
        let text = fs::read_to_string(self.0.join(format!("{way}.yaml"))).unwrap();
        fs::write(self.0.join(&name), text.replace("FAULT", fault)).unwrap();
        name
    }

    /// Runs once, and returns the record.
    #[track_caller]
    pub fn run(&self, way: &str, fault: &str, verdict: &str) -> Value {
        let iut = self.iut(way, fault);
        let keep = format!("{way}-{fault}");
        let output =
            self.coreach(&["test", "coreach.yaml", "--iut", &iut, "--keep", &keep, "--quiescence", "5000"]);
        let path = self.0.join(keep).join("four.1.json");
        let record: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        assert_eq!(record["verdict"], verdict, "{output:?}");
        record
    }

    pub fn coreach(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_coreach")).args(arguments).current_dir(&self.0).output().unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What an item of evidence holds.
pub fn bytes(item: &Value) -> Vec<u8> {
    match (item["text"].as_str(), item["base64"].as_str()) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(text)) => decoded(text),
        (None, None) => Vec::new(),
    }
}

fn decoded(text: &str) -> Vec<u8> {
    const SIGNS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut held, mut count) = (0_u32, 0);
    for sign in text.bytes().filter(|sign| *sign != b'=') {
        held = held << 6 | SIGNS.iter().position(|one| *one == sign).unwrap() as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((held >> count & 0xFF) as u8);
        }
    }
    bytes
}
