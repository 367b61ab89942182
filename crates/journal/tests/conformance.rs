//! Both engines pass the conformance suite.

use engines::{Memory, Sqlite};
use tidings_journal::conformance;

use crate::engines;

#[tokio::test]
async fn a_journal_in_memory_conforms() {
    conformance::run(Memory::default).await;
}

#[tokio::test]
async fn a_journal_in_a_file_conforms() {
    conformance::run(Sqlite::new).await;
}
