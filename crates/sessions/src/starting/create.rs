//! Creation of sessions: new ones, and ones that resume a session on disk.

use std::path::{Path, PathBuf};

use serde::Serialize;
use tidings_agent::permissions::CodeSources;
use tidings_api::{Code, CreateSession, Input, Notice, ServerPhase, SessionView};
use tidings_journal::{Key, NewSession, Novelty, Session};
use tidings_transcript::roots::SessionFiles;

use crate::active::{Admission, hidden_folder};
use crate::git::Git;
use crate::limits::BASE_COMMIT_WAIT;
use crate::reading::changed_inputs::ChangedInputs;
use crate::running::actor::ActorCommand;
use crate::running::{command_ids, input};
use crate::settings::SessionSettings;
use crate::starting::fork::ForkedFile;
use crate::starting::import::{self, Continuation};
use crate::starting::{launch, writer};
use crate::{Caller, Error, Sessions, capabilities, paths};

const INSTALL: &str =
    "install it (`curl -fsSL https://claude.ai/install.sh | bash`) and start the server again";

/// The id that Claude Code gives a new session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CliSessionId {
    /// One of its own.
    Own,
    /// The key of the session.
    Key,
}

impl Sessions {
    /// Creates a session, and sends its prompt if there is one. The same client id again returns the same
    /// session.
    pub async fn create(&self, caller: &Caller, new: CreateSession) -> Result<(SessionView, Novelty), Error> {
        self.create_as(caller, new, CliSessionId::Own, None).await
    }

    /// Creates a session that Claude Code knows by the same id: an editor finds it by that id after the
    /// server and its journal are gone.
    pub async fn create_for_editor(
        &self,
        caller: &Caller,
        new: CreateSession,
    ) -> Result<(SessionView, Novelty), Error> {
        self.create_as(caller, new, CliSessionId::Key, None).await
    }

    /// Creates a session for another command, from whose contents a repetition is recognized: parts of the
    /// session come from elsewhere, and may be different then.
    pub async fn create_for(
        &self,
        caller: &Caller,
        new: CreateSession,
        command: &(impl Serialize + Sync),
    ) -> Result<SessionView, Error> {
        let made_of = command_ids::digest(command);
        let (view, _) = self.create_as(caller, new, CliSessionId::Own, Some(made_of)).await?;
        Ok(view)
    }

    /// The session that another command has created before. A different command with the same id is refused.
    pub async fn created_for(
        &self,
        caller: &Caller,
        new: &CreateSession,
        command: &(impl Serialize + Sync),
    ) -> Result<Option<SessionView>, Error> {
        let Some(id) = &new.client_id else { return Ok(None) };
        let folder = self.folder(caller, &new.cwd)?;
        let id = command_ids::stored_id_in_folder(caller, &folder, id)?;
        let Some(row) = self.broadcast().journal().made_by(&id).await? else { return Ok(None) };
        let (view, _) = self.made_before(caller, new, &row, &command_ids::digest(command)).await?;
        Ok(Some(view))
    }

