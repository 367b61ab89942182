//! Tests for implementations of [`SessionStore`]: the cases of the Python SDK's
//! `run_session_store_conformance`.

use tidings_protocol::json::Json;

use super::{SessionKey, SessionStore};
use crate::error::{Error, ErrorKind};

/// Checks a store; `make` returns an empty one for each case. The error names the case that fails.
///
/// ```
/// use tidings::session_store::{MemoryStore, conformance};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tidings::Error> {
/// conformance::check(MemoryStore::new).await?;
/// # Ok(())
/// # }
/// ```
pub async fn check<S: SessionStore>(mut make: impl FnMut() -> S) -> Result<(), Error> {
    check_append_only(&mut make).await?;
    deleting(&make()).await?;
    deleting_takes_subpaths(&make()).await?;
    deleting_a_subpath(&make()).await
}

/// Checks a store that does not delete.
pub async fn check_append_only<S: SessionStore>(mut make: impl FnMut() -> S) -> Result<(), Error> {
    order(&make()).await?;
    unknown_keys(&make()).await?;
    order_of_appends(&make()).await?;
    empty_append(&make()).await?;
    subpaths_are_apart(&make()).await?;
    projects_are_apart(&make()).await?;
    lists(&make()).await?;
    lists_without_subpaths(&make()).await?;
    subpaths(&make()).await?;
    subpaths_without_main(&make()).await
}

async fn order(store: &impl SessionStore) -> Result<(), Error> {
    let entries = [entry("b", 1), entry("a", 2)];
    store.append(&key(), &entries).await?;
    expect(
        "entries are loaded in the order of their append",
        store.load(&key()).await?.as_deref(),
        Some(&entries[..]),
    )
}

async fn unknown_keys(store: &impl SessionStore) -> Result<(), Error> {
    let case = "an unknown key has no entries";
    expect(case, store.load(&SessionKey::new("proj", "nope")).await?, None)?;
    store.append(&key(), &[entry("x", 1)]).await?;
    expect(case, store.load(&key().with_subpath("nope")).await?, None)
}

async fn order_of_appends(store: &impl SessionStore) -> Result<(), Error> {
    let all = [entry("z", 1), entry("a", 2), entry("m", 3), entry("b", 4)];
    for part in [0..1, 1..3, 3..4] {
        store.append(&key(), &all[part]).await?;
    }
    expect("appends keep their order", store.load(&key()).await?.as_deref(), Some(&all[..]))
}

async fn empty_append(store: &impl SessionStore) -> Result<(), Error> {
    let case = "an append of nothing changes nothing";
    store.append(&key(), &[]).await?;
    expect(case, store.load(&key()).await?, None)?;
    store.append(&key(), &[entry("a", 1)]).await?;
    store.append(&key(), &[]).await?;
    expect(case, store.load(&key()).await?, Some(vec![entry("a", 1)]))
}

async fn subpaths_are_apart(store: &impl SessionStore) -> Result<(), Error> {
    let (case, agent) = ("a subpath has entries of its own", agent(1));
    store.append(&key(), &[entry("m", 1)]).await?;
    store.append(&agent, &[entry("s", 1)]).await?;
    expect(case, store.load(&key()).await?, Some(vec![entry("m", 1)]))?;
    expect(case, store.load(&agent).await?, Some(vec![entry("s", 1)]))
}

async fn projects_are_apart(store: &impl SessionStore) -> Result<(), Error> {
    let case = "a project has sessions of its own";
    for project in ["A", "B"] {
        store.append(&SessionKey::new(project, "s1"), &[entry(project, 1)]).await?;
    }
    for project in ["A", "B"] {
        let loaded = store.load(&SessionKey::new(project, "s1")).await?;
        expect(case, loaded, Some(vec![entry(project, 1)]))?;
        expect(case, store.list(project).await?.len(), 1)?;
    }
    Ok(())
}

async fn lists(store: &impl SessionStore) -> Result<(), Error> {
    let case = "a list has the sessions of a project";
    for (project, session) in [("proj", "a"), ("proj", "b"), ("other", "c")] {
        store.append(&SessionKey::new(project, session), &[plain()]).await?;
    }
    expect(case, names(store, "proj").await?, vec!["a".to_owned(), "b".to_owned()])?;
    // Seconds since 1970 have three digits less.
    let is_in_ms = store.list("proj").await?.iter().all(|one| one.modified_ms > 1_000_000_000_000);
    expect("times in a list are milliseconds since 1970", is_in_ms, true)?;
    expect("an unknown project has no sessions", names(store, "never-appended-project").await?, Vec::new())
}

