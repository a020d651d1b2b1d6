//! Which files matter to a file, and when they have changed.
//!
//! **Problem.** Who writes a model saves it every minute, in an editor that may write it in pieces, or write
//! another file and rename it, or remove it first. Files come to be named, and are not there yet.
//!
//! **Method.** Any word of a YAML file may be a path: what is there, and what looks like the name of a YAML
//! file, is watched; YAML files are looked into in their turn. So every key that names a file is known, a new
//! one too, and a word too many costs a look. Where a file cannot be read or is no YAML at the moment, what
//! was watched before stays.
//!
//! Files are looked at again and again: some dozen calls of `stat`, which works on every file system, in
//! containers and for files that are not there, where the kernel's notices do not (`docs/decisions.md`). A
//! change counts when two looks in a row saw the same, so a file is read when the writing has paused. A time
//! of change as young as a tick of the kernel's clock says little; by the second look it is older.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use coreach_model::iosts::Aim;
use coreach_model::reader::collect::Collector;
use coreach_model::reader::yaml;

use crate::budget;
use crate::campaign::iuts::words_of;
use crate::models::{FileKind, kind_of, specifications_named};

/// At most so many files are watched.
pub const MOST: usize = 1000;

/// The given files, and all that they name. `before` is what was watched so far.
pub fn watched(given: &[PathBuf], before: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut work: Vec<PathBuf> = given.iter().rev().cloned().collect();
    let mut is_whole = true;
    while let Some(path) = work.pop() {
        if found.len() == MOST || !found.insert(path.clone()) {
            continue;
        }
        if is_yaml(&path) {
            match named_in(&path, given) {
                Some(named) => work.extend(named.into_iter().rev()),
                None => is_whole = false,
            }
        }
    }
    if !is_whole {
        found.extend(before.iter().take(MOST).cloned());
    }
    found
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// What a file names; nothing where it cannot be read now.
fn named_in(path: &Path, given: &[PathBuf]) -> Option<Vec<PathBuf>> {
    let looked = budget::reading(|| {
        let file = yaml::load(path).map_err(|found| vec![found])?;
        let mut collector = Collector::new(file.clone());
        let Some(root) = yaml::parse(&mut collector) else { return Err(Vec::new()) };
        let mut words = Vec::new();
        words_of(&root, &mut words);
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut named: Vec<PathBuf> = words.iter().map(|word| folder.join(word)).collect();
        named.retain(|path| path.is_file() || is_yaml(path));
        // A purpose names its specification, and not the file of that.
        if let Ok(FileKind::Purpose { aim: Aim::Accept | Aim::Violate, of: Some((name, _)) }) = kind_of(&file)
        {
            let files = specifications_named(&name, given, path);
            named.extend(files.iter().map(|file| PathBuf::from(&file.name)));
        }
        Ok(named)
    });
    looked.ok()
}

/// What tells a file from itself after a change: when it was changed, how long it is, and which one it is.
pub type Stamp = (i64, i64, u64, u64, u64);

/// The stamps of files; none for one that is not there.
pub type Stamps = BTreeMap<PathBuf, Option<Stamp>>;

/// A look at the files.
pub fn stamps(files: &BTreeSet<PathBuf>) -> Stamps {
    let stamp = |path: &PathBuf| {
        let file = path.metadata().ok()?;
        Some((file.mtime(), file.mtime_nsec(), file.size(), file.dev(), file.ino()))
    };
    files.iter().map(|path| (path.clone(), stamp(path))).collect()
}

/// What is known, and what was seen since.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Changes {
    known: Option<Stamps>,
    seen: Option<Stamps>,
}

impl Changes {
    /// A look: which files have changed, and are as they were at the look before; all, at the second look.
    pub fn look(&mut self, now: Stamps) -> Option<Vec<PathBuf>> {
        if self.known.as_ref() == Some(&now) {
            // It was undone, or never whole.
            self.seen = None;
            return None;
        }
        if self.seen.as_ref() != Some(&now) {
            self.seen = Some(now);
            return None;
        }
        let before = self.known.take().unwrap_or_default();
        let is_new = |path: &&PathBuf| before.get(*path) != now.get(*path);
        let changed = now.keys().filter(is_new).cloned().collect();
        self.seen = None;
        self.known = Some(now);
        Some(changed)
    }

