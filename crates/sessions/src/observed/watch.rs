//! Finding the processes of Claude Code that run outside of this server.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use tidings_agent::permissions::{CodeSources, SessionKind};
use tidings_agent::session::ObservedSession;
use tidings_api::{Notice, ServerPhase, SessionOrigin};
use tidings_base::files;
use tidings_journal::limits::PRIVATE_FILE_BYTES_MAX;
use tidings_journal::{ClientId, Key, NewSession, Session, SessionChange};
use tidings_transcript::follow::{Wake, Woken};
use tidings_transcript::running::{self, RunningCli};
use tokio::sync::oneshot;

use super::follow::{self, Known};
use super::growing::session_of;
use super::steering::{self, Steering};
use super::{ObservedProcess, origin};
use crate::active::ActiveSession;
use crate::limits::{FIRST_SEARCH_WAIT, FOLLOW_PAUSE, PROCESSES_EVERY};
use crate::live_session::Change;
use crate::running::sink::{EventSource, JournalSink};
use crate::settings::SessionSettings;
use crate::starting::launch::ENTRYPOINT;
use crate::{Error, Sessions, SessionsInner, paths};

/// The folder in which processes describe themselves.
const PROCESSES: &str = "sessions";

/// The folder with the session files.
const PROJECTS: &str = "projects";

/// Starts to observe the sessions of the configuration folder, if the server is configured to. The sessions
/// that run now are known afterwards, unless the search takes long.
pub(crate) async fn watch(sessions: &Sessions) {
    let Some(config_dir) = sessions.config_dir_to_observe() else { return };
    let shared = Arc::downgrade(&sessions.0);
    let (searched, first_search) = oneshot::channel();
    drop(tokio::spawn(run(shared, config_dir, searched)));
    drop(tokio::time::timeout(FIRST_SEARCH_WAIT, first_search).await);
}

async fn run(shared: Weak<SessionsInner>, config_dir: PathBuf, searched: oneshot::Sender<()>) {
    let mut searched = Some(searched);
    let mut wake = None;
    let mut watched = Vec::new();
    while let Some(sessions) = shared.upgrade().map(Sessions) {
        // An earlier version of Claude Code has no folder for processes, and a new user has none at all.
        let folders = [PROCESSES, PROJECTS].map(|name| config_dir.join(name));
        let folders: Vec<PathBuf> = folders.into_iter().filter(|folder| folder.is_dir()).collect();
        if wake.is_none() || watched != folders {
            wake = wake_on_changes(&sessions, &config_dir, &folders);
            watched = folders;
        }
        let looked = match sessions.look_for_processes().await {
            Ok(()) => sessions.look_for_growing_files(&config_dir).await,
            Err(error) => Err(error),
        };
        if let Err(error) = looked {
            tracing::warn!(%error, "failed to observe a session");
        }
        if let Some(searched) = searched.take() {
            // The server may have stopped to wait.
            let _ = searched.send(());
        }
        let inner = Arc::clone(&sessions.0);
        drop(sessions);
        tokio::time::sleep(FOLLOW_PAUSE).await;
        tokio::select! {
            () = inner.observed.changed.notified() => {}
            () = tokio::time::sleep(PROCESSES_EVERY) => {}
        }
    }
}

/// Watches the folders of the CLI. Where that is not possible, the folders are polled.
fn wake_on_changes(sessions: &Sessions, config_dir: &Path, folders: &[PathBuf]) -> Option<Wake> {
    let shared = Arc::downgrade(&sessions.0);
    let [processes_folder, projects] = [PROCESSES, PROJECTS].map(|name| config_dir.join(name));
    let tell = move |woken: Woken| {
        let Some(inner) = shared.upgrade() else { return };
        let paths = match &woken {
            Woken::Paths(paths) => Some(paths),
            Woken::Somewhere => None,
        };
        // The search notifies the followers of the processes that have changed.
        if paths.is_none_or(|paths| paths.iter().any(|path| path.starts_with(&processes_folder))) {
            inner.observed.changed.notify_one();
        }
        let sessions = Sessions(inner);
        let processes = sessions.observed();
        for (session, process) in &*processes {
            if paths.is_none_or(|paths| paths.iter().any(|path| is_about(path, session))) {
                process.note_growth();
                process.changed.notify_one();
            }
        }
        let grown = paths.into_iter().flatten().filter_map(|path| session_of(&projects, path));
        let mut unknown = grown.filter(|(session, _)| !processes.contains_key(session)).collect::<Vec<_>>();
        drop(processes);
        for (session, main) in unknown.drain(..) {
            sessions.note_growing(&session, main);
        }
    };
    Wake::new(folders, tell).ok()
}

