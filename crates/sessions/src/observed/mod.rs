//! Sessions that people start themselves: in terminals, editors and the background.
//!
//! `watch` finds the processes of Claude Code by the files in which they describe themselves. `follow` turns
//! the session file of each into events. `hooks` takes the messages of `tidings hook run`, and holds
//! permission requests until a person answers them here or in the terminal.

mod backend;
mod calls;
mod cost;
mod dialog;
mod follow;
mod growing;
mod hooks;
mod process_check;
mod rejections;
mod second_writer;
mod sent_answers;
mod steering;
mod take_over;
mod watch;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use parking_lot::{Mutex, MutexGuard};
use tidings_agent::session::{LocalAnswer, ObservedSession};
use tidings_api::{Choice, Code, SessionOrigin};
use tidings_journal::{AskId, Key};
use tidings_transcript::running::{self, RunningCli};
use tokio::sync::Notify;

pub(super) use self::sent_answers::SentAnswers;
pub use hooks::{HookMessage, HookSender};
pub(super) use second_writer::{AgentClaim, StartingAgent};
pub(super) use watch::watch;

use self::calls::AnnouncedCalls;
use self::dialog::ShownDialog;
use self::growing::GrowingFiles;
use self::process_check::HookSenders;
use self::second_writer::ProcessId;
use self::steering::Steering;
use super::Sessions;
use super::live_session::LiveSession;
use super::settings::FollowedFile;
use crate::Error;
use crate::limits::{FOLLOW_EVERY, FOLLOW_PAUSE};

/// The status of a process that works on a turn.
const BUSY: &str = "busy";

/// The status of a process that waits for a prompt.
const IDLE: &str = "idle";

/// The status of a process that shows a dialog.
const WAITING: &str = "waiting";

/// The observed processes of a server.
#[derive(Debug, Default)]
pub(super) struct ObservedProcesses {
    by_cli_session: Mutex<HashMap<String, Arc<ObservedProcess>>>,
    /// Processes that are not observed: their folders are kept out.
    refused: Mutex<HashSet<ProcessId>>,
    /// Processes that have opened a session beside this server's agent.
    second_writers: Mutex<HashMap<ProcessId, Arc<LiveSession>>>,
    growing: Mutex<GrowingFiles>,
    /// Serializes the end of processes whose sessions are taken over.
    taking_over: tokio::sync::Mutex<()>,
    /// Serializes searches, so that no session is observed twice.
    searching: tokio::sync::Mutex<()>,
    /// Serializes messages of hooks: the announcement of a call comes before the request about it.
    hooks: tokio::sync::Mutex<()>,
    hook_senders: HookSenders,
    /// Locked for writing while a session appears: it is listed together with its terminal, or not yet.
    appearing: tokio::sync::RwLock<()>,
    /// Notified when processes or files may have changed.
    changed: Notify,
}

impl ObservedProcesses {
    /// Waits for a session that appears in this moment. No other one appears until the guard is dropped.
    pub(super) async fn wait_for_appearing(&self) -> tokio::sync::RwLockReadGuard<'_, ()> {
        self.appearing.read().await
    }
}

/// A process of Claude Code outside of this server, with one of its sessions.
pub(super) struct ObservedProcess {
    /// The session of this server.
    key: Key,
    running: RunningCli,
    session: ObservedSession,
    origin: SessionOrigin,
    /// True once a hook has spoken for the session: then its requests can be answered here.
    has_hooks: AtomicBool,
    calls: Mutex<AnnouncedCalls>,
    sent: SentAnswers,
    /// The way to type prompts into its terminal.
    steering: Option<Steering>,
    /// Notified when the queue of prompts may have changed.
    queue_changed: Notify,
    state: Mutex<ProcessState>,
    /// Notified when the process or its files may have changed.
    changed: Notify,
}

/// The last known state of a process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ProcessState {
    status: Option<String>,
    /// True if the process has shown a dialog since the newest request came.
    was_waiting: bool,
    /// The dialog that the process shows.
    dialog: Option<ShownDialog>,
    /// The dialog that the session waits in, if no request is about it.
    waits_for: Option<String>,
    /// The time at which the file of a session without a known process has last grown.
    grown_at: Option<Instant>,
    is_over: bool,
    /// The permission mode, as the last entry or hook has it.
    permission_mode: Option<String>,
}

impl ObservedProcess {
    fn new(key: &Key, running: &RunningCli, session: ObservedSession, steering: Option<Steering>) -> Self {
        ObservedProcess {
            key: key.clone(),
            running: running.clone().with_start(),
            session,
            origin: origin(running),
            has_hooks: AtomicBool::new(false),
            calls: Mutex::default(),
            sent: SentAnswers::default(),
            steering,
            queue_changed: Notify::new(),
            state: Mutex::new(ProcessState {
                status: running.status.clone(),
                dialog: ShownDialog::of(running, None),
                grown_at: Some(Instant::now()),
                ..ProcessState::default()
            }),
            changed: Notify::new(),
        }
    }

    fn state(&self) -> ProcessState {
        self.state.lock().clone()
    }

    /// True if a known process still runs and has the session.
    fn holds_session(&self, config_dir: &Path) -> bool {
        !self.is_file_only() && running::holds_session(config_dir, &self.running)
    }

    /// True if the dialog of a request was closed, so that an answer comes too late. A request that has just
    /// come may not have its dialog yet.
    pub(super) fn has_closed_dialog(&self, config_dir: &Path) -> bool {
        let status = running::status(config_dir, &self.running);
        let is_waiting = status.as_deref().is_none_or(|status| status == WAITING);
        !is_waiting && self.state.lock().was_waiting
    }