    /// From now on, this is what is known: what is watched has changed.
    pub fn know(&mut self, now: Stamps) {
        *self = Changes { known: Some(now), seen: None };
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use std::fs;

    use super::*;

    fn at(time: Option<i64>) -> Stamps {
        Stamps::from([(PathBuf::from("a"), time.map(|time| (time, 0, 1, 1, 1)))])
    }

    #[test]
    fn a_change_counts_when_the_writing_has_paused() {
        let mut changes = Changes::default();
        let one = Some(vec![PathBuf::from("a")]);
        // The first look of all is a change like any other.
        assert_eq!([1, 1, 1].map(|time| changes.look(at(Some(time)))), [None, one.clone(), None]);
        // Written in pieces; then gone, and back.
        assert_eq!([2, 3, 4, 4, 4].map(|t| changes.look(at(Some(t)))), [None, None, None, one.clone(), None]);
        assert_eq!([None, Some(5), Some(5)].map(|t| changes.look(at(t))), [None, None, one.clone()]);
        // Gone for good is a change, too; gone for a moment and back as it was is none.
        assert_eq!([None, None, None].map(|t| changes.look(at(t))), [None, one, None]);
        assert_eq!([Some(6), None, None].map(|t| changes.look(at(t))), [None, None, None]);
    }

    #[test]
    fn what_is_named_is_watched_as_long_as_it_is_named() {
        let folder = std::env::temp_dir().join(format!("coreach-watched-{}", std::process::id()));
        fs::create_dir_all(folder.join("deep")).unwrap();
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        let look = |given: &str, before: &BTreeSet<PathBuf>| watched(&[folder.join(given)], before);
        let names = |found: &BTreeSet<PathBuf>| -> Vec<String> {
            found.iter().map(|path| path.strip_prefix(&folder).unwrap().display().to_string()).collect()
        };
        write("campaign.yaml", "campaign: c\ntests: [{ configuration: coreach.yaml }]\niuts: [iut.yaml]\n");
        write("coreach.yaml", "specification: deep/whole.yaml\npurposes: [p.yaml, later.yaml]\n");
        write("deep/whole.yaml", "iosts: whole\ncompose: [part.yaml]\n");
        write("deep/part.yaml", "iosts: part\n");
        write("p.yaml", "purpose: p\nof: beside\n");
        write("beside.yaml", "iosts: beside\n");
        write("iut.yaml", "iut: i\nstdio: { command: [python3, server.py] }\n");
        write("server.py", "");
        write("other.yaml", "iosts: nobody_s\n");
        let all = look("campaign.yaml", &BTreeSet::new());
        let wanted = [
            "beside.yaml",
            "campaign.yaml",
            "coreach.yaml",
            "deep/part.yaml",
            "deep/whole.yaml",
            "iut.yaml",
            "later.yaml",
            "p.yaml",
            "server.py",
        ];
        assert_eq!(names(&all), wanted);
        // Half-written, and gone: what was watched stays.
        for text in ["specification: [deep/who", ""] {
            write("coreach.yaml", text);
            assert_eq!(look("campaign.yaml", &all), all, "{text:?}");
        }
        fs::remove_file(folder.join("coreach.yaml")).unwrap();
        assert_eq!(look("campaign.yaml", &all), all);
        // It names others now.
        write("coreach.yaml", "specification: other.yaml\n");
        assert_eq!(names(&look("coreach.yaml", &all)), ["coreach.yaml", "other.yaml"]);
        // A circle ends.
        write("other.yaml", "specification: coreach.yaml\n");
        assert_eq!(names(&look("coreach.yaml", &all)), ["coreach.yaml", "other.yaml"]);
        fs::remove_dir_all(&folder).unwrap();
    }
}
