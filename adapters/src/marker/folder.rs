//! A folder for the temporary files of a launch: made before it, removed with all that is in it when the
//! launch is over.
//!
//! **Problem.** A server that is launched for a run needs a place for its files, which nobody else has, and
//! it is killed at its end: it cannot tidy up. What we remove for it must be ours: the folder may be full of
//! anything, by a program that does what it likes, and what a killed program of ours has left is found by
//! nothing but its name.
//!
//! **Method.** The folder lies in the one for temporary files and is named by the marks of [`super`]: the
//! machine's start, the namespace of numbers, the number of our process and its time of start, and a count.
//! Only a folder that has such a name, belongs to our user, and whose maker has ended on this machine since
//! its start, in our namespace, is swept; all others are left alone. (Those from before the machine's last
//! start are not swept: another machine that shares the folder may have made them.)
//!
//! Removing goes through a tree without walking down in it: each folder is first *renamed*, to a name right
//! below the top. So no path is longer than the system takes, however deep the tree is, nothing recurses, and
//! a folder on which something is mounted is never entered: it cannot be renamed. A symbolic link is removed
//! and not followed. A folder that may not be listed is allowed to be, where it is ours.
//!
//! **Ends** at the instant that is given; what resists or takes longer is left to a thread, to our end, and
//! to the next start. **Costs** two calls of the kernel for a launch that leaves its folder empty.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::processes::{Own, own, stat};

/// The variable in which a launched process finds its folder.
pub const VARIABLE: &str = "COREACH_TMP";

/// How each begins.
const PREFIX: &str = "coreach-tmp-";

/// What stands behind the name of one that is being removed.
const GONE: &str = ".gone";

/// How long one who leaves a launch waits for its files to be removed.
const REMOVING: Duration = Duration::from_millis(50);

/// So often our end tries again.
const TRIES: usize = 10;

/// How long a thread tries then.
const RESISTANCE: Duration = Duration::from_secs(10);

/// A folder that is there as long as this is.
#[derive(Debug)]
pub struct MarkerFolder {
    path: PathBuf,
    name: String,
}

impl MarkerFolder {
    /// A new and empty one, that nobody but our user may enter.
    ///
    /// # Errors
    /// There is no place for it; or coreach is ending.
    pub fn new() -> io::Result<Self> {
        MarkerFolder::within(&std::path::absolute(std::env::temp_dir())?)
    }

    fn within(folder: &Path) -> io::Result<Self> {
        /// So many names may be taken.
        const MOST: usize = 1000;
        let mut live = live();
        if live.is_closed {
            return Err(io::Error::other("coreach is ending"));
        }
        for _ in 0..MOST {
            let Own { namespace, pid, start, .. } = own();
            let word = format!("{PREFIX}{}.{namespace}.{pid}.{start}.{}", boot(), live.count);
            live.count += 1;
            let path = folder.join(word);
            let Some(name) = path.to_str().map(str::to_owned) else {
                return Err(io::Error::other(format!("{} is no text", folder.display())));
            };
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {
                    live.paths.insert(path.clone());
                    return Ok(MarkerFolder { path, name });
                }
                // Somebody else may make what they like where all may.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(io::Error::new(error.kind(), format!("{name}: {error}"))),
            }
        }
        Err(io::Error::other(format!("{MOST} names in {} are taken", folder.display())))
    }

    /// Where it is, from the root on.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for MarkerFolder {
    fn drop(&mut self) {
        let path = std::mem::take(&mut self.path);
        if removed(&path, Instant::now() + REMOVING) {
            return;
        }
        // It is large, or somebody who is not dead yet goes on writing into it. Where there is no thread, our
        // end removes it.
        let rest = move || {
            let until = Instant::now() + RESISTANCE;
            while !removed(&path, until) && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(20));
            }
        };
        let _ = std::thread::Builder::new().name("tidying".to_owned()).spawn(rest);
    }
}

/// Those that are there.
struct Live {
    /// None is made any more.
    is_closed: bool,
    count: u64,
    paths: BTreeSet<PathBuf>,
}

fn live() -> MutexGuard<'static, Live> {
    static LIVE: Mutex<Live> = Mutex::new(Live { is_closed: false, count: 0, paths: BTreeSet::new() });
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes one of ours, and forgets it then.
fn removed(path: &Path, until: Instant) -> bool {
    let is_gone = remove(path, until).is_ok();
    if is_gone {
        live().paths.remove(path);
    }
    is_gone
}

