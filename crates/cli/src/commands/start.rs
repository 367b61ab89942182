//! `tidings start`: starts a session on the server, or resumes one from disk.

use std::env;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use tidings_api::{Code, CreateSession, Policy, SessionView, Transcript};
use tidings_commands::error::{CannotRun, Exit};
use tidings_commands::output::Output;
use tidings_commands::session_label;
use tidings_remote::{RemoteServer, TranscriptQuery};
use tidings_transcript::id_prefix::names_id;

use super::attach::AttachArgs;
use super::send::{check_length, given_or_piped};
use super::session_lookup;
use crate::commands::remote::RemoteArgs;

/// Start a session on the server, or resume one from disk
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct StartArgs {
    /// First prompt; read from standard input if it is `-` or piped in. Without one the session starts idle
    text: Option<String>,

    /// Working folder [default: that of the resumed session, else the current folder]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Resume a session from disk by its id, or, with --fork-session, a session of the server; with
    /// --backend, a session of that agent
    #[arg(long, short, value_name = "ID")]
    resume: Option<String>,

    /// Resume a copy, and leave the original session unchanged
    #[arg(long, visible_alias = "fork", requires = "resume")]
    fork_session: bool,

    /// Server of the fleet to start it on: a name, labels such as `gpu=yes`, or `*` for the least busy one
    #[arg(long, value_name = "SERVER", requires = "cwd")]
    on: Option<String>,

    /// Model: an alias such as `opus`, or a full name
    #[arg(long)]
    model: Option<String>,

    /// Agent other than Claude Code, by its name on the server
    #[arg(long, value_name = "NAME")]
    backend: Option<String>,

    /// Permission mode: default, acceptEdits, plan, dontAsk, auto or bypassPermissions
    #[arg(long, value_name = "MODE")]
    permission_mode: Option<String>,

    /// Policy for permission requests
    #[arg(long)]
    policy: Option<Answering>,

    /// Tools that run without a permission request: `Bash(git log:*)` `Edit`
    #[arg(long, alias = "allowedTools", value_name = "TOOL", num_args = 1..)]
    allowed_tools: Vec<String>,

    /// Additional folders that tools may access
    #[arg(long, value_name = "DIR", num_args = 1..)]
    add_dir: Vec<PathBuf>,

    /// Text to append to Claude Code's system prompt
    #[arg(long, value_name = "TEXT")]
    append_system_prompt: Option<String>,

    /// Maximum number of turns
    #[arg(long, value_name = "N")]
    max_turns: Option<u64>,

    /// Maximum cost
    #[arg(long, value_name = "DOLLARS")]
    max_budget_usd: Option<f64>,

    /// Maximum total duration of its turns
    #[arg(long, value_name = "SECONDS")]
    max_seconds: Option<u64>,

    /// Continue by itself, once, when a limit of the plan that ended a turn is reset
    #[arg(long)]
    continue_after_limit: bool,

    /// Title of the session
    #[arg(long)]
    title: Option<String>,

    /// Label, as `KEY=VALUE`; can be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = label)]
    label: Vec<(String, String)>,

    /// Idempotency key, such as the name of a job: a second start with the same key returns the first session
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,

    /// Wait for the answer and print it; exit code 1 if the turn failed
    #[arg(long, conflicts_with = "attach")]
    wait: bool,

    /// Attach to the session afterwards, to watch it and answer its requests
    #[arg(long)]
    attach: bool,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Answering {
    /// Ask a person
    Ask,
    /// Ask a person, except for requests that are known to be harmless
    Standard,
    /// Like standard, but decide by risk while no client is connected
    Unattended,
    /// Deny every request
    Deny,
    /// Allow every request, if the server permits that
    Allow,
}

impl From<Answering> for Policy {
    fn from(answering: Answering) -> Self {
        match answering {
            Answering::Ask => Policy::Ask,
            Answering::Standard => Policy::Standard,
            Answering::Unattended => Policy::Unattended,
            Answering::Deny => Policy::Deny,
            Answering::Allow => Policy::Allow,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  tidings start \"fix the flaky test\"             in this folder; also shown on the page and on phones
  tidings start \"fix the flaky test\" --attach    and watch it here
  git diff | tidings start - --wait > review.md
  tidings start \"run the benchmarks\" --on gpu=yes --cwd /srv/project    on another server of the fleet
  tidings start --resume 0b9f5d1c-6a3e-4a57-9c1d-2f1f6a3b7e10 \"go on\"
  tidings start \"update the changelog\" --policy unattended --max-turns 20 --client-id job-17 --wait

The session continues after this command exits; `tidings attach`, `send` and `stop` take the number that is printed. \
--json prints the session object of the server, or with --wait or --attach the events, like `tidings attach --json`.";

impl StartArgs {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let prompt = given_or_piped(self.text.as_deref())?;
        if self.wait && prompt.is_none() {
            let message = "--wait needs a prompt".to_owned();
            let hint = "give a prompt as an argument, or pipe one in";
            return Err(CannotRun { code: CannotRun::USAGE, message, hint }.into());
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let session: SessionView = runtime.block_on(async {
            let remote = self.remote.remote()?;
            let new = self.session(&remote, prompt).await?;
            check_length(&new)?;
            anyhow::Ok(match &self.on {
                Some(node) => remote.start_on(node, &new).await?,
                None => remote.start(&new).await?,
            })
        })?;
        if self.wait || self.attach {
            return AttachArgs::to(session.handle, self.wait, self.remote.clone()).run(out);
        }
        if self.remote.json {
            out.json(&session)?;
        } else {
            let number = session.handle;
            out.note(&format!(
                "Started session {}; `tidings attach {number}` shows it",
                session_label::label(&session)
            ))?;
        }
        Ok(Exit::Success)
    }

    async fn session(&self, remote: &RemoteServer, prompt: Option<String>) -> anyhow::Result<CreateSession> {
        let resumed = match &self.resume {
            Some(name) => Some(match &self.backend {
                Some(backend) => {
                    let folder = self.path(self.cwd.as_deref().unwrap_or(Path::new(""))).ok();
                    resumed_of_agent(remote, backend, name, folder.as_deref()).await?
                }
                None => resumed(remote, name).await?,
            }),
            None => None,
        };
        let cwd = match (&self.cwd, &resumed) {
            (None, Some(Resumed { cwd: Some(folder), .. })) => folder.clone(),
            (folder, _) => self.path(folder.as_deref().unwrap_or(Path::new("")))?,
        };
        Ok(CreateSession {
            cwd,
            prompt,
            model: self.model.clone(),
            backend: self.backend.clone(),
            permission_mode: self.permission_mode.clone(),
            policy: self.policy.map(Policy::from),
            resume: resumed.map(|resumed| resumed.id),
            fork: self.fork_session,
            title: self.title.clone(),
            append_system_prompt: self.append_system_prompt.clone(),
            allowed_tools: self.allowed_tools.clone(),
            add_dirs: self.add_dir.iter().map(|folder| self.path(folder)).collect::<Result<_, _>>()?,
            max_turns: self.max_turns,
            budget_usd: self.max_budget_usd,
            max_seconds: self.max_seconds,
            continue_after_limit: self.continue_after_limit,
            labels: self.label.iter().cloned().collect(),
            client_id: self.client_id.clone(),
            ..CreateSession::default()
        })
    }

    /// Path of a folder as sent to the server: relative to the current folder for a server on this machine,
    /// unchanged for a remote one.
    fn path(&self, folder: &Path) -> anyhow::Result<String> {
        let is_remote = self.remote.remote_url().is_some() || self.on.is_some();
        if is_remote && folder.as_os_str().is_empty() {
            let message = "A session on a remote server needs a working folder".to_owned();
            let hint = "name a folder of the server with --cwd";
            return Err(CannotRun { code: CannotRun::USAGE, message, hint }.into());
        }
        let path = if is_remote { folder.to_owned() } else { env::current_dir()?.join(folder) };
        let path = path.into_os_string().into_string();
        path.map_err(|path| {
            let message = format!("The path `{}` is not valid UTF-8", path.display());
            CannotRun { code: "unreadable", message, hint: "rename the folder" }.into()
        })
    }
}

/// The session to resume, and its working folder.
struct Resumed {
    id: String,
    cwd: Option<String>,
}

/// Looks up a session to resume on the server. An unknown name is passed on, and the server reports the
/// error.
async fn resumed(remote: &RemoteServer, name: &str) -> anyhow::Result<Resumed> {
    match session_lookup::session(remote, name).await {
        Ok(ours) => return Ok(Resumed { id: ours.key, cwd: Some(ours.cwd) }),
        Err(error) if !session_lookup::is_not_found(&error) => return Err(error),
        Err(_) => {}
    }
    let mut resumed = Resumed { id: name.to_owned(), cwd: None };
    if session_lookup::is_plain(name) {
        match remote.transcript(name).await {
            Ok(found) => resumed.cwd = found.cwd,
            Err(error) if error.code() == Code::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(resumed)
}

/// Looks up a session of another agent to resume, by its id or its first characters. One that the agent does
/// not list is passed on, and the agent reports the error.
async fn resumed_of_agent(
    remote: &RemoteServer,
    backend: &str,
    name: &str,
    folder: Option<&str>,
) -> anyhow::Result<Resumed> {
    let query = TranscriptQuery {
        backend: Some(backend.to_owned()),
        cwd: folder.map(str::to_owned),
        limit: Some(1000),
        ..TranscriptQuery::default()
    };
    let unlisted = || Resumed { id: name.to_owned(), cwd: None };
    let Ok(list) = remote.transcripts(&query).await else { return Ok(unlisted()) };
    let found = |session: Transcript| Resumed { id: session.id, cwd: session.cwd };
    let (exact, others): (Vec<_>, Vec<_>) = list.items.into_iter().partition(|session| session.id == name);
    let mut fitting = others.into_iter().filter(|session| names_id(name, &session.id));
    match (exact.into_iter().next(), fitting.next(), fitting.next()) {
        (Some(session), ..) | (None, Some(session), None) => Ok(found(session)),
        (None, None, _) => Ok(unlisted()),
        (None, Some(one), Some(other)) => {
            let message =
                format!("Several sessions of {backend} begin with `{name}`: {}, {}", one.id, other.id);
            Err(CannotRun { code: "ambiguous", message, hint: "give more of the id" }.into())
        }
    }
}

fn label(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("a label is `KEY=VALUE`")?;
    Ok((key.to_owned(), value.to_owned()))
}