async fn lists_without_subpaths(store: &impl SessionStore) -> Result<(), Error> {
    let main = SessionKey::new("proj", "main");
    store.append(&main, &[plain()]).await?;
    store.append(&main.with_subpath("subagents/agent-1"), &[plain()]).await?;
    expect("a list has no sub-agents", names(store, "proj").await?, vec!["main".to_owned()])
}

async fn deleting(store: &impl SessionStore) -> Result<(), Error> {
    store.delete(&SessionKey::new("proj", "never-written")).await?;
    store.append(&key(), &[plain()]).await?;
    store.delete(&key()).await?;
    expect("a deleted session has no entries", store.load(&key()).await?, None)
}

async fn deleting_takes_subpaths(store: &impl SessionStore) -> Result<(), Error> {
    let kept = [SessionKey::new("proj", "sess2"), SessionKey::new("other-proj", "sess")];
    for key in [key(), agent(1), agent(2)].iter().chain(&kept) {
        store.append(key, &[plain()]).await?;
    }
    store.delete(&key()).await?;
    for key in [key(), agent(1), agent(2)] {
        expect("a session is deleted with its sub-agents", store.load(&key).await?, None)?;
    }
    for key in &kept {
        expect("other sessions are not deleted", store.load(key).await?, Some(vec![plain()]))?;
    }
    expect("a deleted session has no subpaths", store.subpaths(&key()).await?, Vec::new())?;
    expect("a deleted session is not listed", names(store, "proj").await?, vec!["sess2".to_owned()])
}

async fn deleting_a_subpath(store: &impl SessionStore) -> Result<(), Error> {
    let case = "deleting a subpath deletes nothing else";
    for key in [key(), agent(1), agent(2)] {
        store.append(&key, &[plain()]).await?;
    }
    store.delete(&agent(1)).await?;
    expect(case, store.load(&agent(1)).await?, None)?;
    expect(case, store.load(&agent(2)).await?, Some(vec![plain()]))?;
    expect(case, store.load(&key()).await?, Some(vec![plain()]))?;
    expect(case, store.subpaths(&key()).await?, vec!["subagents/agent-2".to_owned()])
}

async fn subpaths(store: &impl SessionStore) -> Result<(), Error> {
    let other = SessionKey::new("proj", "other-sess").with_subpath("subagents/agent-x");
    for key in [key(), agent(1), agent(2), other] {
        store.append(&key, &[plain()]).await?;
    }
    let mut found = store.subpaths(&key()).await?;
    found.sort();
    let wanted = vec!["subagents/agent-1".to_owned(), "subagents/agent-2".to_owned()];
    expect("the subpaths are those of the session", found, wanted)
}

async fn subpaths_without_main(store: &impl SessionStore) -> Result<(), Error> {
    let case = "the main transcript is no subpath";
    store.append(&key(), &[plain()]).await?;
    expect(case, store.subpaths(&key()).await?, Vec::new())?;
    expect(case, store.subpaths(&SessionKey::new("proj", "never-appended")).await?, Vec::new())
}

fn key() -> SessionKey {
    SessionKey::new("proj", "sess")
}

fn agent(number: u32) -> SessionKey {
    key().with_subpath(format!("subagents/agent-{number}"))
}

fn entry(uuid: &str, number: u32) -> Json {
    Json::from(serde_json::json!({"type": "x", "uuid": uuid, "n": number}))
}

/// An entry without an id.
fn plain() -> Json {
    Json::from(serde_json::json!({"type": "x", "n": 1}))
}

async fn names(store: &impl SessionStore, project: &str) -> Result<Vec<String>, Error> {
    let mut names: Vec<String> = store.list(project).await?.into_iter().map(|one| one.session).collect();
    names.sort();
    Ok(names)
}

#[expect(clippy::needless_pass_by_value, reason = "callers compare values that they make for it")]
fn expect<T: PartialEq + std::fmt::Debug>(case: &str, got: T, wanted: T) -> Result<(), Error> {
    if got == wanted {
        return Ok(());
    }
    let message = format!("Not so in this store: {case}; expected {wanted:?}, got {got:?}");
    Err(Error::new(ErrorKind::Invalid, message, "`SessionStore` describes what a store does"))
}