/// Removes all of ours, and lets no new one be made. For the end of the program, when nothing of it runs any
/// more.
pub(super) fn end_all(until: Instant) {
    let mut live = live();
    live.is_closed = true;
    let paths: Vec<PathBuf> = live.paths.iter().cloned().collect();
    drop(live);
    for path in paths {
        // Who has left a launch may be removing it just now: the two are in each other's way.
        let mut tries = 0..TRIES;
        while !removed(&path, until) && tries.next().is_some() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Removes those of programs of ours that were killed, as far as that is certain.
pub(super) fn sweep(until: Instant) {
    sweep_in(&std::env::temp_dir(), until);
}

fn sweep_in(folder: &Path, until: Instant) {
    let Own { namespace, start, .. } = own();
    // Who does not know where it is knows nobody else's place either.
    if namespace.is_empty() || *start == 0 || boot().is_empty() {
        return;
    }
    let user = rustix::process::getuid().as_raw();
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if entry.file_name().to_str().is_some_and(is_orphaned)
            && fs::symlink_metadata(&path).is_ok_and(|data| data.is_dir() && data.uid() == user)
        {
            // What cannot be removed now is left to the next one.
            let _ = remove(&path, until);
        }
    }
}

/// Is it the name of a folder whose maker has ended, here and since this machine has started?
fn is_orphaned(name: &str) -> bool {
    let name = name.strip_suffix(GONE).unwrap_or(name);
    let Some(word) = name.strip_prefix(PREFIX) else { return false };
    let parts: Vec<&str> = word.split('.').collect();
    let [machine, namespace, pid, start, count] = parts.as_slice() else { return false };
    // As they were written, and not otherwise: no sign, no zero in front.
    let number = |text: &str| text.parse::<u64>().ok().filter(|number| number.to_string() == text);
    let (Some(pid), Some(start), Some(_)) = (number(pid), number(start), number(count)) else { return false };
    let Ok(pid) = i32::try_from(pid) else { return false };
    *machine == boot()
        && *namespace == own().namespace
        && !stat(pid).is_some_and(|process| process.start == start && !process.is_dead)
}

/// By what this start of the machine is told from others; nothing where that is not known.
fn boot() -> &'static str {
    static BOOT: OnceLock<String> = OnceLock::new();
    BOOT.get_or_init(|| {
        let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        text.chars().filter(char::is_ascii_hexdigit).take(12).collect()
    })
}

