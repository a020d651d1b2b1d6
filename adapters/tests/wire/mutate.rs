//! Changes to a message that somebody, or a broken wire, could make.

use coreach_model::random::Random;

/// Pieces that are likely to be taken for something else.
const PIECES: &[&str] = &[
    "\"log\":1,",
    "\"error\":\"x\",",
    "\"output\":\"None\",",
    "\"output\":\"Deliver\",",
    "\"ready\":true,",
    "_",
    "+",
    "-",
    "0",
    "00",
    "1",
    ".0",
    ".5",
    "e0",
    "e2",
    "E+1",
    "1e400",
    "/",
    "/0",
    "/2",
    " ",
    "\t",
    "\r",
    "\u{a0}",
    "\u{feff}",
    "\0",
    ",",
    ":",
    "\"",
    "\\",
    "{}",
    "[]",
    "null",
    "true",
    "false",
    "NaN",
    "٣",
    "５",
    "С",
    "ⅰ",
    "\\u0044",
    "\\u0043",
    "\\ud800",
    "\\u0000",
    "\u{202e}",
    "tea",
    "coffee",
    "TEA",
    "COFFEE",
    "\"n\":2,",
    "\"d\":\"TEA\",",
    "\"a\":1,",
    "[1,5],",
    "\"default\":0,",
    "//",
    "/**/",
    "'",
    "}",
    "]",
];

/// A mutant of one of the messages: one to three changes.
pub fn mutant(seeds: &[&str], random: &mut Random) -> Vec<u8> {
    let mut bytes = seeds[random.below(seeds.len())].as_bytes().to_vec();
    for _ in 0..=random.below(3) {
        change(&mut bytes, seeds, random);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, seeds: &[&str], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    let end = (at + random.below(12)).min(bytes.len());
    match random.below(10) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        1 => drop(bytes.drain(at..end)),
        2 | 3 => {
            let piece = PIECES[random.below(PIECES.len())];
            bytes.splice(at..at, piece.bytes());
        }
        4 => {
            let piece = PIECES[random.below(PIECES.len())];
            bytes.splice(at..end, piece.bytes());
        }
        // A piece a second time, here or elsewhere.
        5 => {
            let piece = bytes[at..end].to_vec();
            let to = random.below(bytes.len() + 1);
            bytes.splice(to..to, piece);
        }
        // The rest of another message.
        6 => {
            let other = seeds[random.below(seeds.len())].as_bytes();
            bytes.truncate(at);
            bytes.extend_from_slice(&other[random.below(other.len())..]);
        }
        7 if at < bytes.len() => {
            bytes[at] = if bytes[at].is_ascii_lowercase() {
                bytes[at].to_ascii_uppercase()
            } else {
                bytes[at].to_ascii_lowercase()
            };
        }
        // A sign as its escape.
        8 if at < bytes.len() && bytes[at].is_ascii_alphanumeric() => {
            let escape = format!("\\u{:04x}", bytes[at]);
            bytes.splice(at..=at, escape.bytes());
        }
        _ => {
            let space = [" ", "\t", "  "][random.below(3)];
            bytes.splice(at..at, space.bytes());
        }
    }
}
