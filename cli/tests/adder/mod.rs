//! A server that adds, over each way, right or wrong: `data/adder`.
#![allow(dead_code, reason = "not every test needs all of it")]

use serde_json::Value;

use crate::common::Folder;

/// The ways to it.
pub const WAYS: [&str; 4] = ["stdio", "tcp", "udp", "http"];

/// A folder with the files.
pub fn folder() -> Folder {
    Folder::of("adder")
}

/// The file of an implementation with this fault.
pub fn iut(folder: &Folder, way: &str, fault: &str) -> String {
    let name = format!("{way}_{fault}.yaml");
    folder.write(&name, &folder.read(&format!("{way}.yaml")).replace("FAULT", fault));
    name
}

/// Runs once, and returns the record.
#[track_caller]
pub fn run(folder: &Folder, way: &str, fault: &str, verdict: &str) -> Value {
    let iut = iut(folder, way, fault);
    let keep = format!("{way}-{fault}");
    let output =
        folder.coreach(&["test", "coreach.yaml", "--iut", &iut, "--keep", &keep, "--quiescence", "5000"]);
    let record = folder.json(&format!("{keep}/four.1.json"));
    assert_eq!(record["verdict"], verdict, "{output:?}");
    record
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
