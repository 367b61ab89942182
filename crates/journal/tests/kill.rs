//! A writer that is killed again and again loses nothing that it acknowledged (P3, P4, F103).
//!
//! `TIDINGS_SOAK_KILLS` sets the number of kills; `make soak` sets it. `TIDINGS_SOAK_SEED` repeats a run.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]
#![cfg(unix)]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tidings_journal::{Cursor, CursorVerdict, Epoch, Journal, Key, Max, Opening, SessionName, SqliteJournal};
use tidings_rehearsal::Chance;

const SESSIONS: usize = 3;

const KILLS_PER_JOURNAL: u64 = 40;

/// Numbers from here on belong to deltas, which the writer makes up anew each time.
const DELTAS: u64 = 1 << 63;

/// Acknowledged events of one session: the cursor of each command and each delta.
type Acknowledged = BTreeMap<u64, Cursor>;

/// The epoch of each session when it was last seen.
type Epochs = [Option<Epoch>; SESSIONS];

#[tokio::test]
async fn promise_4_a_killed_writer_loses_and_doubles_nothing_that_it_acknowledged() {
    let kills = number("TIDINGS_SOAK_KILLS", 20);
    let seed = number("TIDINGS_SOAK_SEED", 1);
    let mut chance = Chance::new(seed);
    let mut total = 0;
    // Everything is read after each kill, so the journal is replaced after a number of kills.
    let mut left = kills;
    while left > 0 {
        let now = left.min(KILLS_PER_JOURNAL);
        total += kill_again_and_again(now, seed, &mut chance).await;
        left -= now;
    }
    assert!(total as u64 > kills, "the writer was killed before it had written anything worth looking at");
}

/// Kills the writer of one journal repeatedly, and returns the number of commands that it acknowledged.
async fn kill_again_and_again(kills: u64, seed: u64, chance: &mut Chance) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let mut acknowledged: [Acknowledged; SESSIONS] = Default::default();
    let mut epochs = Epochs::default();
    let (mut boot, mut total) = (1, 0);
    for kill in 0..kills {
        let lines = run_and_kill(&path, boot, &acknowledged, chance);
        total += lines.len();
        for (session, command, cursor) in lines {
            let before = acknowledged[session].insert(command, cursor);
            assert_eq!(before.map(|cursor| cursor.seq), None, "seed {seed}, kill {kill}: {command} twice");
            assert_eq!(*epochs[session].get_or_insert(cursor.epoch), cursor.epoch, "the machine was up");
        }
        // Every fourth time the journal must assume that the machine itself went down.
        let lost = chance.below(4) == 0;
        boot += u64::from(lost);
        let journal = SqliteJournal::open(&path, &opening(boot)).unwrap();
        for (session, acknowledged) in acknowledged.iter().enumerate() {
            let context = format!("seed {seed}, kill {kill}, session {session}");
            let Some(epoch) = check(&journal, session, acknowledged, &context).await else { continue };
            let before = epochs[session].replace(epoch);
            assert!(
                before.is_none_or(|before| (before != epoch) == lost),
                "{context}: {before:?}, then {epoch}"
            );
        }
    }
    total
}

/// Starts the writer after the last command that it acknowledged, and kills it at some moment.
fn run_and_kill(
    path: &Path,
    boot: u64,
    acknowledged: &[Acknowledged],
    chance: &mut Chance,
) -> Vec<(usize, u64, Cursor)> {
    let first =
        |session: &Acknowledged| session.range(..DELTAS).last().map_or(1, |(last, _)| last + 1).to_string();
    let mut writer = Command::new(writer())
        .arg(path)
        .args([format!("boot-{boot}"), boot.to_string()])
        .args(acknowledged.iter().map(first))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    let mut read = Vec::new();
    // One in eight is killed while it is still opening the journal.
    let wanted = if chance.below(8) == 0 { 0 } else { chance.below(400) };
    for _ in 0..wanted {
        let Some(line) = lines.next() else { break };
        read.push(line.unwrap());
    }
    std::thread::sleep(Duration::from_micros(chance.below(3000)));
    writer.kill().unwrap();
    writer.wait().unwrap();
    read.extend(lines.map(Result::unwrap));
    read.iter().filter_map(|line| parse(line)).collect()
}

/// A line that the kill cut short acknowledges nothing.
fn parse(line: &str) -> Option<(usize, u64, Cursor)> {
    let mut words = line.split(' ');
    let session = words.next()?.strip_prefix("session-")?.parse().ok()?;
    let command = words.next()?.parse().ok()?;
    Some((session, command, words.next()?.parse().ok()?))
}

/// Checks everything that is stored of a session, and returns its epoch.
async fn check(
    journal: &SqliteJournal,
    session: usize,
    acknowledged: &Acknowledged,
    context: &str,
) -> Option<Epoch> {
    let key = Key::new(format!("session-{session}")).unwrap();
    let Ok(row) = journal.session(&SessionName::Key(key.clone())).await else {
        assert!(acknowledged.is_empty(), "{context}: the session is gone");
        return None;
    };
    let mut stored = BTreeMap::new();
    let mut after = None;
    loop {
        let page = journal.read(&key, after, Max::default()).await.unwrap();
        assert_eq!(page.verdict, CursorVerdict::Ok);
        let Some(last) = page.events.last() else { break };
        after = Some(last.cursor);
        for event in &page.events {
            assert_eq!(event.cursor.seq, stored.len() as u64 + 1, "{context}: a hole");
            let body = std::str::from_utf8(&event.body).unwrap();
            let command: u64 = body.split(' ').nth(1).unwrap().parse().unwrap();
            assert_eq!(stored.insert(command, event.cursor.seq), None, "{context}: {command} is there twice");
        }
    }
    assert_eq!(row.head.seq, stored.len() as u64);
    for (command, cursor) in acknowledged {
        assert_eq!(stored.get(command), Some(&cursor.seq), "{context}: {command} was acknowledged");
    }
    if let Some(newest) = acknowledged.values().max_by_key(|cursor| cursor.seq) {
        let page = journal.read(&key, Some(*newest), Max::default()).await.unwrap();
        assert_eq!(page.verdict, CursorVerdict::Ok, "{context}: nothing that was seen is lost");
    }
    Some(row.head.epoch)
}

fn opening(boot: u64) -> Opening {
    Opening { boot_id: format!("boot-{boot}"), fresh_epoch: Epoch::from_random(boot) }
}

/// A program of this crate's `examples/`, which cargo builds beside the tests.
fn writer() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("examples/journal_writer");
    assert!(program.exists(), "run `cargo build -p tidings-journal --examples` first: {}", program.display());
    program
}

fn number(name: &str, normal: u64) -> u64 {
    std::env::var(name).ok().map_or(normal, |text| text.parse().expect("it is a number"))
}
