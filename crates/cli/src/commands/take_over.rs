//! `tidings take-over`: continues a session of a terminal on the server.

use clap::Args;
use tidings_api::{Accepted, SessionView};
use tidings_commands::error::Exit;
use tidings_commands::output::Output;
use tidings_commands::session_label::{WithSession, label};

use super::session_lookup;
use crate::commands::remote::RemoteArgs;

/// Continue a session of a terminal on the server
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TakeOverArgs {
    /// Session number, key or Claude Code session id, or at least the first four characters of a key or
    /// id; without one, a list is shown to choose from
    session: Option<String>,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

const EXAMPLES: &str = "\
The process in the terminal must be idle. It ends as if you had closed it; a draft in its input line is lost.

Examples:
  tidings take-over 3    continue on the server what runs in a terminal
  tidings resume 3       and back again";

impl TakeOverArgs {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let name = session_lookup::name_or_pick(self.session.as_deref(), &self.remote, out)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (session, accepted): (SessionView, Accepted) = runtime.block_on(async {
            let remote = self.remote.remote()?;
            let session = session_lookup::session(&remote, &name).await?;
            let accepted = remote.session(session.handle).take_over().await?;
            anyhow::Ok((session, accepted))
        })?;
        if self.remote.json {
            let result = WithSession::new(&session, &accepted);
            out.text(&format!("{}\n", serde_json::to_string(&result)?))?;
        } else {
            let (label, number) = (label(&session), session.handle);
            out.note(&format!(
                "{label} continues on the server; `tidings resume {number}` continues it in a terminal"
            ))?;
        }
        Ok(Exit::Success)
    }
}
