//! Options of the process: program, folder, environment and timeouts.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{Arg, EnvBase, Options, Orphans, Plan, User};
use crate::agent_name::AgentName;
use crate::error::Error;
use crate::ids::Ids;
use crate::limits;
use crate::session_lock::SessionOwner;

/// Variables that an enclosing `claude` sets for its own children, and variables that make the CLI print
/// lines that are not JSON.
const NOT_INHERITED: &[&str] = &[
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_EXECPATH",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_AGENT_SDK_VERSION",
    "NODE_OPTIONS",
    "ANTHROPIC_LOG",
    "DEBUG",
];

/// Makes the CLI report the state of the session to every host.
const EMITS_STATES: &str = "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS";

/// Flags that are always set, and that an extra argument may not change.
const RESERVED_FLAGS: &[&str] = &["output-format", "input-format", "verbose", "print"];

pub(crate) type StderrHandler = Arc<dyn Fn(&str) + Send + Sync>;

#[derive(Clone)]
pub(crate) struct ProcessOptions {
    program: Option<PathBuf>,
    runtime: Option<PathBuf>,
    runtime_args: Vec<String>,
    cwd: Option<PathBuf>,
    additional_directories: Vec<PathBuf>,
    env_base: EnvBase,
    env: BTreeMap<String, String>,
    user: Option<User>,
    client_app: Option<String>,
    extra_args: Vec<(String, Option<String>)>,
    line_bytes_max: usize,
    orphans: Orphans,
    owner: Option<SessionOwner>,
    config_dir: Option<PathBuf>,
    inline_files: bool,
    pub(crate) agent_name: AgentName,
    pub(crate) on_stderr: Option<StderrHandler>,
    pub(crate) cancel: Option<CancellationToken>,
    pub(crate) initialize_timeout: Duration,
    pub(crate) request_timeout: Duration,
    pub(crate) close_grace: Duration,
    pub(crate) stall_after: Option<Duration>,
}

impl Options {
    /// Sets the program. By default it is searched for.
    pub fn program(mut self, path: impl Into<PathBuf>) -> Self {
        self.process.program = Some(path.into());
        self
    }

    /// Sets the runtime, with its arguments, that runs the program if it is a script; `node` by default.
    pub fn runtime<S: Into<String>>(
        mut self,
        path: impl Into<PathBuf>,
        args: impl IntoIterator<Item = S>,
    ) -> Self {
        self.process.runtime = Some(path.into());
        self.process.runtime_args = args.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the working folder of the agent.
    pub fn cwd(mut self, path: impl Into<PathBuf>) -> Self {
        self.process.cwd = Some(path.into());
        self
    }

    /// Adds another folder that the agent may work in.
    pub fn add_directory(mut self, path: impl Into<PathBuf>) -> Self {
        self.process.additional_directories.push(path.into());
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.process.env.insert(name.into(), value.into());
        self
    }

    /// Sets the variables that the environment starts from; by default those of this process.
    ///
    /// Variables by which an enclosing `claude` marks its children are not inherited.
    pub fn env_base(mut self, base: EnvBase) -> Self {
        self.process.env_base = base;
        self
    }

    /// Sets the system user that the agent runs as.
    pub fn user(mut self, user: User) -> Self {
        self.process.user = Some(user);
        self
    }

    /// Sets the name of your program, which the CLI sends to the API.
    pub fn client_app(mut self, name: impl Into<String>) -> Self {
        self.process.client_app = Some(name.into());
        self
    }

    /// Sets the name of the agent in errors, for a program that is not Claude Code and speaks its protocol.
    pub fn agent_name(mut self, name: &str) -> Self {
        self.process.agent_name = AgentName::new(name);
        self
    }

    /// Adds a flag of the CLI that has no method here: `extra_arg("brief", None)`.
    pub fn extra_arg(mut self, flag: impl Into<String>, value: Option<&str>) -> Self {
        self.process.extra_args.push((flag.into(), value.map(str::to_owned)));
        self
    }

    /// Sets the longest line that is kept, in bytes; a longer one becomes
    /// [`Event::Oversized`](crate::Event::Oversized).
    pub fn line_bytes_max(mut self, bytes: usize) -> Self {
        self.process.line_bytes_max = bytes;
        self
    }

    /// Sets the treatment of processes that the session leaves behind; by default they are stopped.
    pub fn orphans(mut self, orphans: Orphans) -> Self {
        self.process.orphans = orphans;
        self
    }

    /// Sets the command that starts the session, as other processes show it that want to continue the same
    /// one: a session has one [writer](crate::SessionLock) at a time. By default it is the name of the
    /// program.
    pub fn session_owner(mut self, owner: SessionOwner) -> Self {
        self.process.owner = Some(owner);
        self
    }

    /// Sets the configuration folder of Claude Code in which the session is locked, if it is not the one that
    /// the environment names.
    pub fn lock_in(mut self, config_dir: impl Into<PathBuf>) -> Self {
        self.process.config_dir = Some(config_dir.into());
        self
    }

    /// Passes on the command line what is otherwise passed as files, for a CLI without access to files of
    /// this machine.
    ///
    /// Every user of that machine can then read it.
    pub fn inline_files(mut self) -> Self {
        self.process.inline_files = true;
        self
    }

    /// Sets a handler for the lines of stderr. It must not block: the session waits for it.
    pub fn on_stderr(mut self, handler: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.process.on_stderr = Some(Arc::new(handler));
        self
    }

    /// Closes the session when the token is cancelled.
    pub fn cancel_with(mut self, token: CancellationToken) -> Self {
        self.process.cancel = Some(token);
        self
    }

    /// Sets the timeout of the handshake, with the check of the version if it fails. Two minutes by default.
    pub fn initialize_timeout(mut self, limit: Duration) -> Self {
        self.process.initialize_timeout = limit;
        self
    }

    /// Sets the timeout of control requests. One minute by default.
    pub fn request_timeout(mut self, limit: Duration) -> Self {
        self.process.request_timeout = limit;
        self
    }

    /// Sets the time for the CLI to exit by itself once its input has ended. Five seconds by default.
    pub fn close_grace(mut self, grace: Duration) -> Self {
        self.process.close_grace = grace;
        self
    }

    /// Sends [`Event::Stalled`](crate::Event::Stalled) when no frame has arrived for this long while a turn
    /// runs, no request is open and no tool runs. The session goes on.
    pub fn stall_after(mut self, limit: Duration) -> Self {
        self.process.stall_after = Some(limit);
        self
    }

    /// Sets the source of ids; random by default.
    pub fn ids(mut self, ids: Ids) -> Self {
        self.ids = ids;
        self
    }
}

impl ProcessOptions {
    pub(super) fn add(&self, plan: &mut Plan) -> Result<(), Error> {
        for path in &self.additional_directories {
            plan.path("add-dir", path);
        }
        for (flag, value) in &self.extra_args {
            add_extra(plan, flag, value.as_deref())?;
        }
        if self.inline_files {
            let args = plan.launch.inline_args().into_iter().map(Arg::Text).collect();
            plan.launch.args = args;
        }
        self.add_environment(plan)?;
        let launch = &mut plan.launch;
        launch.program.clone_from(&self.program);
        launch.runtime.clone_from(&self.runtime);
        launch.runtime_args.clone_from(&self.runtime_args);
        launch.cwd.clone_from(&self.cwd);
        launch.user = self.user;
        launch.line_bytes_max = self.line_bytes_max;
        launch.orphans = self.orphans;
        launch.owner = self.owner.clone().unwrap_or_default();
        launch.config_dir.clone_from(&self.config_dir);
        Ok(())
    }

