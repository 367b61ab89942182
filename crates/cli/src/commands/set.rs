//! `tidings set`: changes settings of a session of the server.

use clap::{ArgGroup, Args, ValueEnum};
use tidings_api::{PatchSession, SessionView};
use tidings_commands::error::Exit;
use tidings_commands::output::Output;
use tidings_commands::session_label::label;

use super::session_lookup;
use crate::commands::remote::RemoteArgs;

/// Change settings of a session of the server
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("settings").required(true).multiple(true))]
pub(crate) struct SetArgs {
    /// Session number, key or Claude Code session id, or at least the first four characters of a key or
    /// id; without one, a list is shown to choose from
    session: Option<String>,

    /// Continue by itself, once, when a limit of the plan that ended a turn is reset
    #[arg(long, value_name = "WHEN", num_args = 0..=1, default_missing_value = "on", group = "settings")]
    continue_after_limit: Option<Switch>,

    /// New title; an empty one removes it
    #[arg(long, group = "settings")]
    title: Option<String>,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

const EXAMPLES: &str = "\
Examples:
  tidings set 3 --continue-after-limit        go on when the limit is reset, unless you write before
  tidings set 3 --continue-after-limit off
  tidings set 3 --title \"The till\"";

impl SetArgs {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let name = session_lookup::name_or_pick(self.session.as_deref(), &self.remote, out)?;
        let patch = PatchSession {
            title: self.title.clone(),
            continue_after_limit: self.continue_after_limit.map(|switch| switch == Switch::On),
            ..PatchSession::default()
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let session: SessionView = runtime.block_on(async {
            let remote = self.remote.remote()?;
            let session = session_lookup::session(&remote, &name).await?;
            anyhow::Ok(remote.session(session.handle).set(&patch).await?)
        })?;
        if self.remote.json {
            out.json(&session)?;
            return Ok(Exit::Success);
        }
        let label = label(&session);
        match (&session.continues_at, session.continue_after_limit) {
            (Some(at), _) => out.note(&format!("Changed {label}; it continues at {at}"))?,
            (None, true) => out.note(&format!("Changed {label}; it continues by itself after a limit"))?,
            (None, false) => out.note(&format!("Changed {label}"))?,
        }
        Ok(Exit::Success)
    }
}