    async fn create_as(
        &self,
        caller: &Caller,
        mut new: CreateSession,
        cli_session: CliSessionId,
        made_of: Option<String>,
    ) -> Result<(SessionView, Novelty), Error> {
        self.require(caller, &capabilities::of_create(&new)?)?;
        if new.fork && new.resume.is_none() {
            let message = "`fork` copies the session that `resume` names, and none is named";
            return Err(Error::new(Code::Invalid, message, "send `resume`, or leave `fork` out"));
        }
        if new.fork_at.is_some() && !new.fork {
            let message = "`fork_at` is a point of the session that is forked, and `fork` is not set";
            return Err(Error::new(Code::Invalid, message, "send `fork`, or leave `fork_at` out"));
        }
        self.check_backend(&new)?;
        if *self.0.opening.lock().await == Admission::Closed {
            return Err(Error::new(Code::Unavailable, "The server is stopping", "try again in a moment")
                .retry_after_ms(2000));
        }
        let made_of =
            made_of.unwrap_or_else(|| command_ids::digest(&CreateSession { client_id: None, ..new.clone() }));
        new.cwd = self.folder(caller, &new.cwd)?;
        for folder in &mut new.add_dirs {
            *folder = self.folder(caller, folder)?;
        }
        let client_id = new
            .client_id
            .as_deref()
            .map(|id| command_ids::stored_id_in_folder(caller, &new.cwd, id))
            .transpose()?;
        // Until the session exists, no other one may import the session that it resumes.
        let importing = match &new.resume {
            Some(_) => Some(self.0.importing.lock().await),
            None => None,
        };
        if let Some(id) = &client_id
            && let Some(row) = self.broadcast().journal().made_by(id).await?
        {
            return self.made_before(caller, &new, &row, &made_of).await;
        }
        let is_demo = self.is_demo(&new)?;
        let continuation = if new.fork { Continuation::Forked } else { Continuation::Resumed };
        let mut past = self.past(caller, &mut new, is_demo).await?;
        let mut continued: Vec<String> = new.resume.clone().filter(|_| past.is_some()).into_iter().collect();
        let changed = match continued.first() {
            Some(id) => ChangedInputs::read(&**self.broadcast().journal(), id).await?,
            None => ChangedInputs::default(),
        };
        let forked = self.fork_part(&mut new, &mut past).await?;
        continued.extend(forked.as_ref().map(|forked| forked.id.clone()));
        if let (Some(id), false) = (&new.resume, new.fork) {
            writer::check_free(self.config().config_dir(is_demo), id).await?;
        }
        let key = Key::new(self.config().ids.next())?;
        let worktree = self.make_worktree(caller, &mut new, &key).await?;
        let mut settings = SessionSettings {
            worktree: worktree.clone(),
            made_of: Some(made_of.clone()),
            base_commit: self.commit_of(&new.cwd).await,
            sources: CodeSources::read(&new.cwd),
            continued,
            ..SessionSettings::of(&new, is_demo)
        };
        if cli_session == CliSessionId::Key {
            settings.launch.cli_session = Some(key.to_string());
        }
        settings.check_length()?;
        // Only another agent has its conversation, and replays it when it starts.
        let replays = new.backend.is_some() && new.resume.is_some() && new.prompt.is_none();
        // A prompt that would be refused must not leave an empty session behind.
        let _slot = match first_input(&new) {
            Some(input) => {
                input::check(&input)?;
                self.admit_first_text(caller, &new, is_demo, &input.content).await?;
                settings.check_budget()?;
                Some(self.slot_for(&key).await?)
            }
            None if replays => Some(self.slot_for(&key).await?),
            None => None,
        };
        let row = NewSession {
            title: new.title.clone(),
            labels: new.labels.clone(),
            settings: settings.text(),
            state: ServerPhase::Parked.as_str().to_owned(),
            client_id,
            ..NewSession::new(key, new.cwd.as_str(), self.config().clock.now())
        };
        let created = self.broadcast().journal().create(row).await;
        if let Some(worktree) = worktree.filter(|_| !matches!(created, Ok((_, Novelty::New)))) {
            self.drop_worktree(&worktree).await;
        }
        let (row, novelty) = created?;
        drop(importing);
        if let Some(forked) = forked.filter(|_| novelty == Novelty::New) {
            forked.keep();
        }
        if novelty == Novelty::Seen {
            return self.made_before(caller, &new, &row, &made_of).await;
        }
        self.audit_settings(caller, row.key.as_str(), &new).await;
        let used = self.active_for(caller, row.key.as_str()).await?;
        if let Some(files) = past {
            used.entry.import_history(files, changed, continuation).await?;
        }
        used.entry.notify(Notice::Session { session: Box::new(used.entry.view()) });
        self.send_first_prompt(caller, &new, &row).await?;
        if replays {
            drop(used.commands.send(ActorCommand::Start).await);
        }
        let mut view = self.find(row.key.as_str()).await?;
        // Its agent is about to start; the client need not poll for that.
        if view.state == ServerPhase::Parked && (view.queued > 0 || replays) {
            view.state = ServerPhase::Starting;
        }
        Ok((view, Novelty::New))
    }

