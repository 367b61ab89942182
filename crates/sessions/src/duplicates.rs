//! Rows of one session of Claude Code on several servers: servers that share its configuration folder observe
//! the same terminals. Clients see one of these rows.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use jiff::Timestamp;
use parking_lot::Mutex;
use tidings_api::{SessionOrigin, SessionView};

use super::Sessions;
use crate::secret::Fingerprint;

/// The rows of sessions of Claude Code, by which those are found that are hidden. Without a fleet it stays
/// empty.
#[derive(Debug, Default)]
pub struct Duplicates(Mutex<RowTable>);

#[derive(Debug, Default)]
struct RowTable {
    rows: HashMap<String, CliRow>,
    /// Keys of the rows of each session of Claude Code.
    keys: HashMap<String, BTreeSet<String>>,
    /// The configuration folder of each server; this one has no name here.
    folders: HashMap<Option<String>, String>,
}

/// A row of a session of Claude Code.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CliRow {
    cli_session: String,
    /// The server that owns it; none if this one does.
    node: Option<String>,
    rank: Rank,
}

/// Order of the rows of one session: the highest is shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    is_reachable: bool,
    /// Number of actions that are possible. The server that runs the agent offers most, then the one that
    /// hears its hooks.
    actions: usize,
    /// True if its server has started the session: such a row is never hidden.
    is_started_there: bool,
    is_own: bool,
    node: Reverse<Option<String>>,
}

impl Duplicates {
    /// Notes a row as it is now. Returns true if other rows are hidden than before.
    pub fn note(&self, view: &SessionView) -> bool {
        self.0.lock().set(&view.key, CliRow::of(view))
    }

    /// Forgets a row. Returns true if other rows are hidden than before.
    pub fn remove(&self, key: &str) -> bool {
        self.0.lock().set(key, None)
    }

    /// Replaces all rows. Returns true if other rows are hidden than before.
    pub fn replace(&self, views: &[SessionView]) -> bool {
        let mut table = self.0.lock();
        let before = table.all_hidden();
        table.rows.clear();
        table.keys.clear();
        for view in views {
            table.set(&view.key, CliRow::of(view));
        }
        table.all_hidden() != before
    }

    /// Sets the configuration folders of all servers that are known. Returns true if other rows are hidden
    /// than before.
    pub fn set_folders(&self, folders: HashMap<Option<String>, String>) -> bool {
        let mut table = self.0.lock();
        if table.folders == folders {
            return false;
        }
        let before = table.all_hidden();
        table.folders = folders;
        table.all_hidden() != before
    }

    /// True if another row of the same session is shown in place of this one.
    pub fn is_hidden(&self, key: &str) -> bool {
        self.0.lock().is_hidden(key)
    }
}

impl RowTable {
    /// Sets or removes a row. Returns true if other rows are hidden than before.
    fn set(&mut self, key: &str, row: Option<CliRow>) -> bool {
        if self.rows.get(key) == row.as_ref() {
            return false;
        }
        let changed = [self.rows.get(key), row.as_ref()].into_iter().flatten();
        let changed: BTreeSet<String> = changed.map(|row| row.cli_session.clone()).collect();
        let before = self.hidden(&changed);
        if let Some(old) = self.rows.remove(key)
            && let Some(keys) = self.keys.get_mut(&old.cli_session)
        {
            keys.remove(key);
            if keys.is_empty() {
                self.keys.remove(&old.cli_session);
            }
        }
        if let Some(row) = row {
            self.keys.entry(row.cli_session.clone()).or_default().insert(key.to_owned());
            self.rows.insert(key.to_owned(), row);
        }
        self.hidden(&changed) != before
    }

    /// The hidden rows of these sessions of Claude Code.
    fn hidden(&self, cli_sessions: &BTreeSet<String>) -> BTreeSet<String> {
        let keys = cli_sessions.iter().filter_map(|cli_session| self.keys.get(cli_session)).flatten();
        keys.filter(|key| self.is_hidden(key)).cloned().collect()
    }

