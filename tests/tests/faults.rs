//! The planted faults can be planted: each patch of `tests/faults` fits the code of today. `scripts/faults`
//! builds them and waits for the soak to find each; it is run by hand, and until then nobody would see that a
//! change of the code has left one behind.
#![allow(clippy::unwrap_used, reason = "a test's helper fails its test")]

use std::fs;
use std::path::Path;

use coreach_tests::properties::PROPERTIES;

/// So many lines of context may differ at the ends of a piece: as many as the program `patch` overlooks.
const FUZZ: usize = 2;

/// The lines that a piece of a patch finds, and those that it leaves.
struct Piece<'a> {
    file: &'a str,
    before: Vec<(char, &'a str)>,
    after: Vec<&'a str>,
}

fn pieces(patch: &str) -> Vec<Piece<'_>> {
    let mut found: Vec<Piece<'_>> = Vec::new();
    let mut file = "";
    let mut inside = false;
    for line in patch.lines() {
        if let Some(name) = line.strip_prefix("+++ b/") {
            file = name;
        } else if line.starts_with("@@ ") {
            found.push(Piece { file, before: Vec::new(), after: Vec::new() });
            inside = true;
        } else if line.starts_with("diff ") {
            inside = false;
        } else if let (true, Some(piece), Some(sign)) = (inside, found.last_mut(), line.chars().next()) {
            if matches!(sign, ' ' | '-') {
                piece.before.push((sign, &line[1..]));
            }
            if matches!(sign, ' ' | '+') {
                piece.after.push(&line[1..]);
            }
        }
    }
    found
}

/// Do the lines stand in the text, but for a few of context at the ends?
fn fits(piece: &Piece<'_>, text: &str) -> bool {
    let is_context = |(sign, _): &&(char, &str)| *sign == ' ';
    let front = piece.before.iter().take_while(is_context).count().min(FUZZ);
    let back = piece.before.iter().rev().take_while(is_context).count().min(FUZZ);
    let wanted: Vec<&str> =
        piece.before[front..piece.before.len() - back].iter().map(|(_, line)| *line).collect();
    let lines: Vec<&str> = text.lines().collect();
    !wanted.is_empty() && lines.windows(wanted.len()).any(|window| window == wanted)
}

#[test]
fn every_fault_fits_the_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut names = Vec::new();
    for entry in fs::read_dir(root.join("tests/faults")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "patch") {
            continue;
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let patch = fs::read_to_string(&path).unwrap();
        let pieces = pieces(&patch);
        assert!(!pieces.is_empty(), "{name} changes nothing");
        assert!(!patch.starts_with("diff "), "{name} does not say what it plants");
        for piece in pieces {
            let text = fs::read_to_string(root.join(piece.file)).unwrap();
            let before: Vec<&str> = piece.before.iter().map(|(_, line)| *line).collect();
            assert_ne!(before, piece.after, "{name} changes nothing");
            assert!(fits(&piece, &text), "{name} does not fit {}", piece.file);
        }
        names.push(name);
    }
    // The table has a row for each, and for nothing else, with the property that found it.
    let table = fs::read_to_string(root.join("tests/faults/found.csv")).unwrap();
    let rows = table.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let mut found = Vec::new();
    for row in rows {
        let [name, _, _, property] = row[..] else { panic!("{row:?} has not four fields") };
        let is_known = PROPERTIES.iter().any(|known| known.name == property);
        assert!(is_known, "{name}: there is no property `{property}`");
        found.push(name.to_owned());
    }
    found.sort_unstable();
    names.sort_unstable();
    assert_eq!(found, names);
    let evidence = fs::read_to_string(root.join("docs/explanation/evidence.md")).unwrap();
    assert!(evidence.contains(&format!("found all {} faults", names.len())), "{}", names.len());
}

#[test]
fn a_piece_that_does_not_fit_is_seen() {
    let patch = "what\n\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n two\n-three\n+four\n five\n";
    let pieces = pieces(patch);
    assert_eq!(pieces.len(), 1);
    assert!(fits(&pieces[0], "one\ntwo\nthree\nfive\n"));
    assert!(fits(&pieces[0], "other\ntwo\nthree\n"));
    assert!(!fits(&pieces[0], "one\ntwo\nthree and more\nfive\n"));
}