    /// The session that the same command created. Another command with the same id is refused.
    async fn made_before(
        &self,
        caller: &Caller,
        new: &CreateSession,
        row: &Session,
        made_of: &str,
    ) -> Result<(SessionView, Novelty), Error> {
        let before = SessionSettings::parse(&row.settings).made_of;
        if before.is_some_and(|before| before != made_of) {
            return Err(command_ids::used_elsewhere());
        }
        // The server may have ended before the prompt was sent.
        self.send_first_prompt(caller, new, row).await?;
        Ok((self.find(row.key.as_str()).await?, Novelty::Seen))
    }

    async fn send_first_prompt(
        &self,
        caller: &Caller,
        new: &CreateSession,
        row: &Session,
    ) -> Result<(), Error> {
        match first_input(new) {
            Some(input) => self.input(caller, row.key.as_str(), input).await.map(drop),
            None => Ok(()),
        }
    }

    /// The commit that a folder is at, if it is known soon.
    async fn commit_of(&self, folder: &str) -> Option<String> {
        let find = async { Git::open(&self.config().environment, folder).await.ok()??.head().await.ok()? };
        tokio::time::timeout(BASE_COMMIT_WAIT, find).await.ok()?
    }

    /// The commit that the folder of a session was at when the session began.
    pub async fn base_commit(&self, name: &str) -> Result<Option<String>, Error> {
        let row = self.row(name).await?;
        Ok(self.settings(&row).await.base_commit)
    }

    /// Refuses an agent that this server does not have, and settings that only Claude Code has.
    fn check_backend(&self, new: &CreateSession) -> Result<(), Error> {
        let Some(name) = &new.backend else { return Ok(()) };
        self.config().agent(name)?;
        let field = match new {
            CreateSession { fork: true, .. } => "fork",
            CreateSession { demo: Some(true), .. } => "demo",
            CreateSession { allowed_tools, .. } if !allowed_tools.is_empty() => "allowed_tools",
            _ => return Ok(()),
        };
        let message = format!("`{field}` is for Claude Code, and this session is for `{name}`");
        Err(Error::new(Code::Invalid, message, "leave it out"))
    }

    /// True if a script plays the agent.
    fn is_demo(&self, new: &CreateSession) -> Result<bool, Error> {
        let config = self.config();
        if new.backend.is_some() {
            return Ok(false);
        }
        let is_demo = new.demo.unwrap_or(config.demo);
        if is_demo == config.demo {
            return Ok(is_demo);
        }
        if is_demo {
            let message = "This server does not run in demo mode";
            return Err(Error::new(Code::Invalid, message, "start one with `tidings serve --demo`"));
        }
        if config.real_claude().is_none() {
            let message = "Claude Code was not found, so only demo sessions can be created";
            return Err(Error::new(Code::Conflict, message, INSTALL));
        }
        Ok(false)
    }

    /// The canonical path of a folder, if the caller may use it.
    pub fn folder(&self, caller: &Caller, folder: &str) -> Result<String, Error> {
        let folder = &*self.config().with_home(folder);
        let real = paths::inside(&self.config().roots, Path::new(folder))?;
        let real = real.to_str().map(str::to_owned).ok_or_else(|| {
            let message = format!("`{folder}` cannot be used: its path is not valid UTF-8");
            Error::new(Code::Invalid, message, "rename the folder")
        })?;
        // The path as it was sent: where its links lead is not for those who may not see it.
        if !caller.sees(&real) {
            return Err(hidden_folder(caller, folder));
        }
        Ok(real)
    }

