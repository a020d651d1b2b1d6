//! All runs of a store, one after the other: for who looks at a whole campaign without keeping it in memory.

use crate::campaign::store::{Store, StoreError};
use crate::campaign::store_error::wrong;
use crate::record::{self, Record};

type Result<T> = std::result::Result<T, StoreError>;

/// A test case of a store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeptTest {
    /// Its hash, by which runs name it.
    pub hash: String,
    /// Its document.
    pub document: String,
}

/// A run of a store.
#[derive(Clone, PartialEq, Debug)]
pub struct KeptRun {
    /// Its number in this store.
    pub number: i64,
    /// Its key.
    pub key: String,
    /// The hash of its test case.
    pub test: String,
    /// The hash of its implementation.
    pub iut: String,
    /// When it began, in UTC.
    pub started: String,
    /// What happened.
    pub record: Record,
}

impl Store {
    /// The test cases that runs of the store may name.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn tests(&self) -> Result<Vec<KeptTest>> {
        let mut tests = Vec::new();
        self.each("tests", &mut |row| {
            tests.push(KeptTest { hash: row.get("hash")?, document: row.get("document")? });
            Ok(())
        })?;
        Ok(tests)
    }

    /// The implementations that runs of the store may name: their hashes and their names.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn iuts(&self) -> Result<Vec<(String, String)>> {
        let mut iuts = Vec::new();
        self.each("iuts", &mut |row| {
            iuts.push((row.get("hash")?, row.get("name")?));
            Ok(())
        })?;
        Ok(iuts)
    }

    /// How many runs it has.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn count(&self) -> Result<usize> {
        let count = self.connection.query_row("SELECT count(*) FROM runs", [], |row| row.get::<_, i64>(0));
        let count = count.map_err(|error| wrong(&self.path, &error))?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    /// The keys of its runs that are wanted, and of those that are not: how many?
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn sorted(&self, wants: &dyn Fn(&str) -> bool) -> Result<(usize, usize)> {
        let sort = || -> rusqlite::Result<(usize, usize)> {
            let mut statement = self.connection.prepare("SELECT key FROM runs")?;
            let mut rows = statement.query([])?;
            let (mut wanted, mut others) = (0, 0);
            while let Some(row) = rows.next()? {
                *(if wants(&row.get::<_, String>(0)?) { &mut wanted } else { &mut others }) += 1;
            }
            Ok((wanted, others))
        };
        sort().map_err(|error| wrong(&self.path, &error))
    }

    /// Shows each run, in the order in which they were finished, until `visit` wants no more: then it is
    /// `false`. One is in memory at a time.
    ///
    /// # Errors
    /// [`StoreError`]; what was shown before is not to be trusted then.
    pub fn each_run(&self, visit: &mut dyn FnMut(KeptRun) -> bool) -> Result<()> {
        let mut damage = None;
        let mut is_wanted = true;
        self.each("runs", &mut |row| {
            if !is_wanted {
                return Ok(());
            }
            let number: i64 = row.get("number")?;
            let text: String = row.get("record")?;
            match record::read(text.as_bytes()) {
                Ok(record) => {
                    is_wanted = visit(KeptRun {
                        number,
                        key: row.get("key")?,
                        test: row.get("test")?,
                        iut: row.get("iut")?,
                        started: row.get("started")?,
                        record,
                    });
                }
                Err(why) => {
                    damage.get_or_insert_with(|| format!("the record of run {number} cannot be read: {why}"));
                    is_wanted = false;
                }
            }
            Ok(())
        })?;
        match damage {
            Some(why) => Err(StoreError::Damaged(self.path().to_owned(), why)),
            None => Ok(()),
        }
    }
}
