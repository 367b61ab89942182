//! Both engines pass the conformance suite.

use crate::engines;

use engines::{Memory, Sqlite};
use tidings_bridge::journal::conformance;

#[tokio::test]
async fn a_journal_in_memory_conforms() {
    conformance::run(Memory::default).await;
}

#[tokio::test]
async fn a_journal_in_a_file_conforms() {
    conformance::run(Sqlite::new).await;
}
