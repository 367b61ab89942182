//! `tidings resume`: continues a session with `claude` in this terminal.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use tidings::find::{self, Search};
use tidings::{SessionLock, SessionOwner};
use tidings_api::{Code, ServerPhase, SessionView};
use tidings_commands::error::{CannotRun, Exit};
use tidings_commands::output::{Output, printable};
use tidings_commands::session_label::label;
use tidings_commands::sessions::RootArgs;
use tidings_commands::{human, pick};
use tidings_transcript::id_prefix::is_number;
use tidings_transcript::list::{self, ListFilter};
use tidings_transcript::roots::{Roots, SessionFiles};

use super::{claude, session_lookup};
use crate::commands::remote::RemoteArgs;

/// Continue a session here, with `claude` in this terminal
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ResumeArgs {
    /// Session number, key or Claude Code session id, or at least the first four characters of it; without
    /// one, a list is shown to choose from
    session: Option<String>,

    /// Path of `claude` [default: the usual places]
    #[arg(long, value_name = "PATH")]
    claude_path: Option<PathBuf>,

    /// Arguments for `claude`
    #[arg(last = true)]
    args: Vec<OsString>,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

const EXAMPLES: &str = "\
A session that the server runs must be idle; its agent ends first. This command works without a server, too. It runs \
`claude` as `tidings claude` does: the session goes on when the window closes, and takes prompts from elsewhere.

Examples:
  tidings resume                       choose from a list
  tidings resume 3                     the session 3 of `tidings ps`
  tidings resume 4f2c -- --model opus  arguments after `--` are for `claude`";

/// A conversation on this machine.
struct Conversation {
    cli_session: String,
    cwd: PathBuf,
    /// Number and title, or the first characters of the id.
    label: String,
}

impl ResumeArgs {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let mut search = Search::from_environment();
        search.program = self.claude_path.clone().or(search.program);
        let program = std::path::absolute(search.find()?)?;
        let name = match &self.session {
            Some(name) => name.clone(),
            None if pick::can_pick() => {
                pick::stored(&Roots::new([RootArgs::config_folder_of_user()]), out)?.id
            }
            None => return Err(pick::unnamed().into()),
        };
        let Conversation { cli_session, cwd, label } = self.release(&name, &program)?;
        // Another process of ours may have it, such as a second server. `claude` describes itself as soon as
        // it runs, so that the lock need not last longer.
        let owner = SessionOwner::new("tidings resume");
        let lock = match SessionLock::take(&RootArgs::config_folder_of_user(), &cli_session, &owner) {
            Err(error) if error.kind() == tidings::ErrorKind::Taken => return Err(error.into()),
            taken => taken.ok(),
        };
        out.note(&format!("Continuing {label} here"))?;
        out.flush()?;
        let data = self.remote.data.as_deref().map(std::path::absolute).transpose()?;
        std::env::set_current_dir(&cwd).with_context(|| format!("Failed to enter `{}`", cwd.display()))?;
        let args = [OsString::from("--resume"), cli_session.into()];
        let args: Vec<OsString> = args.into_iter().chain(self.args.iter().cloned()).collect();
        drop(lock);
        claude::run_here(&program, &args, data.as_deref(), out)
    }

    /// Finds a session, and has the server's agent for it end.
    fn release(&self, name: &str, claude: &Path) -> anyhow::Result<Conversation> {
        if self.remote.remote_url().is_some() {
            let message = "A session is resumed on the machine that it is on".to_owned();
            let hint = "run this command there, without --server";
            return Err(CannotRun { code: CannotRun::USAGE, message, hint }.into());
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        match runtime.block_on(self.release_on_server(name, claude)) {
            // Digits are the number of a session of the server, and not an id.
            Err(error) if is_number(name) => Err(error),
            Err(error) if is_without_server(&error) || session_lookup::is_not_found(&error) => {
                on_disk(name).ok_or(error)
            }
            released => released,
        }
    }

    async fn release_on_server(&self, name: &str, claude: &Path) -> anyhow::Result<Conversation> {
        let remote = self.remote.remote()?;
        let session = session_lookup::session(&remote, name).await?;
        let Some(cli_session) = session.cli_session_ids.last().cloned() else {
            let message = format!("The session {} has no conversation yet", label(&session));
            return Err(CannotRun { code: "not_found", message, hint: "send it a prompt first" }.into());
        };
        if let Some(reason) = &session.limited {
            let message = format!("The session {} is open already. {reason}", label(&session));
            return Err(
                CannotRun { code: "conflict", message, hint: "use it there, or close it first" }.into()
            );
        }
        if has_agent(&session) {
            can_start(claude, Path::new(&session.cwd)).await?;
            remote.session(session.handle).stop_if_idle().await?;
        }
        Ok(Conversation { cli_session, label: label(&session), cwd: PathBuf::from(session.cwd) })
    }
}

/// Refuses to end an agent if `claude` could not continue its session here.
async fn can_start(claude: &Path, cwd: &Path) -> anyhow::Result<()> {
    if !cwd.is_dir() {
        let message = format!("The folder of the session does not exist: `{}`", cwd.display());
        return Err(CannotRun {
            code: "not_found",
            message,
            hint: "put it back, or use the session on the page",
        }
        .into());
    }
    find::version(claude).await?;
    Ok(())
}

fn has_agent(session: &SessionView) -> bool {
    use ServerPhase::{Idle, NeedsYou, Running, Starting};
    matches!(session.state, Starting | Idle | Running | NeedsYou)
}

fn is_without_server(error: &anyhow::Error) -> bool {
    error.downcast_ref::<tidings_remote::Error>().is_some_and(|error| error.code() == Code::Unavailable)
}

/// A session of the configuration folder, by its id or a prefix of it.
fn on_disk(name: &str) -> Option<Conversation> {
    let found: SessionFiles = Roots::new([RootArgs::config_folder_of_user()]).find(name).ok()?;
    let (_, listed) = list::list(std::slice::from_ref(&found), &ListFilter::default()).pop()?;
    let label = printable(&human::short_id(&found.id));
    Some(Conversation { cli_session: found.id, cwd: PathBuf::from(listed.cwd?), label })
}