/// Removes a folder with all that is in it.
///
/// # Errors
/// Something could not be removed, or there was no time.
fn remove(top: &Path, until: Instant) -> io::Result<()> {
    match fs::remove_dir(top) {
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {}
        // An earlier attempt has begun with it.
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        other => return other,
    }
    let mut name = top.as_os_str().to_owned();
    if !name.as_encoded_bytes().ends_with(GONE.as_bytes()) {
        name.push(GONE);
    }
    let gone = PathBuf::from(name);
    if gone != top {
        match fs::rename(top, &gone) {
            Err(error) if error.kind() == ErrorKind::NotFound && !gone.is_dir() => return Ok(()),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    let (mut count, mut failed) = (0, None);
    // Nothing is mounted on those that could be renamed.
    let mut folders = BTreeSet::from([gone.clone()]);
    while let Some(folder) = folders.pop_last() {
        // Where it is not ours, it cannot be helped.
        let _ = fs::set_permissions(&folder, Permissions::from_mode(0o700));
        for entry in fs::read_dir(&folder)? {
            if Instant::now() >= until {
                return Err(ErrorKind::TimedOut.into());
            }
            let entry = entry?;
            let is_folder = entry.file_type()?.is_dir();
            // What lies right below the top under such a name has been moved there.
            if is_folder && folder == gone && folders.contains(&entry.path()) {
                continue;
            }
            let done = if is_folder {
                moved(&entry.path(), &gone, &mut count).map(|place| {
                    folders.insert(place);
                })
            } else {
                fs::remove_file(entry.path())
            };
            failed = done.err().filter(|error| error.kind() != ErrorKind::NotFound).or(failed);
        }
        if folder != gone
            && let Err(error) = fs::remove_dir(&folder)
        {
            failed = Some(error);
        }
    }
    match fs::remove_dir(&gone) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(failed.unwrap_or(error)),
        _ => Ok(()),
    }
}

/// Moves a folder right below the top, under a name that is not there. Nobody can who has something mounted
/// on it.
fn moved(folder: &Path, top: &Path, count: &mut u64) -> io::Result<PathBuf> {
    let place = loop {
        let place = top.join(format!("{count}{GONE}"));
        *count += 1;
        if fs::symlink_metadata(&place).is_err() {
            break place;
        }
    };
    match fs::rename(folder, &place) {
        // Who moves a folder writes into it, too. Of one with something mounted on it, this is another.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            fs::set_permissions(folder, Permissions::from_mode(0o700))?;
            fs::rename(folder, &place)?;
        }
        other => other?,
    }
    Ok(place)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use super::*;

    /// A folder of this test's own, in which others may lie.
    fn place(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("coreach-test-{}-{name}", std::process::id()));
        fs::create_dir(&path).unwrap();
        path
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().to_str().unwrap().to_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_is_private_and_goes_with_all_that_is_in_it_and_nothing_else() {
        let outside = place("outside");
        fs::write(outside.join("kept"), "x").unwrap();
        let (one, two) = (MarkerFolder::within(&outside).unwrap(), MarkerFolder::within(&outside).unwrap());
        assert_ne!(one.name(), two.name());
        let path = PathBuf::from(one.name());
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        fs::create_dir_all(path.join("a/b/c")).unwrap();
        fs::write(path.join("a/b/file"), "x").unwrap();
        std::os::unix::fs::symlink(&outside, path.join("a/link")).unwrap();
        std::os::unix::fs::symlink(&outside, path.join("link")).unwrap();
        // Names like those to which folders are moved.
        fs::create_dir(path.join("0.gone")).unwrap();
        fs::write(path.join("1.gone"), "x").unwrap();
        fs::create_dir_all(path.join("a/0.gone/0.gone")).unwrap();
        for folder in ["a/b", "a"] {
            fs::set_permissions(path.join(folder), Permissions::from_mode(0o000)).unwrap();
        }
        drop(one);
        let left = two.name().rsplit_once('/').unwrap().1.to_owned();
        assert_eq!(names(&outside), [left, "kept".to_owned()]);
        drop(two);
        assert_eq!(names(&outside), ["kept"]);
        fs::remove_dir_all(outside).unwrap();
    }

    #[test]
    fn a_tree_may_be_deeper_than_paths_can_be_long() {
        let outside = place("deep");
        let folder = MarkerFolder::within(&outside).unwrap();
        let top = PathBuf::from(folder.name());
        let (name, next) = (top.join("x".repeat(200)), top.join("next"));
        fs::create_dir(&name).unwrap();
        for _ in 0..100 {
            fs::create_dir(&next).unwrap();
            fs::rename(&name, next.join("x".repeat(200))).unwrap();
            fs::rename(&next, &name).unwrap();
        }
        // `remove` alone: a drop might leave the rest to its thread.
        remove(&top, soon()).unwrap();
        assert_eq!(names(&outside), Vec::<String>::new());
        drop(folder);
        fs::remove_dir_all(outside).unwrap();
    }

    #[test]
    fn what_was_begun_is_finished_later() {
        let outside = place("begun");
        let folder = MarkerFolder::within(&outside).unwrap();
        let top = PathBuf::from(folder.name());
        for at in 0..20 {
            fs::create_dir_all(top.join(format!("{at}/a/b"))).unwrap();
        }
        assert_eq!(remove(&top, Instant::now()).unwrap_err().kind(), ErrorKind::TimedOut);
        assert_eq!(names(&outside).len(), 1);
        remove(&top, soon()).unwrap();
        assert_eq!(names(&outside), Vec::<String>::new());
        drop(folder);
        fs::remove_dir_all(outside).unwrap();
    }

    #[test]
    fn only_what_is_surely_of_a_dead_program_of_ours_is_swept() {
        let outside = place("swept");
        let Own { namespace, pid, start, .. } = own();
        let boot = boot();
        // No process has the number zero.
        let orphans = [format!("{boot}.{namespace}.0.7.1"), format!("{boot}.{namespace}.0.7.2{GONE}")];
        let others = [
            format!("{boot}.{namespace}.{pid}.{start}.1"),
            format!("{boot}.{namespace}.{pid}.{start}.2{GONE}"),
            // Another start of the machine, or another machine; another namespace.
            format!("{}{}.{namespace}.0.7.1", if boot.starts_with('0') { '1' } else { '0' }, &boot[1..]),
            format!("{boot}.1{namespace}.0.7.1"),
            // Nothing of ours is called so.
            format!("{boot}.{namespace}.0.7"),
            format!("{boot}.{namespace}.0.7.1.1"),
            format!("{boot}.{namespace}.00.7.1"),
            format!("{boot}.{namespace}.+0.7.1"),
            format!("{boot}.{namespace}.-1.7.1"),
            format!("{boot}.{namespace}.0.7.1.gon"),
            format!("{boot}.{namespace}.9999999999.7.1"),
            String::new(),
        ];
        for name in orphans.iter().chain(&others) {
            let path = outside.join(format!("{PREFIX}{name}"));
            fs::create_dir_all(path.join("a/b")).unwrap();
            fs::write(path.join("a/file"), "x").unwrap();
        }
        // Not a folder; a way to one.
        let odd = [3, 4].map(|count| outside.join(format!("{PREFIX}{boot}.{namespace}.0.7.{count}")));
        fs::write(&odd[0], "x").unwrap();
        std::os::unix::fs::symlink(&outside, &odd[1]).unwrap();
        sweep_in(&outside, soon());
        let left = names(&outside);
        for name in &orphans {
            assert!(!left.contains(&format!("{PREFIX}{name}")), "{name}: {left:?}");
        }
        for name in &others {
            assert!(outside.join(format!("{PREFIX}{name}")).join("a/file").exists(), "{name}: {left:?}");
        }
        assert_eq!(left.len(), others.len() + odd.len(), "{left:?}");
        fs::remove_dir_all(outside).unwrap();
    }
}
