//! The process: what is started, where, with what around it, and how long to wait for it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{Arg, EnvBase, Options, Orphans, Plan, User};
use crate::error::Error;
use crate::ids::Ids;
use crate::limits;

/// What a `claude` around us has set for its own children, and what makes one write to its output what is no frame.
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

/// Flags that are always set, and that an extra argument may not change.
const OURS: &[&str] = &["output-format", "input-format", "verbose", "print"];

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
    inline_files: bool,
    pub(crate) on_stderr: Option<StderrHandler>,
    pub(crate) cancel: Option<CancellationToken>,
    pub(crate) initialize_timeout: Duration,
    pub(crate) request_timeout: Duration,
    pub(crate) close_grace: Duration,
    pub(crate) stall_after: Option<Duration>,
}

impl Options {
    /// The program. It is looked for unless it is named.
    pub fn program(mut self, path: impl Into<PathBuf>) -> Self {
        self.process.program = Some(path.into());
        self
    }

    /// What runs the program if it is a script, with its arguments; `node` unless set.
    pub fn runtime<S: Into<String>>(
        mut self,
        path: impl Into<PathBuf>,
        args: impl IntoIterator<Item = S>,
    ) -> Self {
        self.process.runtime = Some(path.into());
        self.process.runtime_args = args.into_iter().map(Into::into).collect();
        self
    }

    /// The folder that the agent works in.
    pub fn cwd(mut self, path: impl Into<PathBuf>) -> Self {
        self.process.cwd = Some(path.into());
        self
    }

    /// Another folder that the agent may work in.
    pub fn add_directory(mut self, path: impl Into<PathBuf>) -> Self {
        self.process.additional_directories.push(path.into());
        self
    }

    /// Sets a variable of the environment.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.process.env.insert(name.into(), value.into());
        self
    }

    /// What the environment begins with; that of this process unless set.
    ///
    /// Variables by which a `claude` around this process marks its children are left out of an inherited one.
    pub fn env_base(mut self, base: EnvBase) -> Self {
        self.process.env_base = base;
        self
    }

    /// The user that the agent runs as.
    pub fn user(mut self, user: User) -> Self {
        self.process.user = Some(user);
        self
    }

    /// The name of your program, which the CLI tells the API.
    pub fn client_app(mut self, name: impl Into<String>) -> Self {
        self.process.client_app = Some(name.into());
        self
    }

    /// A flag of the CLI that has no method here: `extra_arg("brief", None)`.
    pub fn extra_arg(mut self, flag: impl Into<String>, value: Option<&str>) -> Self {
        self.process.extra_args.push((flag.into(), value.map(str::to_owned)));
        self
    }

    /// The longest line that is kept; a longer one is told as [`Event::Oversized`](crate::Event::Oversized).
    pub fn line_bytes_max(mut self, bytes: usize) -> Self {
        self.process.line_bytes_max = bytes;
        self
    }

    /// What happens to processes that the session leaves behind; they are ended unless set.
    pub fn orphans(mut self, orphans: Orphans) -> Self {
        self.process.orphans = orphans;
        self
    }

    /// Puts on the command line what would go by files, for a CLI that sees no files of this machine.
    ///
    /// Everybody on that machine can then read it.
    pub fn inline_files(mut self) -> Self {
        self.process.inline_files = true;
        self
    }

    /// Hears every line of the error output. It must not block: the session waits for it.
    pub fn on_stderr(mut self, hear: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.process.on_stderr = Some(Arc::new(hear));
        self
    }

    /// Closes the session when the token is cancelled.
    pub fn cancel_with(mut self, token: CancellationToken) -> Self {
        self.process.cancel = Some(token);
        self
    }

    /// How long the CLI may take to start. Two minutes unless set.
    pub fn initialize_timeout(mut self, limit: Duration) -> Self {
        self.process.initialize_timeout = limit;
        self
    }

    /// How long the CLI may take to answer a request. One minute unless set.
    pub fn request_timeout(mut self, limit: Duration) -> Self {
        self.process.request_timeout = limit;
        self
    }

    /// How long the CLI may take to finish by itself once its input has ended. Five seconds unless set.
    pub fn close_grace(mut self, grace: Duration) -> Self {
        self.process.close_grace = grace;
        self
    }

    /// Tells subscribers when nothing has come for this long while a turn is under way, nobody is asked anything and
    /// no tool runs. Nothing is done about it.
    pub fn stall_after(mut self, limit: Duration) -> Self {
        self.process.stall_after = Some(limit);
        self
    }

    /// Where ids come from; random unless set.
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
        Ok(())
    }

    fn add_environment(&self, plan: &mut Plan) -> Result<(), Error> {
        if let Some(app) = &self.client_app {
            plan.env("CLAUDE_AGENT_SDK_CLIENT_APP", app);
        }
        let environment = &mut plan.launch.environment;
        environment.base = self.env_base.clone();
        environment.remove = NOT_INHERITED.iter().map(ToString::to_string).collect();
        // Without it the CLI does not tell when a session is idle.
        environment.set_if_unset.insert("CLAUDE_CODE_SDK_READS_SESSION_STATE".to_owned(), "1".to_owned());
        // The CLI knows three kinds of SDK by name, and takes everybody else for a person: with an agent more, and a longer
        // prompt for it. Two of the kinds are the official SDKs, so this is the third.
        let ours =
            [("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"), ("CLAUDE_AGENT_SDK_VERSION", env!("CARGO_PKG_VERSION"))];
        for (name, value) in ours {
            environment.set.insert(name.to_owned(), value.to_owned());
        }
        for (name, value) in &self.env {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                let message =
                    format!("This cannot be a variable of the environment: `{}`", name.escape_debug());
                return Err(Error::invalid(message, "names have no `=`, and neither names nor values a NUL"));
            }
            environment.set.insert(name.clone(), value.clone());
        }
        Ok(())
    }
}

fn add_extra(plan: &mut Plan, flag: &str, value: Option<&str>) -> Result<(), Error> {
    let name = flag.trim_start_matches('-');
    let well_formed = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if !well_formed || OURS.contains(&name) {
        let message = format!("This cannot be an extra argument: `{}`", flag.escape_debug());
        return Err(Error::invalid(message, "give the name of a flag that this crate does not set itself"));
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
            inline_files: false,
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
    /// Without the values of variables, which are often secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessOptions")
            .field("program", &self.program)
            .field("cwd", &self.cwd)
            .field("env", &self.env.keys())
            .field("extra_args", &self.extra_args)
            .finish_non_exhaustive()
    }
}
