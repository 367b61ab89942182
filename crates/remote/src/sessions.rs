//! Sessions of the server.

use reqwest::Method;
use tidings_api::{
    Accepted, CommandRequest, Completions, CreateSession, Input, ModelList, PatchSession, QueueList,
    SessionCommand, SessionList, SessionView, Snapshot, WholeCall, WholePrompt,
};

use crate::error::Error;
use crate::events::SessionEvents;
use crate::notices::Notices;
use crate::requests::RequestStream;
use crate::route::{Route, segment};
use crate::server::RemoteServer;

/// Sessions on one page of the server.
const PAGE_SESSIONS: u64 = 1000;

/// One session of a server. It is named by its number or by its key, and nothing is sent until it is used.
#[derive(Debug, Clone)]
pub struct RemoteSession {
    server: RemoteServer,
    id: String,
}

impl RemoteServer {
    /// Lists all sessions, by number.
    pub async fn sessions(&self) -> Result<Vec<SessionView>, Error> {
        let (mut all, mut after) = (Vec::new(), 0);
        loop {
            let route =
                Route::new("/v1/sessions").with("limit", Some(PAGE_SESSIONS)).with("after", Some(after));
            let page: SessionList = self.get(route.as_str()).await?;
            // A page that does not go on would come again and again.
            let Some(last) = page.items.last().filter(|last| last.handle > after) else { return Ok(all) };
            after = last.handle;
            all.extend(page.items);
        }
    }

    /// A session by its number or its key.
    #[expect(clippy::needless_pass_by_value, reason = "numbers and keys are passed as they are")]
    pub fn session(&self, id: impl ToString) -> RemoteSession {
        RemoteSession { server: self.clone(), id: id.to_string() }
    }

    /// Starts a session.
    ///
    /// With `resume` it continues one on disk, with `fork` too it continues a copy of that one, and with
    /// `fork_at` a copy of its beginning.
    pub async fn start(&self, new: &CreateSession) -> Result<SessionView, Error> {
        self.command("/v1/sessions", new).await
    }

    /// Starts a session on another server of the fleet: a name, labels such as `gpu=yes`, or `*`.
    pub async fn start_on(&self, node: &str, new: &CreateSession) -> Result<SessionView, Error> {
        let route = Route::new("/v1/sessions").with("node", Some(node));
        self.command(route.as_str(), new).await
    }

    /// Notices about all sessions.
    pub fn notices(&self) -> Notices {
        Notices::new(self)
    }

    /// Pending requests of all sessions.
    pub fn requests(&self) -> RequestStream {
        RequestStream::new(self)
    }
}

impl RemoteSession {
    /// The server of the session.
    pub fn server(&self) -> &RemoteServer {
        &self.server
    }

    /// The session as it is now.
    pub async fn view(&self) -> Result<SessionView, Error> {
        self.server.get(&self.path("")).await
    }

    /// Sends a prompt. It is delivered once, although it is sent again when the connection is lost.
    pub async fn send(&self, input: &Input) -> Result<Accepted, Error> {
        self.server.command(&self.path("/input"), input).await
    }

    /// Sends a text as a prompt.
    pub async fn prompt(&self, text: impl Into<String>) -> Result<Accepted, Error> {
        self.send(&Input { content: text.into(), ..Input::default() }).await
    }

    /// Prompts that wait.
    pub async fn queue(&self) -> Result<QueueList, Error> {
        self.server.get(&self.path("/queue")).await
    }

    /// Changes settings: title, labels, budget, policy.
    pub async fn set(&self, patch: &PatchSession) -> Result<SessionView, Error> {
        self.server.command_with(Method::PATCH, &self.path(""), patch).await
    }

    /// Sends a command with its parameters.
    pub async fn command(&self, command: SessionCommand, with: &CommandRequest) -> Result<Accepted, Error> {
        let path = self.path(&format!("/{}", command.as_str()));
        self.server.command(&path, with).await
    }

    /// Interrupts the current turn.
    pub async fn interrupt(&self) -> Result<Accepted, Error> {
        self.command(SessionCommand::Interrupt, &CommandRequest::default()).await
    }

    /// Ends the agent. The next prompt starts it again.
    pub async fn stop(&self) -> Result<Accepted, Error> {
        self.command(SessionCommand::Stop, &CommandRequest::default()).await
    }

    /// Ends the agent unless a turn is under way or prompts wait.
    pub async fn stop_if_idle(&self) -> Result<Accepted, Error> {
        let with = CommandRequest { if_idle: true, ..CommandRequest::default() };
        self.command(SessionCommand::Stop, &with).await
    }

    /// Ends the idle process in the terminal, and continues the session on the server.
    pub async fn take_over(&self) -> Result<Accepted, Error> {
        self.command(SessionCommand::TakeOver, &CommandRequest::default()).await
    }

    /// Compacts the conversation.
    pub async fn compact(&self) -> Result<Accepted, Error> {
        self.command(SessionCommand::Compact, &CommandRequest::default()).await
    }

    /// Changes the permission mode, in the CLI's spelling.
    pub async fn set_mode(&self, mode: &str) -> Result<Accepted, Error> {
        let with = CommandRequest { mode: Some(mode.to_owned()), ..CommandRequest::default() };
        self.command(SessionCommand::Mode, &with).await
    }

    /// Changes the model; `None` is the default one.
    pub async fn set_model(&self, model: Option<&str>) -> Result<Accepted, Error> {
        let with = CommandRequest { model: model.map(str::to_owned), ..CommandRequest::default() };
        self.command(SessionCommand::Model, &with).await
    }

    /// The conversation as few events, at most so many, and the cursor to continue after: for those who come
    /// late.
    pub async fn snapshot(&self, events_max: Option<u64>) -> Result<Snapshot, Error> {
        self.server.get(Route::new(&self.path("/snapshot")).with("limit", events_max).as_str()).await
    }

    /// Events after a cursor, for example that of a snapshot or a stored one; without a cursor all stored
    /// ones.
    pub fn events(&self, after: Option<String>) -> SessionEvents {
        SessionEvents::new(&self.server, &self.id, after)
    }

    /// One tool call in full.
    pub async fn call(&self, tool_use_id: &str) -> Result<WholeCall, Error> {
        self.server.get(&self.path(&format!("/calls/{}", segment(tool_use_id)))).await
    }

    /// Attachments of one prompt.
    pub async fn attachments(&self, prompt: &str) -> Result<WholePrompt, Error> {
        self.server.get(&self.path(&format!("/prompts/{}", segment(prompt)))).await
    }

    /// Files whose path contains these letters, as completions of a prompt.
    pub async fn files(&self, letters: &str) -> Result<Completions, Error> {
        self.server.get(Route::new(&self.path("/files")).with("q", Some(letters)).as_str()).await
    }

    /// Slash commands, as completions of a prompt.
    pub async fn slash_commands(&self) -> Result<Completions, Error> {
        self.server.get(&self.path("/commands")).await
    }

    /// Models, modes and options of its agent.
    pub async fn models(&self) -> Result<ModelList, Error> {
        self.server.get(&self.path("/models")).await
    }

    /// Deletes the session and its events. The CLI's session file stays.
    pub async fn delete(&self) -> Result<(), Error> {
        self.server.delete(&self.path("")).await
    }

    /// Path of a route of the session.
    pub(crate) fn path(&self, rest: &str) -> String {
        format!("/v1/sessions/{}{rest}", segment(&self.id))
    }
}
