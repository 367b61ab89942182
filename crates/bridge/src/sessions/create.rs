//! Sessions are made: new ones, and ones that go on with what is on disk.

use std::path::Path;

use tidings_protocol::api::{CreateSession, Input, Notice, Policy, ServerPhase, SessionView};
use tidings_transcript::roots::SessionFiles;

use super::settings::Settings;
use super::{Opening, Sessions, adopt, check_folder, launch, view};
use crate::caller::{Caller, Scope};
use crate::error::{Code, Error};
use crate::guard::paths;
use crate::journal::{ClientId, Key, NewSession, Novelty};

const INSTALL: &str =
    "install it (`curl -fsSL https://claude.ai/install.sh | bash`) and start the server again";

impl Sessions {
    /// Makes a session, and says something to it if there is a prompt. The same client id again gives the same session.
    pub async fn create(
        &self,
        caller: &Caller,
        mut new: CreateSession,
    ) -> Result<(SessionView, Novelty), Error> {
        caller.require(Scope::Prompt)?;
        if new.policy == Some(Policy::Allow) || new.permission_mode.as_deref() == Some(launch::BYPASS) {
            self.check_bypass(caller)?;
        }
        if new.mcp_config.is_some() {
            // MCP servers are commands that run unasked.
            caller.require(Scope::Admin)?;
        }
        if *self.0.opening.lock().await == Opening::Closed {
            return Err(Error::new(Code::Unavailable, "The server is stopping", "try again in a moment")
                .retry_after_ms(2000));
        }
        new.cwd = self.folder(caller, &new.cwd)?;
        for folder in &mut new.add_dirs {
            *folder = self.folder(caller, folder)?;
        }
        let is_demo = self.is_demo(&new)?;
        let past = self.past(caller, &mut new, is_demo).await?;
        let key = Key::new(self.config().ids.next())?;
        let client_id = new.client_id.as_deref().map(ClientId::new).transpose()?;
        let row = NewSession {
            title: new.title.clone(),
            labels: new.labels.clone(),
            settings: Settings::of(&new, is_demo).text(),
            state: view::word(ServerPhase::Parked).to_owned(),
            client_id,
            ..NewSession::new(key, new.cwd.as_str(), self.config().clock.now())
        };
        let (row, novelty) = self.hub().journal().create(row).await?;
        let used = self.used_for(caller, row.key.as_str()).await?;
        if novelty == Novelty::New {
            if let Some(files) = past {
                used.entry.tell_the_past(files).await?;
            }
            used.entry.tell(Notice::Session { session: used.entry.view() });
        }
        if let Some(prompt) = &new.prompt {
            let input = Input {
                content: prompt.clone(),
                attachments: new.attachments.clone(),
                // Sent again, it is not said again either.
                client_id: new.client_id.as_ref().map(|id| format!("{id}:prompt")),
                ..Input::default()
            };
            self.input(caller, row.key.as_str(), input).await?;
        }
        Ok((self.find(row.key.as_str()).await?, novelty))
    }

    /// Whether a script plays the agent.
    fn is_demo(&self, new: &CreateSession) -> Result<bool, Error> {
        let config = self.config();
        let is_demo = new.demo.unwrap_or(config.demo);
        if is_demo == config.demo {
            return Ok(is_demo);
        }
        if is_demo {
            let message = "This server plays no demo";
            return Err(Error::new(Code::Invalid, message, "start one with `tidings serve --demo`"));
        }
        if config.real_claude().is_none() {
            let message = "Claude Code was not found, so only the demo can be played";
            return Err(Error::new(Code::Conflict, message, INSTALL));
        }
        Ok(false)
    }

    /// The folder as the file system has it, if it is one that may be used.
    pub(crate) fn folder(&self, caller: &Caller, folder: &str) -> Result<String, Error> {
        let real = paths::inside(&self.config().roots, Path::new(folder))?;
        let real = real.to_str().map(str::to_owned).ok_or_else(|| {
            let message = format!("`{folder}` cannot be worked in: its path is no text");
            Error::new(Code::Invalid, message, "rename the folder")
        })?;
        check_folder(caller, &real)?;
        Ok(real)
    }

    /// What is to be gone on with: a session of ours by its name, or one on disk by its id. One that is ours already is
    /// not taken over a second time, only copied; and one that the caller may not see is not there.
    async fn past(
        &self,
        caller: &Caller,
        new: &mut CreateSession,
        is_demo: bool,
    ) -> Result<Option<SessionFiles>, Error> {
        let Some(name) = new.resume.take() else { return Ok(None) };
        // An id has several spellings, and only one owner.
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
                return Err(Error::new(Code::Conflict, message, "say something to that one, or fork it"));
            }
            let id = row.cli_sessions.last().cloned().ok_or_else(|| {
                Error::new(Code::Conflict, "Nothing was said in that session yet", "there is nothing to copy")
            })?;
            new.resume = Some(id);
        }
        let config_dir = self.config().config_dir(is_demo).map(Path::to_owned);
        let Some(config_dir) = config_dir else {
            // Where its file is, and so whose it is, nobody knows.
            return if caller.folders.is_empty() { Ok(None) } else { Err(Error::no_session(&name)) };
        };
        let (caller, id) = (caller.clone(), new.resume.clone().unwrap_or(name));
        let found = tokio::task::spawn_blocking(move || adopt::find(config_dir, &caller, &id)).await;
        found.map_err(|_| Error::new(Code::Internal, "Looking for a session failed", ""))?.map(Some)
    }

    /// The session of ours that has this CLI session now.
    async fn owner_of(&self, cli_session: &str) -> Result<Option<crate::journal::Session>, Error> {
        let mut after = None;
        loop {
            let rows = self.hub().journal().sessions(after, crate::limits::LIST_MAX).await?;
            let Some(last) = rows.last() else { return Ok(None) };
            after = Some(last.handle);
            let is_it = |row: &crate::journal::Session| {
                let launch = Settings::parse(&row.settings).launch;
                row.cli_sessions.last().is_some_and(|id| id == cli_session)
                    || (row.cli_sessions.is_empty()
                        && !launch.fork
                        && launch.resume.as_deref() == Some(cli_session))
            };
            if let Some(row) = rows.into_iter().find(is_it) {
                return Ok(Some(row));
            }
        }
    }
}
