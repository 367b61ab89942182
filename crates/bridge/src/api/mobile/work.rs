//! Requests of a phone that take time: projects, prompts, resuming.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use tidings_api::{CommandRequest, CreateSession, Input, Scope, SessionCommand, SessionView};
use tidings_journal::broadcast::SubscribeOptions;
use tidings_journal::limits::LIST_MAX;
use tidings_journal::{Cursor, Key, Project};
use tidings_protocol::mobile::{MobileMessage, ProjectInitComplete, SessionAction, SessionResumeMessage};
use tidings_sessions::{Caller, Error, first_input_id};

use super::feed::PhoneFeed;
use super::incoming::{Execute, ExecuteOptions, Messages, Work};
use super::outgoing::{Empty, History, Killed, ProjectEnvelope, ProjectList, Refusal, WithProject, to_json};
use super::projects::{self, IfOpen};
use super::resume;
use crate::api::{Api, visibility};
use crate::limits::MOBILE_QUEUE_MAX;

/// The context of a request.
pub(super) struct WorkContext {
    pub(super) api: Api,
    pub(super) caller: Caller,
    /// The id of the message.
    pub(super) id: Option<String>,
    /// The project that the message names, or that was joined last.
    pub(super) project: Option<String>,
}

/// The result of a request.
#[derive(Default)]
pub(super) struct WorkResult {
    /// Messages for the phone, in this order.
    pub(super) messages: Vec<String>,
    /// The project that the phone has joined.
    pub(super) join: Option<String>,
    /// The project that the phone has left, or that has another session now.
    pub(super) leave: Option<String>,
    /// The session that the phone is subscribed to from now on.
    pub(super) feed: Option<(String, PhoneFeed)>,
}

impl WorkContext {
    pub(super) async fn run(self, work: Work) -> Result<WorkResult, Refusal> {
        match work {
            Work::List => self.list().await,
            Work::Create(path) => self.create(&path).await,
            Work::Init(path) => self.init(&path).await,
            Work::Resume(resume) => self.resume(resume).await,
            Work::Execute(execute) => self.execute(execute).await,
            Work::Join => self.join().await,
            Work::Leave => {
                let project = self.project().await?;
                let messages = vec![self.named("project_left", &project, Empty {})];
                Ok(WorkResult { messages, leave: Some(id_of(&project)), ..WorkResult::default() })
            }
            Work::Delete => {
                self.caller.require(Scope::Prompt)?;
                let project = self.project().await?;
                projects::close(&self.api, &project).await?;
                let messages = vec![self.named("project_deleted", &project, Empty {})];
                Ok(WorkResult { messages, leave: Some(id_of(&project)), ..WorkResult::default() })
            }
            Work::NewSession => {
                self.caller.require(Scope::Prompt)?;
                let project = self.project().await?;
                projects::set(&self.api, &project, None).await?;
                let messages = vec![self.named("session_reset", &project, Empty {})];
                let id = id_of(&project);
                Ok(WorkResult { messages, leave: Some(id.clone()), join: Some(id), ..WorkResult::default() })
            }
            Work::Kill => {
                let project = self.project().await?;
                self.command(&project, SessionCommand::Stop).await?;
                let killed = Killed { reason: "stopped" };
                Ok(WorkResult {
                    messages: vec![self.named("process_killed", &project, killed)],
                    ..WorkResult::default()
                })
            }
            Work::Control(action) => self.control(action).await,
            Work::Messages(messages) => self.messages(messages).await,
        }
    }