/// True if a path is that of a session file, or below the folder of the session.
fn is_about(path: &Path, session: &str) -> bool {
    path.components().rev().any(|part| {
        part.as_os_str().to_str().is_some_and(|name| name.strip_suffix(".jsonl").unwrap_or(name) == session)
    })
}

impl Sessions {
    /// The configuration folder whose sessions are observed.
    pub(super) fn config_dir_to_observe(&self) -> Option<PathBuf> {
        let config = self.config();
        config.real_config_dir().filter(|_| config.observe.is_some() && !config.demo).map(Path::to_owned)
    }

    /// Observes new processes, and notes changes of known ones.
    pub(super) async fn look_for_processes(&self) -> Result<(), Error> {
        let Some(config_dir) = self.config_dir_to_observe() else { return Ok(()) };
        let _lock = self.0.observed.searching.lock().await;
        let folder = config_dir.clone();
        let listed = tokio::task::spawn_blocking(move || running::list(&folder)).await;
        let running = listed.unwrap_or_default();
        let is_shown =
            |process: &&RunningCli| process.entrypoint.as_deref() != Some(ENTRYPOINT) && !process.spare;
        for process in running.iter().filter(is_shown) {
            let known = self.observed().get(&process.session_id).cloned();
            match known.filter(|known| known.holds_session(&config_dir)) {
                // Any process of the user can write such a file: none takes the session of one that still
                // runs.
                Some(known) if known.running.pid != process.pid => {}
                Some(known) => known.note_status(process),
                None => self.observe(process, &config_dir).await?,
            }
        }
        let is_there = |session: &str, pid: u32| {
            running.iter().any(|process| process.session_id == session && process.pid == pid)
        };
        let settles_after = self.config().observe.as_ref().map(|observe| observe.files_settle_after);
        let is_described = |session: &str| running.iter().any(|process| process.session_id == session);
        let mut ended = Vec::new();
        self.observed().retain(|session, known| {
            let stays = if known.is_file_only() {
                !is_described(session) && settles_after.is_some_and(|after| !known.is_settled(after))
            } else {
                is_there(session, known.running.pid) || running::holds_session(&config_dir, &known.running)
            };
            if !stays {
                known.update(|state| state.is_over = true);
                ended.push(session.clone());
            }
            stays
        });
        for session in ended {
            self.growing().note_ended(&session);
        }
        self.refused().retain(|(pid, session)| is_there(session, *pid));
        self.forget_second_writers(|session, pid| {
            is_there(session, pid) && !self.observed().contains_key(session)
        });
        Ok(())
    }