    /// True if the program asked for the frames that report the state of the session.
    pub(crate) fn shows_states(&self) -> bool {
        self.env.contains_key(EMITS_STATES)
    }

    fn add_environment(&self, plan: &mut Plan) -> Result<(), Error> {
        if let Some(app) = &self.client_app {
            plan.env("CLAUDE_AGENT_SDK_CLIENT_APP", app);
        }
        let environment = &mut plan.launch.environment;
        environment.base = self.env_base.clone();
        environment.remove = NOT_INHERITED.iter().map(ToString::to_string).collect();
        // Without them the CLI does not report when a session is idle: early versions know the second only.
        for name in ["CLAUDE_CODE_SDK_READS_SESSION_STATE", EMITS_STATES] {
            environment.set_if_unset.insert(name.to_owned(), "1".to_owned());
        }
        // The CLI recognises three kinds of SDK by name, and treats all other callers as interactive: with
        // an additional agent and a longer prompt for it. Two of the kinds are the official SDKs, so this is
        // the third.
        let ours =
            [("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"), ("CLAUDE_AGENT_SDK_VERSION", env!("CARGO_PKG_VERSION"))];
        for (name, value) in ours {
            environment.set.insert(name.to_owned(), value.to_owned());
        }
        for (name, value) in &self.env {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                let message = format!("Not a valid environment variable: `{}`", name.escape_debug());
                return Err(Error::invalid(
                    message,
                    "names must not contain `=`, and neither names nor values a NUL byte",
                ));
            }
            environment.set.insert(name.clone(), value.clone());
        }
        Ok(())
    }
}

fn add_extra(plan: &mut Plan, flag: &str, value: Option<&str>) -> Result<(), Error> {
    let name = flag.trim_start_matches('-');
    let well_formed = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if !well_formed || RESERVED_FLAGS.contains(&name) {
        let message = format!("Not a valid extra argument: `{}`", flag.escape_debug());
        return Err(Error::invalid(message, "pass the name of a flag that this crate does not set itself"));
    }
    match value {
        Some(value) => plan.value(name, value),
        None => plan.flag(name),
    }
    Ok(())
}

impl Default for ProcessOptions {
    fn default() -> Self {
        ProcessOptions {
            program: None,
            runtime: None,
            runtime_args: Vec::new(),
            cwd: None,
            additional_directories: Vec::new(),
            env_base: EnvBase::default(),
            env: BTreeMap::new(),
            user: None,
            client_app: None,
            extra_args: Vec::new(),
            line_bytes_max: tidings_protocol::ndjson::LINE_BYTES_MAX,
            orphans: Orphans::default(),
            owner: None,
            config_dir: None,
            inline_files: false,
            agent_name: AgentName::default(),
            on_stderr: None,
            cancel: None,
            initialize_timeout: limits::INITIALIZE_TIMEOUT,
            request_timeout: limits::REQUEST_TIMEOUT,
            close_grace: limits::CLOSE_GRACE,
            stall_after: None,
        }
    }
}

impl fmt::Debug for ProcessOptions {
    /// Omits the values of variables and extra arguments, which are often secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessOptions")
            .field("program", &self.program)
            .field("cwd", &self.cwd)
            .field("env", &self.env.keys())
            .field("extra_args", &self.extra_args.iter().map(|(flag, _)| flag).collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
