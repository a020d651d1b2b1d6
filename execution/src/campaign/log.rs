//! Is the log beside a store whole, and is it this store's?
//!
//! **Problem.** What was committed last is not in the store's file but in the log beside it (`-wal`) until
//! somebody puts it away: after a kill, that may be everything. SQLite reads a log up to the first frame
//! whose checksum is wrong and takes the rest for the remains of an older log. That is right after a power
//! cut. After a byte was changed, it drops runs that were committed, without a word; and a log whose head is
//! damaged, or which lies beside an empty file, is dropped as a whole.
//!
//! **Method.** Before SQLite opens anything, the log is read by its published format
//! (sqlite.org/fileformat2.html, "The WAL File Format"): a head of 32 bytes with two salts; frames of 24
//! bytes and a page, each with the salts and a checksum over all before it; the last frame of a transaction
//! is marked. A log has been damaged where its head is wrong, or where a frame is wrong and frames of the
//! same salts follow that reach beyond one transaction. One transaction that is not whole at the very end is
//! what a power cut leaves, and was never reported as done: it is left out, as ever.
//!
//! A process that is at work may write while we read. So what looks damaged is read again, and believed where
//! two readings are alike.
//!
//! **Ends** with the file. **Costs** reading it once; SQLite keeps it at some megabytes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::campaign::store_error::StoreError;

const HEAD: usize = 32;
const FRAME: usize = 24;

/// What a rollback journal begins with, which a store only has while it is being made.
const JOURNAL: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// A store that is being made is at most so long.
const MADE: u64 = 4096;

/// The name of a file that SQLite puts beside a store.
pub fn beside(store: &Path, ending: &str) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Has the store a log with something in it?
pub(super) fn is_there(store: &Path) -> bool {
    beside(store, "-wal").metadata().is_ok_and(|log| log.len() > HEAD as u64)
}

/// Looks at the files beside a store, before it is opened.
///
/// # Errors
/// [`StoreError::Damaged`], [`StoreError::Access`].
pub(super) fn check(store: &Path) -> Result<(), StoreError> {
    let damaged = |why: &str| Err(StoreError::Damaged(store.to_owned(), why.to_owned()));
    let length = store.metadata().map(|file| file.len()).unwrap_or_default();
    let log = beside(store, "-wal");
    if is_there(store) {
        if length == 0 {
            let name = log.display();
            return damaged(&format!("the file is empty or gone, and its log {name} is there"));
        }
        if looks_damaged(&log)?.is_some() {
            // Another process may have been writing.
            let before = looks_damaged(&log)?;
            std::thread::sleep(Duration::from_millis(50));
            match looks_damaged(&log)? {
                Some(now) if before.as_ref() == Some(&now) => {
                    return damaged(&format!("its log {}: {}", log.display(), now.0));
                }
                _ => {}
            }
        }
    }
    let journal = beside(store, "-journal");
    let is_journal = length > MADE && begins(&journal)?.is_some_and(|begin| begin == JOURNAL);
    if is_journal {
        let name = journal.display();
        return damaged(&format!("{name} is a journal, which only another file's program writes"));
    }
    Ok(())
}

fn begins(path: &Path) -> Result<Option<[u8; 8]>, StoreError> {
    use std::io::Read;

    let mut begin = [0; 8];
    let Ok(mut file) = std::fs::File::open(path) else { return Ok(None) };
    Ok(file.read_exact(&mut begin).is_ok().then_some(begin))
}

/// What is wrong with a log, and all of it, to be compared with a second reading.
fn looks_damaged(log: &Path) -> Result<Option<(String, Vec<u8>)>, StoreError> {
    match std::fs::read(log) {
        Ok(bytes) => Ok(fault(&bytes).map(|why| (why, bytes))),
        // Put away meanwhile.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::Access(log.to_owned(), error.to_string())),
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_be_bytes)
}

/// What is wrong with the bytes of a log; nothing where it is a whole one, but for a last transaction.
fn fault(bytes: &[u8]) -> Option<String> {
    let head = bytes.get(..HEAD)?;
    let big = match word(head, 0) {
        0x377f_0683 => true,
        0x377f_0682 => false,
        _ => return Some("its head is damaged".to_owned()),
    };
    let page = word(head, 8) as usize;
    let mut sum = checksum((0, 0), &head[..24], big);
    if sum != (word(head, 24), word(head, 28)) || !page.is_power_of_two() || !(512..=65536).contains(&page) {
        return Some("its head is damaged".to_owned());
    }
    let frames: Vec<&[u8]> = bytes[HEAD..].chunks_exact(FRAME + page).collect();
    // Salts say that a frame is of this log, and not left from an older one, over which this one is written.
    let ours = |frame: &[u8]| frame[8..16] == head[16..24];
    let ends = |frame: &[u8]| word(frame, 4) != 0;
    let mut whole = 0;
    for frame in &frames {
        sum = checksum(checksum(sum, &frame[..8], big), &frame[FRAME..], big);
        if !ours(frame) || sum != (word(frame, 16), word(frame, 20)) {
            break;
        }
        whole += 1;
    }
    // The frames of a transaction that was cut off, the last one among them at most.
    let rest = frames.get(whole..).unwrap_or_default();
    let last = rest.iter().rposition(|frame| ours(frame))?;
    rest[..last].iter().position(|frame| ours(frame) && ends(frame))?;
    let lost = rest[..=last].iter().filter(|frame| ours(frame) && ends(frame)).count();
    Some(format!("behind frame {whole} it is damaged, and {lost} transactions are behind it"))
}

/// SQLite's checksum, over words of four bytes in pairs.
fn checksum(from: (u32, u32), bytes: &[u8], big: bool) -> (u32, u32) {
    let number = |four: &[u8]| {
        let four = four.try_into().unwrap_or_default();
        if big { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
    };
    bytes.chunks_exact(8).fold(from, |(first, second), eight| {
        let first = first.wrapping_add(number(&eight[..4])).wrapping_add(second);
        (first, second.wrapping_add(number(&eight[4..])).wrapping_add(first))
    })
}
