//! Starting the agent of a session, after everything that forbids it was checked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidings::Options;
use tidings::transport::Transport;
use tidings_agent::{AgentSession, Setup};
use tidings_api::{Code, ServerPhase};
use tidings_journal::Session;

use crate::backends::{AcpAgent, Backend, ClaudeCode, refusal_of_agent};
use crate::live_session::{Change, LiveSession};
use crate::observed::StartingAgent;
use crate::running::actor::Actor;
use crate::running::frames;
use crate::running::sink::{EventSource, JournalSink};
use crate::settings::SessionSettings;
use crate::starting::launch;
#[cfg(unix)]
use crate::surviving;
use crate::text::Denies;
use crate::{Config, Error, paths};

impl LiveSession {
    /// Refuses an agent in a folder that is not allowed any more, or was replaced since the session was
    /// created.
    pub(crate) fn check_folders(&self, roots: &[PathBuf]) -> Result<(), Error> {
        let memory = self.memory();
        let folders = memory.settings.launch.add_dirs.iter().chain([&memory.row.cwd]);
        folders.map(Path::new).try_for_each(|folder| paths::unchanged(roots, folder))
    }
}

impl Actor {
    /// Returns the agent, and starts one if none runs.
    pub(crate) async fn agent(&mut self) -> Result<Arc<dyn Backend>, Error> {
        if let Some(agent) = self.entry.agent().filter(|agent| !agent.is_closed()) {
            return Ok(agent);
        }
        // From here on no process is observed, until the agent runs or has failed to start.
        let _starting = StartingAgent::begin(&self.entry)?;
        self.entry.check_no_other_writer().await?;
        self.entry.check_folders(&self.config.roots)?;
        self.entry.hold_slot();
        self.lock_cli_session()?;
        self.entry.note_files_before_agent().await;
        let cwd = self.entry.memory().row.cwd.clone();
        let untrusted = launch::is_untrusted(cwd, &self.config).await?;
        self.check_trusted(untrusted)?;
        let starting = |settings: &mut SessionSettings, _: &Session| {
            settings.fail(None);
            settings.untrusted = untrusted;
            settings.denies = Denies::Credentials;
            Ok(Change { phase: Some(ServerPhase::Starting), ..Change::default() })
        };
        self.entry.change(starting).await?;
        let (options, setup) = self.plan()?;
        #[cfg(unix)]
        let (carrier, setup) = self.hosted(setup)?;
        #[cfg(not(unix))]
        let carrier = {
            let config = self.launch_config()?;
            (config.carrier)(&config)
        };
        self.run_agent(carrier, options, setup).await
    }

    /// The configuration with which the agent of this session is started.
    pub(crate) fn launch_config(&self) -> Result<Arc<Config>, Error> {
        let backend = self.entry.memory().settings.launch.backend.clone();
        self.config.for_backend(backend.as_deref())
    }

    /// Refuses another agent in a folder that is not trusted: unlike Claude Code, it cannot be told to leave
    /// the folder's own settings and commands out.
    fn check_trusted(&self, untrusted: bool) -> Result<(), Error> {
        let backend = self.entry.memory().settings.launch.backend.clone();
        let Some(name) = backend.filter(|_| untrusted) else { return Ok(()) };
        let message = format!("The folder has commands of its own, and `{name}` would run them");
        Err(Error::new(Code::Forbidden, message, "review the folder and trust it first"))
    }

    /// Options for starting or adopting the agent.
    pub(crate) fn plan(&self) -> Result<(Options, Setup), Error> {
        let mut setup = self.entry.setup(&self.config);
        let memory = self.entry.memory();
        let config = self.config.for_backend(memory.settings.launch.backend.as_deref())?;
        let options = launch::options(&memory.row, &memory.settings, &config)?;
        (setup.fold.user_turns, setup.fold.agent_turns) =
            (memory.settings.turns_sent(), memory.settings.last_answer);
        setup.fold.reported_usd = memory.settings.cost_told;
        Ok((options, setup))
    }

    pub(crate) async fn run_agent(
        &mut self,
        carrier: Box<dyn Transport>,
        options: Options,
        setup: Setup,
    ) -> Result<Arc<dyn Backend>, Error> {
        {
            let mut memory = self.entry.memory();
            let mode = launch::permission_mode(&memory.settings.launch, &self.config).to_owned();
            memory.mode.start(&mode);
        }
        let sink = JournalSink(Arc::clone(&self.entry), EventSource::Output);
        let started = AgentSession::start_over(carrier, options, setup, Box::new(sink)).await;
        #[cfg(unix)]
        if started.is_err() {
            // A host that failed to start its agent has removed itself.
            self.entry.memory().host = None;
        }
        let agent = started.map_err(|error| self.explained(error.into()))?;
        let backend_name = self.entry.memory().settings.launch.backend.clone();
        let backend: Arc<dyn Backend> = match backend_name {
            Some(name) => Arc::new(AcpAgent::new(&name, agent.clone())),
            None => Arc::new(ClaudeCode(agent.clone())),
        };
        self.entry.memory().agent = Some(Arc::clone(&backend));
        #[cfg(unix)]
        surviving::health::watch(&self.entry);
        if self.entry.memory().settings.launch.keep_frames {
            frames::keep(&self.entry, &agent);
        }
        Ok(backend)
    }

    /// An error of another agent, in its own words.
    fn explained(&self, error: Error) -> Error {
        let backend = self.entry.memory().settings.launch.backend.clone();
        backend.map_or(error.clone(), |name| refusal_of_agent(&name, error))
    }
}