    fn all_hidden(&self) -> BTreeSet<String> {
        self.rows.keys().filter(|key| self.is_hidden(key)).cloned().collect()
    }

    fn is_hidden(&self, key: &str) -> bool {
        let Some(row) = self.rows.get(key).filter(|row| !row.rank.is_started_there) else { return false };
        // A copy of a session file on another machine is a session of its own.
        let Some(folder) = self.folders.get(&row.node) else { return false };
        let keys = self.keys.get(&row.cli_session).into_iter().flatten();
        keys.filter_map(|key| self.rows.get(key)).any(|other| {
            other.node != row.node && other.rank > row.rank && self.folders.get(&other.node) == Some(folder)
        })
    }
}

impl CliRow {
    /// None if it is not of Claude Code, or has not started yet.
    fn of(view: &SessionView) -> Option<Self> {
        if view.backend.is_some() || view.demo {
            return None;
        }
        let rank = Rank {
            is_reachable: view.unreachable.is_none(),
            actions: view.capabilities.len(),
            is_started_there: view.origin == SessionOrigin::Server,
            is_own: view.node.is_none(),
            node: Reverse(view.node.clone()),
        };
        Some(CliRow { cli_session: view.cli_session_ids.last()?.clone(), node: view.node.clone(), rank })
    }
}

impl Sessions {
    /// The rows of which clients see one.
    pub fn duplicates(&self) -> &Duplicates {
        &self.0.duplicates
    }

    /// Identity of the configuration folder of Claude Code, independent of its path: servers that share the
    /// folder have the same one. None while there is no folder.
    pub fn config_folder_id(&self) -> Option<String> {
        let found = fs_err::metadata(self.config().real_config_dir()?).ok()?;
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(&found);
        #[cfg(not(unix))]
        let number = 0;
        let made = found.created().ok().and_then(|time| Timestamp::try_from(time).ok());
        let made = made.map_or(0, Timestamp::as_nanosecond);
        Some(Fingerprint::of(&format!("folder {number} {made}")).to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Map, json};

    use super::*;
    use crate::{Config, replica_settings};
    use tidings_journal::broadcast::Broadcast;
    use tidings_journal::{Epoch, Key, MemoryJournal, Opening, Replica, ReplicaRow};

    /// A session of a terminal, as this server or another one has it.
    fn row(key: &str, node: Option<&str>, capabilities: &[&str]) -> SessionView {
        let view = json!({
            "handle": 1, "key": key, "cwd": "/shop", "state": "idle", "policy": "ask",
            "cli_session_ids": ["earlier", "one"], "origin": "terminal", "node": node,
            "created": "2026-01-01T00:00:00Z", "active": "", "cursor": "", "head": 0, "floor": 0,
            "totals": {"turns": 0, "cost_usd": 0.0, "input_tokens": 0, "output_tokens": 0}, "budget": {},
            "pending_permissions": 0, "pending_questions": 0, "queued": 0, "capabilities": capabilities,
        });
        serde_json::from_value(view).unwrap()
    }

    /// This server and `two` are on one machine, `far` is on another one.
    fn folders() -> HashMap<Option<String>, String> {
        let folder = |node: Option<&str>, folder: &str| (node.map(str::to_owned), folder.to_owned());
        HashMap::from([folder(None, "here"), folder(Some("two"), "here"), folder(Some("far"), "there")])
    }

    fn shown(duplicates: &Duplicates) -> Vec<&'static str> {
        ["own", "two", "far"].into_iter().filter(|key| !duplicates.is_hidden(key)).collect()
    }

