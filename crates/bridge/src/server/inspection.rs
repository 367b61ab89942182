//! Reads all events once after the start, so that damage is known early.

use tidings_journal::Max;
use tidings_journal::limits::LIST_MAX;
use tidings_sessions::{Error, Sessions};
use tokio_util::sync::CancellationToken;

use crate::limits::INSPECTION_PAUSE;

/// Reads every event of the journal. The journal counts the damaged ones.
pub(super) async fn inspect(sessions: Sessions, stopping: CancellationToken) {
    let inspected = stopping.run_until_cancelled(read_all(&sessions)).await;
    if let Some(Err(error)) = inspected {
        tracing::warn!(%error, "the journal could not be inspected");
    }
}

async fn read_all(sessions: &Sessions) -> Result<(), Error> {
    let journal = sessions.broadcast().journal();
    let mut after = None;
    loop {
        let rows = journal.sessions(after, LIST_MAX).await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = Some(last.handle);
        for row in rows {
            let mut cursor = None;
            loop {
                // A session may have been deleted meanwhile.
                let Ok(page) = journal.read(&row.key, cursor, Max::default()).await else { break };
                cursor = page.events.last().map(|event| event.cursor);
                if cursor.is_none_or(|cursor| cursor.seq >= page.head.seq) {
                    break;
                }
                tokio::time::sleep(INSPECTION_PAUSE).await;
            }
        }
    }
}
