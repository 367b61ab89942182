//! Damage to every file of a journal: it is repaired or reported, and never silent.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use tidings_journal::{
    AskId, AuditDraft, Class, Journal, Keep, Key, Max, NewRequest, NewSession, Settle, SqliteJournal,
};
use tidings_protocol::ui::RequestOutcome;

use super::{draft, opening};

/// The files of a journal that are damaged.
const FILES: [&str; 6] = ["", "-wal", "-pieces", "-heads", "-mark", "-audit-key"];

fn named(name: &str) -> Key {
    Key::new(name).unwrap()
}

/// Fills a journal with everything that it can hold, and leaves deltas in their log.
async fn fill(journal: &SqliteJournal) {
    for (name, events) in [("one", 120), ("two", 60), ("three", 30), ("gone", 20)] {
        let key = named(name);
        journal
            .create(NewSession::new(key.clone(), format!("/home/{name}"), Timestamp::UNIX_EPOCH))
            .await
            .unwrap();
        let fence = journal.claim(&key).await.unwrap();
        for n in 1..=events {
            let length = if n % 20 == 0 { 9000 } else { 150 };
            let body = format!("{name} {n} {}", "x".repeat(length));
            journal.append(&key, fence, vec![draft(Class::Durable, body)]).await.unwrap();
        }
        let id = AskId::new(format!("ask of {name}")).unwrap();
        let ask = NewRequest {
            id: id.clone(),
            kind: "permission".to_owned(),
            digest: Some("d1".to_owned()),
            body: Arc::from(&b"{\"command\":\"ls\"}"[..]),
            deadline: None,
            event: draft(Class::Durable, "asked"),
        };
        journal.ask(&key, fence, ask).await.unwrap();
        if name == "two" {
            let outcome = RequestOutcome::by_person("allow".to_owned(), "ada");
            let event = draft(Class::Durable, "answered");
            journal.settle(&key, &id, Settle { outcome, event, audit: None }).await.unwrap();
        }
        journal
            .audit(AuditDraft::new(Timestamp::UNIX_EPOCH, "ada", format!("allowed {name}")))
            .await
            .unwrap();
    }
    journal
        .retain(&named("three"), Keep { events: Some(10), ..Keep::default() }, Timestamp::UNIX_EPOCH)
        .await
        .unwrap();
    journal.delete(&named("gone")).await.unwrap();
    let fence = journal.claim(&named("one")).await.unwrap();
    for n in 1..=5 {
        let delta = draft(Class::Delta, format!("delta {n}"));
        journal.append(&named("one"), fence, vec![delta]).await.unwrap();
    }
}

/// Everything that a journal shows, but for epochs.
async fn shown(journal: &SqliteJournal) -> Result<Vec<String>, String> {
    let failed = |error: tidings_journal::JournalError| error.to_string();
    let mut shown = Vec::new();
    for session in journal.sessions(None, 100).await.map_err(failed)? {
        let mut cursor = None;
        loop {
            let page = journal.read(&session.key, cursor, Max::default()).await.map_err(failed)?;
            for event in &page.events {
                let body = String::from_utf8_lossy(&event.body);
                shown.push(format!("{} {} {} {body}", session.key, event.cursor.seq, event.kind));
            }
            cursor = page.events.last().map(|event| event.cursor);
            if cursor.is_none_or(|cursor| cursor.seq >= page.head.seq) {
                break;
            }
        }
        let (key, floor, seq) = (&session.key, session.floor, session.head.seq);
        shown.push(format!(
            "{key} {floor} {seq} {} {} {:?}",
            session.cwd, session.state, session.cli_sessions
        ));
    }
    let asks = journal.asks(None).await.map_err(failed)?;
    shown.extend(asks.into_iter().map(|ask| format!("{} {} {:?}", ask.session, ask.id, ask.body)));
    let lines = journal.audit_log(0).await.map_err(failed)?;
    shown.extend(lines.into_iter().map(|line| format!("{line:?}")));
    Ok(shown)
}

/// How a journal was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    Closed,
    Killed,
}

/// Copies the files of a journal, as a process that is killed leaves them.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for suffix in FILES {
        let name = format!("journal.db{suffix}");
        if from.join(&name).exists() {
            std::fs::copy(from.join(&name), to.join(&name)).unwrap();
        }
    }
}

/// A flipped bit or a cut, at a place of a file.
#[derive(Debug, Clone, Copy)]
enum FileDamage {
    Flip,
    Cut,
}

/// Damages a file at a 64th of its length.
fn damage(path: &Path, damage: FileDamage, place: u64) {
    let mut bytes = std::fs::read(path).unwrap();
    let at = usize::try_from(bytes.len() as u64 * place / 64).unwrap();
    match damage {
        FileDamage::Flip => bytes[at] ^= 1 << (place % 8),
        FileDamage::Cut => bytes.truncate(at),
    }
    std::fs::write(path, bytes).unwrap();
}

/// Places that are tried of the 64; all of them with `TIDINGS_DAMAGE=all`.
fn places() -> impl Iterator<Item = u64> {
    let step = if std::env::var_os("TIDINGS_DAMAGE").is_some() { 1 } else { 5 };
    (0..64).step_by(step)
}

#[tokio::test]
async fn k28_k30_damage_to_any_file_is_repaired_or_reported() {
    let mut silent = Vec::new();
    let mut counts = [0; 3];
    for left in [Left::Closed, Left::Killed] {
        let folder = tempfile::tempdir().unwrap();
        let journal = SqliteJournal::open(folder.path().join("whole/journal.db"), &opening(1)).unwrap();
        fill(&journal).await;
        if left == Left::Closed {
            journal.close().await.unwrap();
        }
        let whole = folder.path().join("left");
        copy(&folder.path().join("whole"), &whole);
        drop(journal);
        let reference = folder.path().join("reference");
        copy(&whole, &reference);
        let journal = SqliteJournal::open(reference.join("journal.db"), &opening(1)).unwrap();
        assert_eq!(journal.losses(), [], "{left:?}");
        let truth = shown(&journal).await.unwrap();
        drop(journal);
        for file in FILES {
            for (kind, place) in
                places().flat_map(|place| [(FileDamage::Flip, place), (FileDamage::Cut, place)])
            {
                let case = folder.path().join("case");
                drop(std::fs::remove_dir_all(&case));
                copy(&whole, &case);
                let path = case.join(format!("journal.db{file}"));
                if std::fs::metadata(&path).map_or(0, |file| file.len()) < 64 {
                    continue;
                }
                damage(&path, kind, place);
                let outcome = match SqliteJournal::open(case.join("journal.db"), &opening(1)) {
                    Err(_) => 2,
                    Ok(journal) => {
                        let shown = shown(&journal).await;
                        let is_reported =
                            !journal.losses().is_empty() || journal.damaged_events() > 0 || shown.is_err();
                        if shown.as_ref() == Ok(&truth) {
                            0
                        } else if is_reported {
                            1
                        } else {
                            silent.push(format!("{left:?} {file} {kind:?} {place}"));
                            1
                        }
                    }
                };
                counts[outcome] += 1;
            }
        }
    }
    assert_eq!(silent, Vec::<String>::new());
    println!("repaired {}, reported {}, refused {}", counts[0], counts[1], counts[2]);
    assert!(counts[0] > counts[2], "most damage is repaired: {counts:?}");
}
