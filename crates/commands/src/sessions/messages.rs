//! `tidings sessions messages`: the messages of a session, as the official SDKs return them.

use std::ffi::OsString;

use tidings_transcript::manage::{Page, SessionFile, SessionMessage, session_messages, subagent_messages};

use super::RootArgs;
use crate::error::{CannotRun, Exit};
use crate::output::Output;

/// Print the messages of a session as the official SDKs return them
///
/// Equivalent to `get_session_messages` and, with `--agent`, `get_subagent_messages` of the SDKs: one JSON
/// object per line, with or without `--json`. To read a session, use `show`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MessagesArgs {
    /// Session id, or the first characters of it; without one, a list is shown to choose from
    id: Option<OsString>,

    /// Print the conversation of this sub-agent
    #[arg(long, value_name = "ID")]
    agent: Option<String>,

    /// Maximum number of messages
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Number of messages to skip
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: usize,
}

const EXAMPLES: &str = "\
Examples:
  tidings sessions messages 5a15c0fc --limit 10
  tidings sessions messages 5a15c0fc --agent a1cbaedb1e9924417 | jq .message.content";

impl MessagesArgs {
    pub(crate) fn run(&self, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let session = SessionFile::of(&root.named_session(self.id.as_deref(), out)?)?;
        let page = Page { offset: self.offset, limit: self.limit };
        let messages: Vec<SessionMessage> = match &self.agent {
            Some(agent) => of_agent(&session, agent, page)?,
            None => session_messages(&session, page)?,
        };
        for message in messages {
            out.bytes(message.to_line().as_bytes())?;
            out.bytes(b"\n")?;
        }
        Ok(Exit::Success)
    }
}

fn of_agent(session: &SessionFile, agent: &str, page: Page) -> anyhow::Result<Vec<SessionMessage>> {
    let known = tidings_transcript::manage::list_subagents(session);
    if !known.iter().any(|id| id == agent) {
        return Err(CannotRun {
            code: "not_found",
            message: format!("No such sub-agent: `{agent}`"),
            hint: "`tidings sessions subagents` lists them",
        }
        .into());
    }
    Ok(subagent_messages(session, agent, page)?)
}
