//! The engines under test.

use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use tidings_journal::conformance::Engine;
use tidings_journal::{Journal, MemoryJournal, MemoryStore, Opening, SqliteJournal};

#[derive(Default)]
pub(crate) struct Memory(MemoryStore);

impl Engine for Memory {
    fn open(&mut self, opening: &Opening) -> Arc<dyn Journal> {
        Arc::new(MemoryJournal::open(&self.0, opening))
    }
}

pub(crate) struct Sqlite(TempDir);

impl Sqlite {
    pub(crate) fn new() -> Self {
        Sqlite(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("data/journal.db")
    }
}

impl Engine for Sqlite {
    fn open(&mut self, opening: &Opening) -> Arc<dyn Journal> {
        Arc::new(SqliteJournal::open(self.path(), opening).unwrap())
    }
}
