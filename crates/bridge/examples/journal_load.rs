//! Measures appending and reading on a disk: `journal_load FOLDER [GIBIBYTES]`.
//!
//! With a number it first creates a journal of that size, and then measures in it.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tidings_bridge::SqliteJournal;
use tidings_bridge::journal::{
    Class, Cursor, Draft, Epoch, Fence, Journal, JournalError, Key, Kind, Max, NewSession, Opening,
};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("usage: journal_load FOLDER [GIBIBYTES]")?;
    let path = std::path::Path::new(&folder).join("load.db");
    let opening = Opening { boot_id: "load".to_owned(), fresh_epoch: Epoch::from_random(1) };
    let began = Instant::now();
    let journal = Arc::new(SqliteJournal::open(&path, &opening)?);
    println!("open                      {:>9.1?}", began.elapsed());
    if let Some(gibibytes) = arguments.next() {
        fill(&journal, gibibytes.parse::<u64>()? << 30).await?;
        println!("file                      {:>9} MiB", std::fs::metadata(&path)?.len() >> 20);
    }
    let (key, fence) = session(&journal, "one").await?;
    for (name, class) in [("durable", Class::Durable), ("delta", Class::Delta)] {
        let mut took = Vec::new();
        for _ in 0..2000 {
            let began = Instant::now();
            journal.append(&key, fence, vec![draft(class)?]).await?;
            took.push(began.elapsed());
        }
        show(&format!("append one {name}"), took);
    }
    many(&journal).await?;
    let mut took = Vec::new();
    for n in 0..1000 {
        let after = Cursor::new(journal.read(&key, None, Max::events(1)).await?.head.epoch, n);
        let began = Instant::now();
        journal.read(&key, Some(after), Max::events(100)).await?;
        took.push(began.elapsed());
    }
    show("read a page of 100", took);
    Ok(())
}

/// Two hundred sessions that append side by side.
async fn many(journal: &Arc<SqliteJournal>) -> Outcome<()> {
    let mut sessions = Vec::new();
    for n in 0..200 {
        sessions.push(session(journal, &format!("many-{n}")).await?);
    }
    let began = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for (key, fence) in sessions {
        let journal = Arc::clone(journal);
        tasks.spawn(async move {
            let mut took = Vec::new();
            for _ in 0..100 {
                let began = Instant::now();
                journal.append(&key, fence, vec![draft(Class::Delta)?]).await?;
                took.push(began.elapsed());
            }
            Ok::<_, JournalError>(took)
        });
    }
    let mut took = Vec::new();
    while let Some(done) = tasks.join_next().await {
        took.extend(done??);
    }
    let rate = took.len() as u128 * 1000 / began.elapsed().as_millis().max(1);
    show("append of 200 at once", took);
    println!("                          {rate:>9} events/s");
    Ok(())
}

async fn fill(journal: &Arc<SqliteJournal>, bytes: u64) -> Outcome<()> {
    let (key, fence) = session(journal, "full").await?;
    let (body, began): (Arc<[u8]>, Instant) = (vec![b'x'; 64 << 10].into(), Instant::now());
    for _ in 0..bytes / (64 << 10) / 32 {
        let drafts = (0..32).map(|_| {
            let mut draft = draft(Class::Delta)?;
            draft.body = Arc::clone(&body);
            Ok(draft)
        });
        journal.append(&key, fence, drafts.collect::<Result<Vec<Draft>, JournalError>>()?).await?;
    }
    println!("fill                      {:>9.1?}", began.elapsed());
    Ok(())
}

async fn session(journal: &SqliteJournal, name: &str) -> Result<(Key, Fence), JournalError> {
    let key = Key::new(name)?;
    journal.create(NewSession::new(key.clone(), "/", Timestamp::UNIX_EPOCH)).await?;
    let fence = journal.claim(&key).await?;
    Ok((key, fence))
}

fn draft(class: Class) -> Result<Draft, JournalError> {
    Ok(Draft::new(class, Timestamp::UNIX_EPOCH, Kind::new("delta")?, vec![b'x'; 300]))
}

fn show(name: &str, mut took: Vec<Duration>) {
    took.sort_unstable();
    let at = |hundredths: usize| took[(took.len() - 1) * hundredths / 100];
    println!("{name:<25} p50 {:>9.1?}  p99 {:>9.1?}  max {:>9.1?}", at(50), at(99), at(100));
}
