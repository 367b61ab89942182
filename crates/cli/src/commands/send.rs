use std::io::{self, IsTerminal as _, Read as _};

use clap::Args;
use tidings_protocol::api::{Accepted, Delivery, Input};
use uuid::Uuid;

use super::named;
use crate::error::{CannotRun, Exit};
use crate::output::{Output, printable};
use crate::remote::RemoteArgs;

/// Say something to a session of the server
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Send {
    /// The session: its number, its key, or the beginning of one
    session: String,

    /// The prompt; read from standard input if it is `-` or left out
    text: Option<String>,

    /// Say it into the turn that is under way, instead of after it
    #[arg(long, conflicts_with = "interrupt")]
    steer: bool,

    /// End the turn that is under way first
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

/// The longest prompt that is read: what the server takes, before it is wrapped.
const PROMPT_BYTES_MAX: u64 = 16 << 20;

impl Send {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let content = self.prompt()?;
        let delivery = match (self.steer, self.interrupt) {
            (true, _) => Delivery::Steer,
            (_, true) => Delivery::Interrupt,
            _ => Delivery::Queue,
        };
        // Sent again after a lost answer, it is said once.
        let client_id = Some(Uuid::new_v4().to_string());
        let input = Input { content, delivery, client_id, ..Input::default() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let accepted: Accepted = runtime.block_on(async {
            let remote = self.remote.remote()?;
            let session = named::session(&remote, &self.session).await?;
            remote.post(&format!("/v1/sessions/{}/input", session.handle), &input).await
        })?;
        if self.remote.json {
            out.text(&format!("{}\n", serde_json::to_string(&accepted)?))?;
        } else if let Some(turn) = accepted.turn_id {
            out.note(&format!(
                "Taken as turn {turn}; `tidings attach {}` shows the answer",
                printable(&self.session)
            ))?;
        }
        Ok(Exit::Fine)
    }

    fn prompt(&self) -> anyhow::Result<String> {
        let empty = || CannotRun {
            code: CannotRun::USAGE,
            message: "There is nothing to say".to_owned(),
            hint: "give a text, or pipe one in",
        };
        let text = match self.text.as_deref() {
            Some(text) if text != "-" => text.to_owned(),
            None if io::stdin().is_terminal() => return Err(empty().into()),
            _ => {
                let mut text = String::new();
                io::stdin().lock().take(PROMPT_BYTES_MAX).read_to_string(&mut text)?;
                text
            }
        };
        if text.trim().is_empty() { Err(empty().into()) } else { Ok(text) }
    }
}