    async fn list(&self) -> Result<WorkResult, Refusal> {
        let mut states = Vec::new();
        for project in projects::all(&self.api, &self.caller).await? {
            states.push(projects::state(&self.api, &self.caller, &project).await);
        }
        let list = ProjectList { projects: states };
        let message =
            ProjectEnvelope { r#type: "project_list", project_id: None, id: self.id.as_deref(), data: list };
        Ok(WorkResult { messages: vec![to_json(&message)], ..WorkResult::default() })
    }

    async fn create(&self, path: &str) -> Result<WorkResult, Refusal> {
        self.caller.require(Scope::Prompt)?;
        let project = projects::open(&self.api, &self.caller, path, IfOpen::Refuse).await?;
        Ok(WorkResult { messages: vec![self.state(&project).await], ..WorkResult::default() })
    }

    async fn init(&self, path: &str) -> Result<WorkResult, Refusal> {
        self.caller.require(Scope::Prompt)?;
        let project = projects::open(&self.api, &self.caller, path, IfOpen::Return).await?;
        let session = projects::session(&self.api, &self.caller, &project).await;
        let session_id = session.as_ref().map(|session| session.key.clone()).unwrap_or_default();
        let complete = MobileMessage::new(ProjectInitComplete { success: true, session_id, error: None });
        let mut done = self.joined(&project, session).await?;
        done.messages.insert(0, with_project(&self.stamped(complete), &project));
        Ok(done)
    }

    async fn join(&self) -> Result<WorkResult, Refusal> {
        let project = self.project().await?;
        let session = projects::session(&self.api, &self.caller, &project).await;
        let mut done = self.joined(&project, session).await?;
        done.messages.insert(0, self.named("project_joined", &project, Empty {}));
        Ok(done)
    }

    /// The state of a project and its pending requests, and a subscription to its session.
    async fn joined(&self, project: &Project, session: Option<SessionView>) -> Result<WorkResult, Refusal> {
        let mut messages = vec![self.state(project).await];
        let mut feed = None;
        if let Some(session) = session {
            let after = session.cursor.parse::<Cursor>().ok();
            let (key, subscribed) = subscribe(&self.api, &session, project.folder.as_str(), after).await?;
            let pending = resume::pending(&self.api, &session).await?;
            let config = self.api.sessions.config();
            let id = subscribed.position.id_with(&config.ids.next());
            let pending = pending.stamped(id, config.clock.now().as_millisecond());
            messages.push(with_project(&pending, project));
            feed = Some((key, subscribed));
        }
        Ok(WorkResult { messages, join: Some(id_of(project)), leave: None, feed })
    }

    /// Sends a prompt to the session of a project, or to a new session.
    async fn execute(&self, execute: Execute) -> Result<WorkResult, Refusal> {
        self.caller.require(Scope::Prompt)?;
        let Execute { prompt, options } = execute;
        if prompt.trim().is_empty() {
            return Err(Refusal::new("VALIDATION_FAILED", "The prompt is empty"));
        }
        let project = self.project().await?;
        if let Some(session) = projects::session(&self.api, &self.caller, &project).await {
            let mode = options.mode();
            for (command, model, mode) in
                [(SessionCommand::Model, options.model, None), (SessionCommand::Mode, None, mode)]
            {
                if model.is_some() || mode.is_some() {
                    let request = CommandRequest { model, mode, ..CommandRequest::default() };
                    self.api.sessions.command(&self.caller, &session.key, command, request).await?;
                }
            }
            // The first prompt of a session may be repeated after the session was created.
            let client_id = self.id.as_deref().map(first_input_id);
            let input = Input { content: prompt, client_id, ..Input::default() };
            self.api.sessions.input(&self.caller, &session.key, input).await?;
            return Ok(WorkResult { join: Some(id_of(&project)), ..WorkResult::default() });
        }
        let new = CreateSession {
            cwd: project.folder.as_str().to_owned(),
            prompt: Some(prompt),
            permission_mode: options.mode(),
            model: options.model,
            allowed_tools: options.allowed_tools,
            mcp_config: options.mcp_config,
            append_system_prompt: options.append_system_prompt,
            add_dirs: options.add_dirs,
            client_id: self.id.clone(),
            ..CreateSession::default()
        };
        let (session, _) = self.api.sessions.create(&self.caller, new).await?;
        projects::set(&self.api, &project, Some(Key::new(&session.key).map_err(Error::from)?)).await?;
        let feed = subscribe(&self.api, &session, project.folder.as_str(), None).await?;
        Ok(WorkResult { join: Some(id_of(&project)), feed: Some(feed), ..WorkResult::default() })
    }

    async fn control(&self, action: SessionAction) -> Result<WorkResult, Refusal> {
        let project = self.project().await?;
        match action {
            SessionAction::Pause => self.command(&project, SessionCommand::Interrupt).await?,
            SessionAction::Stop | SessionAction::Restart => {
                self.command(&project, SessionCommand::Stop).await?;
            }
            // A paused or stopped session continues with the next prompt of the user; the server sends none
            // by itself.
            _ => {}
        }
        Ok(WorkResult { messages: vec![self.state(&project).await], ..WorkResult::default() })
    }

    async fn command(&self, project: &Project, command: SessionCommand) -> Result<(), Refusal> {
        self.caller.require(Scope::Prompt)?;
        let Some(session) = projects::session(&self.api, &self.caller, project).await else {
            return Err(Refusal::new("PROCESS_NOT_FOUND", "The project has no session"));
        };
        let request = CommandRequest { client_id: self.id.clone(), ..CommandRequest::default() };
        self.api.sessions.command(&self.caller, &session.key, command, request).await?;
        Ok(())
    }

    async fn messages(&self, messages: Messages) -> Result<WorkResult, Refusal> {
        let project = self.project().await?;
        let limit = messages.limit.unwrap_or(MOBILE_QUEUE_MAX).min(MOBILE_QUEUE_MAX);
        let since = parse_time(&messages.since)?;
        let past = match projects::session(&self.api, &self.caller, &project).await {
            Some(session) => resume::history(&self.api, &session, since, limit).await?,
            None => Vec::new(),
        };
        let history = History { messages: past };
        Ok(WorkResult {
            messages: vec![self.named("message_history", &project, history)],
            ..WorkResult::default()
        })
    }

    /// Subscribes to a session: missed messages, pending requests, then new events.
    async fn resume(&self, resume: SessionResumeMessage) -> Result<WorkResult, Refusal> {
        let session = self.session(&resume.session_id).await?;
        let project = self.project_of(&session).await?;
        let feed = resume::resume(&self.api, &session, &project, &resume).await?;
        Ok(WorkResult {
            messages: Vec::new(),
            join: Some(project),
            leave: None,
            feed: Some((session.key, feed)),
        })
    }

    /// Finds a session by its key, number, project or CLI session id.
    async fn session(&self, name: &str) -> Result<SessionView, Refusal> {
        let (sessions, caller) = (&self.api.sessions, &self.caller);
        if let Ok(session) = visibility::session(sessions, caller, name).await {
            return Ok(session);
        }
        if let Some(project) = projects::find(&self.api, caller, name).await?
            && let Some(session) = projects::session(&self.api, &self.caller, &project).await
        {
            return Ok(session);
        }
        let mut after = None;
        loop {
            let page = sessions.list(after, LIST_MAX).await?;
            let Some(last) = page.last() else { break };
            after = u64::try_from(last.handle).ok().map(tidings_journal::Handle::new);
            let is_it = |session: &&SessionView| {
                session.cli_session_ids.iter().any(|id| id == name) && caller.sees(&session.cwd)
            };
            if let Some(session) = page.iter().rev().find(is_it) {
                return Ok(session.clone());
            }
        }
        Err(Refusal::new("PROCESS_NOT_FOUND", format!("No session is named `{name}`")))
    }

    /// The project whose current session this is; the folder of the session if there is none.
    async fn project_of(&self, session: &SessionView) -> Result<String, Refusal> {
        let all = projects::all(&self.api, &self.caller).await?;
        let mut of_session = all
            .iter()
            .filter(|project| project.session.as_ref().is_some_and(|key| key.as_str() == session.key));
        Ok(of_session.next().map_or_else(|| session.cwd.clone(), id_of))
    }

    async fn project(&self) -> Result<Project, Refusal> {
        let id = self.project.as_deref().ok_or_else(Refusal::no_project)?;
        let project = projects::find(&self.api, &self.caller, id).await?;
        project.ok_or_else(|| Refusal::unknown_project(id))
    }

    async fn state(&self, project: &Project) -> String {
        self.named("project_state", project, projects::state(&self.api, &self.caller, project).await)
    }

    fn named(&self, kind: &str, project: &Project, data: impl Serialize) -> String {
        let project_id = Some(project.folder.as_str());
        to_json(&ProjectEnvelope { r#type: kind, project_id, id: self.id.as_deref(), data })
    }

    fn stamped(&self, message: MobileMessage) -> MobileMessage {
        let config = self.api.sessions.config();
        message.stamped(config.ids.next(), config.clock.now().as_millisecond())
    }
}

impl ExecuteOptions {
    fn mode(&self) -> Option<String> {
        let skip = self.dangerously_skip_permissions.then(|| "bypassPermissions".to_owned());
        skip.or_else(|| self.permission_mode.clone())
    }
}

/// Subscribes to a session: after a cursor, or from its first event.
pub(super) async fn subscribe(
    api: &Api,
    session: &SessionView,
    project: &str,
    after: Option<Cursor>,
) -> Result<(String, PhoneFeed), Refusal> {
    let (subscribed, events) = api.sessions.subscribe(&session.key, SubscribeOptions::after(after)).await?;
    let from = subscribed.from.parse::<Cursor>().map_err(Error::from)?;
    let start = api.recovery.after(&subscribed.state, from).await.map_err(Error::from)?;
    let feed = PhoneFeed::new(project, events, start, None);
    Ok((session.key.clone(), feed))
}

fn id_of(project: &Project) -> String {
    project.folder.as_str().to_owned()
}

fn with_project(message: &MobileMessage, project: &Project) -> String {
    to_json(&WithProject { message, project: project.folder.as_str() })
}

/// A time as either family writes it, in milliseconds since the epoch; `i64::MIN` if there is none.
fn parse_time(value: &Value) -> Result<i64, Refusal> {
    match value {
        Value::Null => Ok(i64::MIN),
        Value::Number(ms) if ms.as_i64().is_some() => Ok(ms.as_i64().unwrap_or_default()),
        Value::String(text) if text.parse::<Timestamp>().is_ok() => {
            Ok(text.parse::<Timestamp>().map_or(i64::MIN, Timestamp::as_millisecond))
        }
        _ => Err(Refusal::new("VALIDATION_FAILED", "`since` is not a time")),
    }
}
