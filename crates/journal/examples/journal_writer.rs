//! Appends to a journal until it is killed, and prints what was acknowledged.
//!
//! `journal_writer PATH BOOT_ID EPOCH FROM…`, with the number of the first command of each session. The tests
//! kill it and check the journal.

use std::io::Write as _;
use std::sync::Arc;

use jiff::Timestamp;
use tidings_journal::{
    Class, ClientId, Epoch, ErrorKind, EventDraft, Journal, JournalError, Key, Kind, NewSession, Opening,
    SqliteJournal,
};

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("too few arguments");
    let (path, boot_id, epoch) = (next()?, next()?, next()?.parse()?);
    let opening = Opening { boot_id, fresh_epoch: Epoch::from_random(epoch) };
    let journal = Arc::new(SqliteJournal::open(path, &opening)?);
    let mut sessions = Vec::new();
    while let Ok(from) = next() {
        let key = Key::new(format!("session-{}", sessions.len()))?;
        sessions.push(tokio::spawn(write(Arc::clone(&journal), key, from.parse()?)));
    }
    for session in sessions {
        session.await??;
    }
    Ok(())
}

/// Numbers from here on belong to deltas.
const DELTAS: u64 = 1 << 63;

/// Sends one command after the other, each with an id of its own; some are durable, and some come several at
/// once. Between them are deltas, which have no id, so their numbers must never be reused.
async fn write(journal: Arc<SqliteJournal>, key: Key, from: u64) -> Result<(), JournalError> {
    let made = journal.create(NewSession::new(key.clone(), "/", Timestamp::UNIX_EPOCH)).await;
    if let Err(error) = made
        && error.kind() != ErrorKind::Exists
    {
        return Err(error);
    }
    let fence = journal.claim(&key).await?;
    let mut command = from;
    let mut delta = DELTAS | u64::from(std::process::id()) << 24;
    loop {
        for _ in 0..command % 5 {
            delta += 1;
            let stored = journal.append(&key, fence, vec![plain_draft(Class::Delta, delta)?]).await?;
            for stored in stored {
                drop(writeln!(std::io::stdout(), "{key} {delta} {}", stored.cursor));
            }
        }
        let class = if command.is_multiple_of(7) { Class::Durable } else { Class::Delta };
        let commands = command..command + 1 + command % 3;
        let drafts = commands.clone().map(|n| draft(class, n)).collect::<Result<Vec<EventDraft>, _>>()?;
        let stored = journal.append(&key, fence, drafts).await?;
        let mut out = std::io::stdout().lock();
        for (n, stored) in commands.clone().zip(stored) {
            // Fails if the test that reads this was killed a moment ago.
            drop(writeln!(out, "{key} {n} {}", stored.cursor));
        }
        drop(out.flush());
        command = commands.end;
    }
}

fn draft(class: Class, n: u64) -> Result<EventDraft, JournalError> {
    Ok(plain_draft(class, n)?.with_client_id(ClientId::new(n.to_string())?))
}

fn plain_draft(class: Class, n: u64) -> Result<EventDraft, JournalError> {
    let body = format!("command {n} {}", "x".repeat(usize::try_from(n % 5).unwrap_or_default() * 300));
    Ok(EventDraft::new(class, Timestamp::UNIX_EPOCH, Kind::new("said")?, body.into_bytes()))
}