    fn refused(&self) -> parking_lot::MutexGuard<'_, std::collections::HashSet<(u32, String)>> {
        self.0.observed.refused.lock()
    }

    async fn observe(&self, process: &RunningCli, config_dir: &Path) -> Result<(), Error> {
        let id = (process.pid, process.session_id.clone());
        if self.refused().contains(&id) || uuid::Uuid::parse_str(&process.session_id).is_err() {
            return Ok(());
        }
        let Some(cwd) = self.observable_folder(&process.cwd) else {
            self.refused().insert(id);
            return Ok(());
        };
        if self.is_yielding_to(process) {
            return Ok(());
        }
        let steering = Steering::find(self.config(), process).await;
        let _appearing = self.0.observed.appearing.write().await;
        let row = self.row_of(process, &cwd).await?;
        let used = self.active_session(&row.key).await?;
        if used.entry.memory().has_agent() {
            return self.yield_to(process, &used.entry).await;
        }
        let is_followed = |known: &Arc<ObservedProcess>| known.is_file_only();
        if used.entry.memory().observed.as_ref().is_some_and(is_followed) {
            // It was followed by its file only. The next search finds the process, when that has ended.
            return Ok(());
        }
        self.start_observing((process, steering), &used, config_dir).await
    }

    /// The folder of a session, unless the server does not show its sessions.
    pub(super) fn observable_folder(&self, cwd: &Path) -> Option<String> {
        let real = paths::inside(&self.config().roots, cwd).ok()?;
        if self.is_ignored(&real) { None } else { real.to_str().map(str::to_owned) }
    }

    /// True if the sessions of a folder are kept out.
    pub(super) fn is_ignored(&self, folder: &Path) -> bool {
        let Some(observe) = self.config().observe.as_ref() else { return true };
        let ignored = observe.ignored_folders.as_deref();
        let ignored = match ignored.map(|path| files::read_text(path, PRIVATE_FILE_BYTES_MAX)) {
            Some(Ok(text)) => text,
            None => String::new(),
            Some(Err(error)) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Some(Err(error)) => {
                // It may name this folder.
                tracing::warn!(%error, "failed to read the folders whose sessions are not shown");
                return true;
            }
        };
        let keeps_out = |line: &str| !line.trim().is_empty() && folder.starts_with(line.trim());
        ignored.lines().any(keeps_out)
    }

    /// The session of this server for a CLI session: the one that used it last, or a new one.
    pub(super) async fn row_of(&self, process: &RunningCli, cwd: &str) -> Result<Session, Error> {
        let _importing = self.0.importing.lock().await;
        if let Some(row) = self.owner_of(&process.session_id).await? {
            return Ok(row);
        }
        let mut settings = SessionSettings {
            origin: origin(process),
            is_observed: true,
            sources: CodeSources::read(cwd),
            ..SessionSettings::default()
        };
        if let Some(policies) = &self.config().policies {
            settings.launch.policy = policies.of(Path::new(cwd));
        }
        let row = NewSession {
            settings: settings.text(),
            state: ServerPhase::Idle.as_str().to_owned(),
            client_id: Some(ClientId::new(format!("cli:{}", process.session_id))?),
            ..NewSession::new(Key::new(self.config().ids.next())?, cwd, self.config().clock.now())
        };
        let (row, _) = self.broadcast().journal().create(row).await?;
        let fence = self.broadcast().journal().claim(&row.key).await?;
        let cli_session = Some(process.session_id.clone());
        let change = SessionChange { cli_session, ..SessionChange::default() };
        self.broadcast().journal().update(&row.key, fence, change).await?;
        Ok(row)
    }

    pub(super) async fn start_observing(
        &self,
        (process, steering): (&RunningCli, Option<Steering>),
        used: &ActiveSession,
        config_dir: &Path,
    ) -> Result<(), Error> {
        let entry = Arc::clone(&used.entry);
        let sink = JournalSink(Arc::clone(&entry), EventSource::Files);
        let mut setup = entry.setup(self.config());
        setup.facts.kind = SessionKind::Observed;
        let session = ObservedSession::start(setup, Box::new(sink));
        let observed = Arc::new(ObservedProcess::new(&entry.key, process, session, steering));
        let known = {
            let mut memory = entry.memory();
            if memory.has_agent() {
                // It was started in this moment; the next search finds both.
                return Ok(());
            }
            memory.observed = Some(Arc::clone(&observed));
            memory.claim.is_yielding = false;
            // A server that was killed may have made the row and stored nothing yet.
            let has_own_events =
                memory.settings.origin == SessionOrigin::Server && memory.followed.is_empty();
            if has_own_events { Known::All } else { Known::UpToPositions }
        };
        entry
            .change(|settings, _| {
                settings.is_observed = true;
                Ok(Change::default())
            })
            .await?;
        tracing::info!(session = %entry.key, pid = process.pid, "observing a session");
        self.observed().insert(process.session_id.clone(), Arc::clone(&observed));
        let deliverer = Arc::clone(&observed);
        let (id, config_dir) = (process.session_id.clone(), config_dir.to_owned());
        drop(tokio::spawn(follow::follow(observed, Arc::clone(&entry), id, config_dir, known)));
        entry.notify(Notice::Session { session: Box::new(entry.view()) });
        drop(tokio::spawn(steering::deliver(deliverer, entry)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_to_the_session_that_they_are_about() {
        let is_about = |path: &str| is_about(Path::new(path), "4f2c");
        assert!(is_about("/c/projects/-p/4f2c.jsonl"));
        assert!(is_about("/c/projects/-p/4f2c/subagents/agent-1.jsonl"));
        assert!(!is_about("/c/projects/-p/4f2d.jsonl"));
        assert!(!is_about("/c/projects/-p"));
    }
}
