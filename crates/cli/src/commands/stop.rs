use clap::Args;
use tidings_protocol::api::{Accepted, CommandRequest};

use super::named;
use crate::error::Exit;
use crate::output::{Output, printable};
use crate::remote::RemoteArgs;

/// Stop a session of the server; the next prompt starts it again
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Stop {
    /// The session: its number, its key, or the beginning of one
    session: String,

    /// End the turn that is under way, and leave the agent running
    #[arg(long)]
    turn: bool,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

const EXAMPLES: &str = "\
Examples:
  tidings stop 3           end its agent; nothing of the conversation is lost
  tidings stop 3 --turn    only end what it is doing";

impl Stop {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let accepted: Accepted = runtime.block_on(async {
            let remote = self.remote.remote()?;
            let session = named::session(&remote, &self.session).await?;
            let verb = if self.turn { "interrupt" } else { "stop" };
            remote.post(&format!("/v1/sessions/{}/{verb}", session.handle), &CommandRequest::default()).await
        })?;
        if self.remote.json {
            out.text(&format!("{}\n", serde_json::to_string(&accepted)?))?;
        } else {
            let what = if self.turn { "Its turn was ended" } else { "Stopped" };
            out.note(&format!("{what}: {}", printable(&self.session)))?;
        }
        Ok(Exit::Fine)
    }
}
