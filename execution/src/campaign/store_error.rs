//! Why a store cannot be used, in words for people.

use std::fmt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use coreach_adapters::times::LONG_PAUSE;
use coreach_model::file;
use coreach_model::journal::{self, SILENT};
use rusqlite::ErrorCode;

use crate::campaign::schema::FORMAT_VERSION;

/// How long to wait for another process.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for another process once more, after so many pauses. `false`: that has lasted too long.
pub(super) fn wait_for_lock(pauses: i32) -> bool {
    let waited = LONG_PAUSE * pauses.unsigned_abs();
    // True for one pause only, so the message comes once.
    if (SILENT..SILENT + LONG_PAUSE).contains(&waited) {
        journal::hold_up("another process has locked the store: waiting for at most 60 s");
    }
    thread::sleep(LONG_PAUSE);
    waited < PATIENCE
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StoreError {
    Missing(PathBuf),
    /// It cannot be read or written here. The text is the system's.
    Access(PathBuf, String),
    NoDatabase(PathBuf),
    /// It is a data base of another program.
    Foreign(PathBuf),
    Version(PathBuf, i64),
    /// It is damaged. The text names the damage, with the numbers of runs.
    Damaged(PathBuf, String),
    /// Another process has locked it for longer than we wait.
    Busy(PathBuf),
    /// Both stores of a merge are one file.
    Same(PathBuf),
}

impl StoreError {
    /// Is the user's file wrong? Otherwise the machine does not let us use it.
    pub fn is_mistake(&self) -> bool {
        !matches!(self, StoreError::Access(..) | StoreError::Busy(_))
    }

    /// Advice to the user, if there is more than the message says.
    pub fn help(&self) -> Option<String> {
        match self {
            StoreError::Damaged(..) => Some(
                "nothing was changed; take a copy of it that is whole, or run the campaign again into a new store"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Missing(path) => {
                write!(f, "there is no store {}", path.display())?;
                // Say what is there instead, or what the user may mean.
                file::open(path).err().map_or(Ok(()), |error| write!(f, ": {error}"))
            }
            StoreError::Access(path, why) => write!(f, "the store {} cannot be used: {why}", path.display()),
            StoreError::NoDatabase(path) => {
                write!(f, "{} is no store: it is not an SQLite file", path.display())
            }
            StoreError::Foreign(path) => {
                write!(f, "{} is no store: it is another program's data base", path.display())
            }
            StoreError::Version(path, version) => {
                let path = path.display();
                write!(
                    f,
                    "the store {path} has format version {version}, this program reads {FORMAT_VERSION}: "
                )?;
                f.write_str(match *version < FORMAT_VERSION {
                    true => "it was written by an earlier release; run the campaign again into a new store, or read it with that release",
                    false => "it was written by a later release",
                })
            }
            StoreError::Damaged(path, why) => write!(f, "the store {} is damaged: {why}", path.display()),
            StoreError::Busy(path) => write!(
                f,
                "another process kept the store {} locked for {} s",
                path.display(),
                PATIENCE.as_secs()
            ),
            StoreError::Same(path) => write!(f, "{} cannot be merged into itself", path.display()),
        }
    }
}

/// Turns an error of SQLite into an error of this store.
pub(super) fn store_error(path: &Path, error: &rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    let text = match error {
        rusqlite::Error::FromSqlConversionFailure(_, _, why) => why.to_string(),
        _ => error.to_string(),
    };
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError::NoDatabase(path),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy(path),
        Some(
            ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::PermissionDenied
            | ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::OutOfMemory
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::TooBig,
        ) => StoreError::Access(path, text),
        // Our stores have all tables and types that we use: somebody changed this one.
        _ => StoreError::Damaged(path, text),
    }
}
