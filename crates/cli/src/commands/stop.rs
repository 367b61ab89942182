//! `tidings stop`: stops a session of the server, or interrupts its turn.

use clap::Args;
use tidings_api::{Accepted, ServerPhase, SessionView};
use tidings_commands::error::Exit;
use tidings_commands::output::Output;
use tidings_commands::session_label::{WithSession, label};

use super::session_lookup;
use crate::commands::remote::RemoteArgs;

/// Stop a session of the server; the next prompt starts it again
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct StopArgs {
    /// Session number, key or Claude Code session id, or at least the first four characters of a key or
    /// id; without one, a list is shown to choose from
    session: Option<String>,

    /// Interrupt the current turn only, and keep the agent running
    #[arg(long)]
    turn: bool,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

const EXAMPLES: &str = "\
Examples:
  tidings stop 3           end its agent; the conversation is kept
  tidings stop 3 --turn    interrupt the current turn only";

impl StopArgs {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let name = session_lookup::name_or_pick(self.session.as_deref(), &self.remote, out)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (session, accepted): (SessionView, Accepted) = runtime.block_on(async {
            let remote = self.remote.remote()?;
            let session = session_lookup::session(&remote, &name).await?;
            let named = remote.session(session.handle);
            // Sent even if no turn seems to be running: one may have begun since.
            let accepted = if self.turn { named.interrupt().await? } else { named.stop().await? };
            anyhow::Ok((session, accepted))
        })?;
        if self.remote.json {
            out.json(&WithSession::new(&session, &accepted))?;
        } else {
            let what = match session.state {
                _ if !self.turn => "Stopped",
                ServerPhase::Running | ServerPhase::NeedsYou => "Interrupted the turn of",
                ServerPhase::Starting
                | ServerPhase::Idle
                | ServerPhase::Parked
                | ServerPhase::Stopped
                | ServerPhase::Interrupted
                | ServerPhase::Failed
                | ServerPhase::Unknown => "No turn was running in",
            };
            out.note(&format!("{what} {}", label(&session)))?;
        }
        Ok(Exit::Success)
    }
}
