//! `tidings send`: sends a prompt to a session of the server.

use std::io::{self, IsTerminal as _};

use clap::Args;
use serde::Serialize;
use tidings_api::{Accepted, Delivery, INPUT_BYTES_MAX, Input, SessionView};
use tidings_commands::error::{CannotRun, Exit};
use tidings_commands::output::Output;
use tidings_commands::run::prompt::piped;
use tidings_commands::session_label::{WithSession, label};

use super::session_lookup;
use crate::commands::remote::RemoteArgs;

/// Send a prompt to a session of the server
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SendArgs {
    /// Session number, key or Claude Code session id; of a key or id, a unique prefix of four characters or
    /// more is enough
    session: String,

    /// Prompt; read from standard input if it is `-` or omitted
    text: Option<String>,

    /// Deliver it during the current turn instead of after it
    #[arg(long, conflicts_with = "interrupt")]
    steer: bool,

    /// Interrupt the current turn first
    #[arg(long)]
    interrupt: bool,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

const EXAMPLES: &str = "\
Examples:
  tidings send 3 \"and now run the tests\"
  tidings send 3 --steer \"leave the database alone\"
  git diff | tidings send 3 -
  tidings send 3 \"sum it up\" && tidings attach 3 --wait";

impl SendArgs {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let content = given_or_piped(self.text.as_deref())?.ok_or_else(|| CannotRun {
            code: CannotRun::USAGE,
            message: "The prompt is empty".to_owned(),
            hint: "give a prompt as an argument, or pipe one in",
        })?;
        let delivery = match (self.steer, self.interrupt) {
            (true, _) => Delivery::Steer,
            (_, true) => Delivery::Interrupt,
            _ => Delivery::Queue,
        };
        let input = Input { content, delivery, ..Input::default() };
        check_length(&input)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (session, accepted): (SessionView, Accepted) = runtime.block_on(async {
            let remote = self.remote.remote()?;
            let session = session_lookup::session(&remote, &self.session).await?;
            let accepted = remote.session(session.handle).send(&input).await?;
            anyhow::Ok((session, accepted))
        })?;
        if self.remote.json {
            out.json(&WithSession::new(&session, &accepted))?;
        } else {
            let turn = accepted.turn_id.map(|turn| format!(", turn {turn}")).unwrap_or_default();
            let (label, number) = (label(&session), session.handle);
            out.note(&format!("Sent to {label}{turn}; `tidings attach {number}` shows the answer"))?;
        }
        Ok(Exit::Success)
    }
}

/// Returns the prompt from the command line, or from a pipe if it is `-` or omitted; none if it is empty.
pub(super) fn given_or_piped(text: Option<&str>) -> anyhow::Result<Option<String>> {
    let text = match text {
        Some(text) if text != "-" => text.to_owned(),
        None if io::stdin().is_terminal() => return Ok(None),
        _ => piped(INPUT_BYTES_MAX as u64)?,
    };
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

/// Rejects a body that the server would reject, since the server can do so only after receiving all of it.
pub(crate) fn check_length(body: &impl Serialize) -> anyhow::Result<()> {
    let bytes = serde_json::to_vec(body)?.len();
    if bytes <= INPUT_BYTES_MAX {
        return Ok(());
    }
    let message = format!("A prompt of {bytes} bytes, written as JSON, is longer than {INPUT_BYTES_MAX}");
    let hint = "put the text into a file, and name the file in the prompt";
    Err(CannotRun { code: "too_large", message, hint }.into())
}
