//! Sessions that run, as those who use them see them.
//!
//! Each session has a task of its own around an agent; what the agent says goes into the journal before anybody sees it,
//! and what people say goes there before it is acknowledged.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tidings::Ids;
use tidings_agent::Clock;
use tidings_protocol::api::{
    Accepted, AnswerResult, BatchAnswer, BatchAnswered, CommandRequest, CreateSession, Input, Notice,
    PatchSession, PendingPermission, PendingQuestion, PermissionAnswer, QuestionAnswer, QueuedInput,
    SessionView, Snapshot, Subscribed,
};
use tokio::sync::broadcast;

use crate::caller::Caller;
use crate::error::{Code, Error};
use crate::hub::{Hub, Subscription, Watch};
use crate::journal::{Handle, Novelty};

/// How sessions are run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// The `claude` to run; it is looked for where none is named.
    pub claude: Option<PathBuf>,
    /// Arguments that come before those of ours, for a stand-in.
    pub claude_args: Vec<String>,
    /// Whether `claude` is a stand-in that plays a script.
    pub demo: bool,
    /// The whole environment of the agents.
    pub environment: Vec<(String, String)>,
    /// The folders that sessions may work in; everywhere if there are none.
    pub roots: Vec<PathBuf>,
    /// Whether modes that ask nobody may be used at all.
    pub allow_bypass: bool,
    /// Agents that run at the same time.
    pub live_max: usize,
    /// After how long an agent that nobody uses is ended.
    pub park_after: Option<Duration>,
    /// How long a question waits for an answer.
    pub ask_limit: Option<Duration>,
    /// What time it is.
    pub clock: Clock,
    /// Where ids come from.
    pub ids: Ids,
}

/// What becomes of the session file of a session that is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transcript {
    /// It stays.
    #[default]
    Keep,
    /// It is deleted too.
    Delete,
}

/// What can be asked of a session besides a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verb {
    /// The turn that is under way ends.
    Interrupt,
    /// Another permission mode.
    Mode,
    /// Another model.
    Model,
    /// Files are put back.
    Rewind,
    /// The agent ends.
    Stop,
    /// The conversation is summed up to make room.
    Compact,
    /// The conversation begins anew.
    Clear,
}

/// The sessions of a server. Handles are cheap to clone.
#[derive(Debug, Clone)]
pub struct Sessions(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    hub: Hub,
    config: Config,
    notices: broadcast::Sender<Arc<Notice>>,
}

fn not_yet() -> Error {
    Error::new(Code::Unavailable, "not built yet", "")
}

#[expect(clippy::unused_async, unused_variables, reason = "skeleton")]
impl Sessions {
    pub async fn open(hub: Hub, config: Config) -> Result<Sessions, Error> {
        Ok(Sessions(Arc::new(Shared { hub, config, notices: broadcast::Sender::new(256) })))
    }
    pub fn hub(&self) -> &Hub {
        &self.0.hub
    }
    pub fn config(&self) -> &Config {
        &self.0.config
    }
    pub async fn create(&self, caller: &Caller, new: CreateSession) -> Result<(SessionView, Novelty), Error> {
        Err(not_yet())
    }
    pub async fn list(&self, after: Option<Handle>, max: usize) -> Result<Vec<SessionView>, Error> {
        Err(not_yet())
    }
    /// By number or by key.
    pub async fn find(&self, name: &str) -> Result<SessionView, Error> {
        Err(not_yet())
    }
    pub async fn patch(
        &self,
        caller: &Caller,
        name: &str,
        patch: PatchSession,
    ) -> Result<SessionView, Error> {
        Err(not_yet())
    }
    pub async fn delete(&self, caller: &Caller, name: &str, transcript: Transcript) -> Result<(), Error> {
        Err(not_yet())
    }
    pub async fn input(&self, caller: &Caller, name: &str, input: Input) -> Result<Accepted, Error> {
        Err(not_yet())
    }
    pub async fn queue(&self, name: &str) -> Result<Vec<QueuedInput>, Error> {
        Err(not_yet())
    }
    pub async fn cancel(&self, caller: &Caller, name: &str, id: &str) -> Result<Accepted, Error> {
        Err(not_yet())
    }
    pub async fn command(
        &self,
        caller: &Caller,
        name: &str,
        verb: Verb,
        request: CommandRequest,
    ) -> Result<Accepted, Error> {
        Err(not_yet())
    }
    pub async fn permissions(&self, name: Option<&str>) -> Result<Vec<PendingPermission>, Error> {
        Err(not_yet())
    }
    pub async fn questions(&self, name: Option<&str>) -> Result<Vec<PendingQuestion>, Error> {
        Err(not_yet())
    }
    pub async fn answer_permission(
        &self,
        caller: &Caller,
        name: &str,
        tool_use_id: &str,
        answer: PermissionAnswer,
    ) -> Result<AnswerResult, Error> {
        Err(not_yet())
    }
    pub async fn answer_batch(
        &self,
        caller: &Caller,
        name: &str,
        batch_id: &str,
        answer: BatchAnswer,
    ) -> Result<BatchAnswered, Error> {
        Err(not_yet())
    }
    pub async fn answer_question(
        &self,
        caller: &Caller,
        name: &str,
        tool_use_id: &str,
        answer: QuestionAnswer,
    ) -> Result<AnswerResult, Error> {
        Err(not_yet())
    }
    /// Each event's body is one `UiMessage` of the dialect `native` as JSON, and its kind is the name of the variant.
    /// Those of the kind `frame` are lines of the CLI, for the dialect `frames` only.
    pub async fn subscribe(&self, name: &str, watch: Watch) -> Result<(Subscribed, Subscription), Error> {
        Err(not_yet())
    }
    pub async fn snapshot(&self, name: &str, events_max: usize, bytes_max: usize) -> Result<Snapshot, Error> {
        Err(not_yet())
    }
    pub fn notices(&self) -> broadcast::Receiver<Arc<Notice>> {
        self.0.notices.subscribe()
    }
    pub async fn drain(&self) {}
}