    /// The files of the session to resume: a session of this server by its name, or one on disk by its id. A
    /// session that this server has already is not imported a second time, only forked; one that the caller
    /// may not see does not exist.
    async fn past(
        &self,
        caller: &Caller,
        new: &mut CreateSession,
        is_demo: bool,
    ) -> Result<Option<SessionFiles>, Error> {
        let Some(name) = new.resume.take() else { return Ok(None) };
        // An id has several spellings.
        let name = uuid::Uuid::parse_str(&name).map_or(name, |id| id.to_string());
        new.resume = Some(name.clone());
        let ours = match self.row(&name).await {
            Ok(row) => Some(row),
            Err(error) if name.parse::<u64>().is_ok() => return Err(error),
            Err(error) if !matches!(error.code(), Code::NotFound | Code::Invalid) => return Err(error),
            Err(_) => self.owner_of(&name).await?,
        };
        if let Some(row) = ours {
            if !caller.sees(&row.cwd) {
                return Err(Error::no_session(&name));
            }
            if !new.fork {
                let message = format!("The session `{name}` is session {} already", row.handle);
                let hint = "send a prompt to that one, or fork it";
                return Err(Error::new(Code::Conflict, message, hint).about_session(row.key.as_str()));
            }
            // An imported session without a start of its own still has the id that it was imported from.
            let taken_over = || SessionSettings::parse(&row.settings).launch.resume;
            let id = row.cli_sessions.last().cloned().or_else(taken_over).ok_or_else(|| {
                Error::new(Code::Conflict, "That session has no conversation yet", "there is nothing to fork")
            })?;
            new.resume = Some(id);
        }
        // Other agents keep their sessions themselves.
        let config_dir = self.config().config_dir(is_demo).filter(|_| new.backend.is_none());
        let Some(config_dir) = config_dir.map(Path::to_owned) else {
            // Without its file the folder of the session is unknown.
            return if caller.folders.is_empty() { Ok(None) } else { Err(Error::no_session(&name)) };
        };
        let (caller, id) = (caller.clone(), new.resume.clone().unwrap_or(name));
        let found = tokio::task::spawn_blocking(move || import::find(config_dir, &caller, &id)).await;
        found.map_err(|_| Error::new(Code::Internal, "Failed to search for a session", ""))?.map(Some)
    }

    /// Copies the part of a session that a new one continues, and makes the new one resume the copy.
    async fn fork_part(
        &self,
        new: &mut CreateSession,
        past: &mut Option<SessionFiles>,
    ) -> Result<Option<ForkedFile>, Error> {
        let Some(point) = new.fork_at.take() else { return Ok(None) };
        let Some(files) = past.take() else {
            let message = "The file of that session is not known, so that no part of it can be forked";
            return Err(Error::new(Code::Conflict, message, "fork the whole session"));
        };
        let (now, ids, title) = (self.config().clock.now(), self.config().ids.clone(), new.title.clone());
        let copy = tokio::task::spawn_blocking(move || {
            ForkedFile::create(&files, &point, title.as_deref(), now, &ids)
        })
        .await;
        let forked = copy.map_err(|_| Error::new(Code::Internal, "Failed to fork a session", ""))??;
        *past = Some(forked.files.clone());
        new.resume = Some(forked.id.clone());
        new.fork = false;
        Ok(Some(forked))
    }

    /// Refuses to change a session on disk that a session of this server continues, or that a process has
    /// open.
    pub async fn check_unused(
        &self,
        caller: &Caller,
        id: &str,
        config_dirs: Vec<PathBuf>,
    ) -> Result<(), Error> {
        if let Some(row) = self.owner_of(id).await? {
            let message = "A session of this server continues this transcript";
            let error = Error::new(Code::Conflict, message, "change that session instead");
            return Err(if caller.sees(&row.cwd) { error.about_session(row.key.as_str()) } else { error });
        }
        for config_dir in &config_dirs {
            writer::check_free(Some(config_dir), id).await?;
        }
        Ok(())
    }

    /// The session of this server that uses a CLI session now.
    pub(crate) async fn owner_of(&self, cli_session: &str) -> Result<Option<Session>, Error> {
        let mut after = None;
        loop {
            let rows = self.broadcast().journal().sessions(after, tidings_journal::limits::LIST_MAX).await?;
            let Some(last) = rows.last() else { return Ok(None) };
            after = Some(last.handle);
            let is_it = |row: &Session| {
                row.node.is_none()
                    && launch::cli_session_of(row, &SessionSettings::parse(&row.settings).launch)
                        == Some(cli_session)
            };
            if let Some(row) = rows.into_iter().find(is_it) {
                return Ok(Some(row));
            }
        }
    }
}

/// The first prompt of a new session.
fn first_input(new: &CreateSession) -> Option<Input> {
    Some(Input {
        content: new.prompt.clone()?,
        attachments: new.attachments.clone(),
        // Repeating the command does not repeat the prompt.
        client_id: new.client_id.as_deref().map(first_input_id),
        ..Input::default()
    })
}

/// The id of the prompt of a new session.
pub fn first_input_id(id: &str) -> String {
    format!("{id}:prompt")
}
