use clap::Args;
use tidings_protocol::api::{Accepted, CommandRequest, ServerPhase, SessionView};

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
        let (session, accepted): (SessionView, Accepted) = runtime.block_on(async {
            let remote = self.remote.remote()?;
            let session = named::session(&remote, &self.session).await?;
            let verb = if self.turn { "interrupt" } else { "stop" };
            // Asked for even if nothing seems to be under way: a turn may have begun since.
            let path = format!("/v1/sessions/{}/{verb}", session.handle);
            let accepted = remote.post(&path, &CommandRequest::default()).await?;
            anyhow::Ok((session, accepted))
        })?;
        if self.remote.json {
            out.text(&format!("{}\n", serde_json::to_string(&accepted)?))?;
        } else {
            let what = match session.state {
                _ if !self.turn => "Stopped",
                ServerPhase::Running | ServerPhase::NeedsYou => "Its turn was ended",
                _ => "No turn was under way",
            };
            out.note(&format!("{what}: {}", printable(&self.session)))?;
        }
        Ok(Exit::Fine)
    }
}