    /// Answers that are on their way to the dialogs of the process.
    pub(super) fn sent_answers(&self) -> &SentAnswers {
        &self.sent
    }

    /// Waits until it is known what the dialog did with an answer that was sent. Returns the answer at the
    /// keyboard, if that overruled it.
    pub(super) async fn overruled_by(&self, tool_use_id: &str) -> Option<Choice> {
        // Only a process that has told of its dialog is believed when it says that it works on.
        let told = || {
            let state = self.state();
            state.status.filter(|status| status != BUSY || state.was_waiting)
        };
        self.sent.outcome(tool_use_id, told).await
    }

    /// Notes the status and the dialog that the process reports.
    fn note_status(&self, running: &RunningCli) {
        let state = self.state();
        let dialog = ShownDialog::of(running, state.dialog.as_ref());
        if state.status == running.status && state.dialog == dialog {
            return;
        }
        self.update(|state| {
            state.was_waiting |= dialog.is_some();
            state.status.clone_from(&running.status);
            state.dialog = dialog;
        });
    }

    fn update(&self, change: impl FnOnce(&mut ProcessState)) {
        change(&mut self.state.lock());
        self.changed.notify_one();
        self.queue_changed.notify_one();
    }

    /// Notes the permission mode that an entry or a hook names.
    fn note_mode(&self, mode: &str) {
        self.state.lock().permission_mode = Some(mode.to_owned());
    }

    /// The permission mode, if it is known.
    pub(super) fn permission_mode(&self) -> Option<String> {
        self.state.lock().permission_mode.clone()
    }

    fn calls(&self) -> MutexGuard<'_, AnnouncedCalls> {
        self.calls.lock()
    }
}

impl fmt::Debug for ObservedProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObservedProcess").field("pid", &self.running.pid).finish_non_exhaustive()
    }
}

impl Sessions {
    fn observed(&self) -> MutexGuard<'_, HashMap<String, Arc<ObservedProcess>>> {
        self.0.observed.by_cli_session.lock()
    }
}

impl LiveSession {
    /// Refuses an action that only this server's own agent can carry out.
    pub(super) fn check_hosted(&self) -> Result<(), Error> {
        let observed = self.memory().observed.clone();
        let Some(observed) = observed else { return Ok(()) };
        let place = if observed.is_file_only() { "elsewhere" } else { place(observed.origin) };
        let message = format!("This session runs {place}, outside of this server");
        Err(Error::new(Code::Conflict, message, "use it there, or close it there and continue here"))
    }

    /// Settles a request of an observed session whose dialog was closed a moment ago: the answer at the
    /// keyboard was first.
    pub(super) async fn settle_closed_dialog(&self, tool_use_id: &str) {
        let observed = self.memory().observed.clone();
        let (Some(observed), Some(config_dir)) = (observed, self.config_dir.clone()) else { return };
        let process = Arc::clone(&observed);
        let look = tokio::task::spawn_blocking(move || process.has_closed_dialog(&config_dir));
        if !look.await.unwrap_or_default() {
            return;
        }
        // A hook tells the answer in a moment, unless the tool runs for long.
        if self.wait_until_settled(tool_use_id).await.is_err() {
            observed.session.answered_locally(tool_use_id, LocalAnswer::Unknown);
            drop(self.wait_until_settled(tool_use_id).await);
        }
    }

    /// Waits until a request is settled, for a limited time.
    pub(super) async fn wait_until_settled(&self, tool_use_id: &str) -> Result<(), Error> {
        let id = AskId::new(tool_use_id)?;
        let settled = async {
            while self.ask(&id).await?.is_some() {
                tokio::time::sleep(FOLLOW_PAUSE).await;
            }
            Ok(())
        };
        let late = |_| Error::new(Code::Internal, "The request is still open", "");
        tokio::time::timeout(FOLLOW_EVERY, settled).await.map_err(late)?
    }

    /// Notes that the entries up to a position are stored as events. Returns the name of the position.
    pub(super) fn note_followed(&self, position: u64) -> Option<String> {
        let (index, end) = follow::split(position);
        let mut memory = self.memory();
        let file = memory.followed.get_mut(index)?;
        file.end = file.end.max(end);
        Some(format!("file:{}:{end}", file.agent))
    }

    /// The number of a file of the session.
    fn followed_file(&self, agent: &str) -> (usize, u64) {
        let mut memory = self.memory();
        let known = memory.followed.iter().position(|file| file.agent == agent);
        let index = known.unwrap_or_else(|| {
            memory.followed.push(FollowedFile { agent: agent.to_owned(), end: 0 });
            memory.followed.len() - 1
        });
        (index, memory.followed[index].end)
    }
}

/// The place where a session runs, in words.
fn place(origin: SessionOrigin) -> &'static str {
    match origin {
        SessionOrigin::Editor => "in an editor",
        SessionOrigin::Background => "in the background",
        SessionOrigin::Terminal | SessionOrigin::Server => "in a terminal",
        SessionOrigin::Unknown => "at an unknown place",
    }
}

fn origin(running: &RunningCli) -> SessionOrigin {
    let entrypoint = running.entrypoint.as_deref().unwrap_or_default();
    if ["vscode", "jetbrains", "ide", "editor"].iter().any(|word| entrypoint.contains(word)) {
        SessionOrigin::Editor
    } else if running.kind.as_deref() == Some("interactive") && entrypoint == "cli" {
        SessionOrigin::Terminal
    } else {
        SessionOrigin::Background
    }
}