    #[test]
    fn r13_a_session_of_a_terminal_is_shown_once_for_each_machine() {
        let duplicates = Duplicates::default();
        for view in [row("own", None, &[]), row("two", Some("two"), &[]), row("far", Some("far"), &[])] {
            assert!(!duplicates.note(&view), "no folder is known");
        }
        assert!(duplicates.set_folders(folders()));
        assert_eq!(shown(&duplicates), ["own", "far"]);
        assert!(!duplicates.set_folders(folders()));
        // The other server hears the hooks of the session.
        assert!(duplicates.note(&row("two", Some("two"), &["answer"])));
        assert_eq!(shown(&duplicates), ["two", "far"]);
        // It is lost.
        let lost = SessionView { unreachable: Some(String::new()), ..row("two", Some("two"), &[]) };
        assert!(duplicates.note(&lost));
        assert_eq!(shown(&duplicates), ["own", "far"]);
        // This server takes the session over.
        assert!(duplicates.note(&row("two", Some("two"), &["answer"])));
        assert!(duplicates.note(&row("own", None, &["prompt", "interrupt"])));
        assert_eq!(shown(&duplicates), ["own", "far"]);
        assert!(duplicates.remove("own"));
        assert_eq!(shown(&duplicates), ["own", "two", "far"], "a row that is gone hides nothing");
    }

    #[test]
    fn r13_a_session_that_a_server_has_started_is_not_hidden() {
        let duplicates = Duplicates::default();
        duplicates.set_folders(folders());
        duplicates.note(&SessionView { origin: SessionOrigin::Server, ..row("own", None, &[]) });
        duplicates.note(&row("two", Some("two"), &["answer"]));
        assert_eq!(shown(&duplicates), ["own", "two", "far"], "one has the history, one the answers");
        duplicates.note(&row("two", Some("two"), &[]));
        assert_eq!(shown(&duplicates), ["own", "far"]);
        // `/clear` begins another session.
        let cleared = vec!["one".to_owned(), "new".to_owned()];
        assert!(duplicates.note(&SessionView { cli_session_ids: cleared, ..row("two", Some("two"), &[]) }));
        assert_eq!(shown(&duplicates), ["own", "two", "far"]);
    }

    #[tokio::test]
    async fn r13_the_list_has_one_row_of_a_session_that_several_servers_observe() {
        let opening = Opening { boot_id: "boot".to_owned(), fresh_epoch: Epoch::from_random(1) };
        let broadcast = Broadcast::new(Arc::new(MemoryJournal::new(&opening)));
        let sessions = Sessions::open(broadcast, Config::default()).await.unwrap();
        let other = SessionView { cli_session_ids: vec!["two".to_owned()], ..row("c", Some("one"), &[]) };
        let all = [row("a", Some("one"), &[]), row("b", Some("two"), &[]), other];
        for view in &all {
            let node = view.node.clone().unwrap();
            let row = ReplicaRow {
                cwd: view.cwd.clone(),
                title: None,
                labels: view.labels.clone(),
                settings: replica_settings(&node, view.clone().into(), Map::new()),
                state: "idle".to_owned(),
                cli_sessions: view.cli_session_ids.clone(),
                created: Timestamp::UNIX_EPOCH,
                asks: Vec::new(),
            };
            let replica = Replica {
                key: Key::new(&view.key).unwrap(),
                node,
                epoch: Epoch::from_random(7),
                first: 1,
                restart: true,
                past: Vec::new(),
                events: Vec::new(),
                row: Some(row),
            };
            sessions.replicate(replica).await.unwrap();
        }
        let listed = async |max: usize| -> Vec<String> {
            let list = sessions.list(None, max).await.unwrap();
            list.into_iter().map(|view| view.key).collect()
        };
        assert_eq!(listed(2).await, ["a", "b"]);
        let folder = |node: &str| (Some(node.to_owned()), "here".to_owned());
        sessions.duplicates().set_folders(HashMap::from([folder("one"), folder("two")]));
        assert!(sessions.duplicates().replace(&all));
        assert_eq!(listed(2).await, ["a", "c"], "a page is as long as before");
        assert_eq!(sessions.find("b").await.unwrap().key, "b");
    }
}
