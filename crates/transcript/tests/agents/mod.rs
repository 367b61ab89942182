//! Sessions of other agents, on samples that the agents wrote.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod codex;
mod gemini;
#[cfg(feature = "opencode")]
mod opencode;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tidings_transcript::agents::{AgentKind, AgentStore, Conversation, StoredSession, open};
use tidings_transcript::export::{Format, Options, export};
use tidings_transcript::search::{self, SearchFlow, SearchQuery};

/// Copies the sample of an agent to a folder of its own.
pub(super) fn sample(agent: &str) -> tempfile::TempDir {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agents").join(agent);
    let folder = tempfile::tempdir().unwrap();
    copy(&from, folder.path());
    folder
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Opens a folder, and reads its newest session.
pub(super) fn newest(kind: AgentKind, root: &Path) -> (Box<dyn AgentStore>, StoredSession, Conversation) {
    let store = open(kind, root).unwrap();
    let scan = store.scan().unwrap();
    assert!(scan.unreadable.is_empty(), "{:?}", scan.unreadable);
    let session = scan.sessions.into_iter().next().unwrap();
    let conversation = store.read(&session).unwrap();
    (store, session, conversation)
}

/// A session in one format.
pub(super) fn exported(session: &StoredSession, conversation: &Conversation, format: Format) -> String {
    let mut out = Vec::new();
    let tree = conversation.session(&session.files).unwrap();
    export(&tree, &session.files, format, &Options::default(), None, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The records of a session, as the agent stored them.
pub(super) fn records(store: &dyn AgentStore, session: &StoredSession) -> Vec<String> {
    let mut records = Vec::new();
    let each = &mut |record: &[u8]| {
        records.push(String::from_utf8_lossy(record).into_owned());
        Ok(())
    };
    store.records(session, each).unwrap();
    records
}

/// Lines, speakers and tools of the hits for a word.
pub(super) fn hits(session: &StoredSession, conversation: &Conversation, word: &str) -> Vec<String> {
    let options = search::Options { pattern: word.into(), ..search::Options::default() };
    let query = SearchQuery::new(options).unwrap();
    let mut found = Vec::new();
    search::search_entries(&session.files, &conversation.lines, &query, |hit| {
        found.push(format!("{} {:?} {}", hit.line, hit.role.unwrap(), hit.tool.as_deref().unwrap_or("-")));
        SearchFlow::Continue
    });
    found
}

/// Bytes and time of every file below a folder.
pub(super) fn state(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut state = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let modified = std::fs::metadata(&folder).unwrap().modified().unwrap();
        state.insert(folder.clone(), (Vec::new(), modified));
        for entry in std::fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                let modified = entry.metadata().unwrap().modified().unwrap();
                state.insert(entry.path(), (std::fs::read(entry.path()).unwrap(), modified));
            }
        }
    }
    state
}

/// Reading everything leaves the folder as it was.
pub(super) fn assert_reading_changes_nothing(kind: AgentKind, root: &Path) {
    let before = state(root);
    let (store, session, conversation) = newest(kind, root);
    assert!(!records(&*store, &session).is_empty());
    assert!(!exported(&session, &conversation, Format::Markdown).is_empty());
    drop(store);
    assert_eq!(state(root), before);
}
