use std::env;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use tidings_protocol::api::{CreateSession, Policy, SessionView, Transcript};
use uuid::Uuid;

use super::attach::Attach;
use super::named;
use super::send::{check_length, given_or_piped};
use crate::error::{CannotRun, Exit};
use crate::output::Output;
use crate::remote::{Remote, RemoteArgs};

/// Start a session on the server, or go on there with one that is on disk
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Start {
    /// What to say first, also from a pipe; without it the session waits for somebody to say something
    text: Option<String>,

    /// The folder to work in [default: that of the session that is resumed, else this one]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Go on with a session: one that is on disk, by its id, or with --fork-session one of the server
    #[arg(long, short, value_name = "ID")]
    resume: Option<String>,

    /// Leave the session that is resumed as it is, and go on with a copy
    #[arg(long, visible_alias = "fork", requires = "resume")]
    fork_session: bool,

    /// The model: an alias such as `opus`, or a full name
    #[arg(long)]
    model: Option<String>,

    /// What may be done unasked: default, acceptEdits, plan, dontAsk, auto, bypassPermissions
    #[arg(long, value_name = "MODE")]
    permission_mode: Option<String>,

    /// Who answers what the agent asks
    #[arg(long)]
    policy: Option<Answering>,

    /// Tools that may run unasked: `Bash(git log:*)` `Edit`
    #[arg(long, alias = "allowedTools", value_name = "TOOL", num_args = 1..)]
    allowed_tools: Vec<String>,

    /// More folders that may be worked in
    #[arg(long, value_name = "DIR", num_args = 1..)]
    add_dir: Vec<PathBuf>,

    /// More for the end of Claude Code's own system prompt
    #[arg(long, value_name = "TEXT")]
    append_system_prompt: Option<String>,

    /// How many turns it may take
    #[arg(long, value_name = "N")]
    max_turns: Option<u64>,

    /// How much it may cost
    #[arg(long, value_name = "DOLLARS")]
    max_budget_usd: Option<f64>,

    /// How long its turns may take together
    #[arg(long, value_name = "SECONDS")]
    max_seconds: Option<u64>,

    /// What to call it
    #[arg(long)]
    title: Option<String>,

    /// Something to find it by, as `KEY=VALUE`; may be given again
    #[arg(long, value_name = "KEY=VALUE", value_parser = label)]
    label: Vec<(String, String)>,

    /// A name for this command, such as that of a job: given again, it starts nothing anew
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,

    /// Print the answer, and end when it is over, with exit code 1 if it went wrong
    #[arg(long, conflicts_with = "attach")]
    wait: bool,

    /// Watch it, and answer what it asks
    #[arg(long)]
    attach: bool,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Answering {
    /// You do
    Ask,
    /// You do, but for what is known to be harmless
    Standard,
    /// The same; while nobody watches the risk decides
    Unattended,
    /// Nobody: nothing runs that the agent asks about
    Deny,
    /// Nobody: everything runs, on a server that allows it
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
  tidings start \"fix the flaky test\"             in this folder; the page and your phone show it too
  tidings start \"fix the flaky test\" --attach    and watch it here
  git diff | tidings start - --wait > review.md
  tidings start --resume 0b9f5d1c-6a3e-4a57-9c1d-2f1f6a3b7e10 \"go on\"
  tidings start \"update the changelog\" --policy unattended --max-turns 20 --client-id job-17 --wait

It goes on when this command ends; `tidings attach`, `send` and `stop` take the number that is printed. With --json that is the \
session as the server has it, with --wait or --attach its events, as `tidings attach --json` has them.";

impl Start {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let prompt = given_or_piped(self.text.as_deref())?;
        if self.wait && prompt.is_none() {
            let message = "There is nothing to wait for: nothing is said".to_owned();
            let hint = "give a text, or pipe one in";
            return Err(CannotRun { code: CannotRun::USAGE, message, hint }.into());
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let session: SessionView = runtime.block_on(async {
            let remote = self.remote.remote()?;
            let new = self.session(&remote, prompt).await?;
            check_length(&new)?;
            remote.post("/v1/sessions", &new).await
        })?;
        if self.wait || self.attach {
            return Attach::to(session.handle, self.wait, self.remote.clone()).run(out);
        }
        if self.remote.json {
            out.text(&format!("{}\n", serde_json::to_string(&session)?))?;
        } else {
            let number = session.handle;
            out.note(&format!("This is session {number}; `tidings attach {number}` shows it"))?;
        }
        Ok(Exit::Fine)
    }

    async fn session(&self, remote: &Remote, prompt: Option<String>) -> anyhow::Result<CreateSession> {
        let resumed = match &self.resume {
            Some(name) => Some(resumed(remote, name).await?),
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
            labels: self.label.iter().cloned().collect(),
            // Sent again after a lost answer, it makes one session.
            client_id: Some(self.client_id.clone().unwrap_or_else(|| Uuid::new_v4().to_string())),
            ..CreateSession::default()
        })
    }

    /// A folder as the server is to be told of it. Here it is meant from where we are; what is elsewhere is not known here.
    fn path(&self, folder: &Path) -> anyhow::Result<String> {
        let is_elsewhere = self.remote.elsewhere().is_some();
        if is_elsewhere && folder.as_os_str().is_empty() {
            let message = "Which folder of the server it is to work in is not said".to_owned();
            return Err(CannotRun { code: CannotRun::USAGE, message, hint: "say it with --cwd" }.into());
        }
        let path = if is_elsewhere { folder.to_owned() } else { env::current_dir()?.join(folder) };
        let path = path.into_os_string().into_string();
        path.map_err(|path| {
            let message = format!("`{}` cannot be worked in: its path is no text", path.display());
            CannotRun { code: "unreadable", message, hint: "rename the folder" }.into()
        })
    }
}

/// A session that is to be gone on with, and where it has worked.
struct Resumed {
    id: String,
    cwd: Option<String>,
}

/// What the server knows of it. What is nowhere is named as it was, and the server says so.
async fn resumed(remote: &Remote, name: &str) -> anyhow::Result<Resumed> {
    match named::session(remote, name).await {
        Ok(ours) => return Ok(Resumed { id: ours.key, cwd: Some(ours.cwd) }),
        Err(error) if !named::is_not_found(&error) => return Err(error),
        Err(_) => {}
    }
    let mut resumed = Resumed { id: name.to_owned(), cwd: None };
    if named::is_plain(name) {
        match remote.get::<Transcript>(&format!("/v1/transcripts/{name}")).await {
            Ok(found) => resumed.cwd = found.cwd,
            Err(error) if named::is_not_found(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(resumed)
}

fn label(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("a label is `KEY=VALUE`")?;
    Ok((key.to_owned(), value.to_owned()))
}
