use std::sync::Arc;

use tidings::Options;
use tidings_agent::policy::{DenyAll, Interactive};
use tidings_agent::session::{AgentSession, Setup};
use tidings_agent::{ChannelEventSink, ControllerInputPayload, PermissionPolicy, TurnId};

use super::args::{Format, RunArgs};
use super::console::{Console, OnRequest};
use super::frames::{Frames, Partial};
use super::prompt::FirstPrompt;
use super::turn::{INTERRUPTED, Turns};
use crate::commands::sessions::RootArgs;
use crate::error::{CannotRun, Exit};
use crate::terminal::{Line, Style, TerminalSettings, Typed, prompt_editor};

/// Capacity of the channel to the screen. When it is full, the agent waits.
const EVENTS_MAX: usize = 256;

/// Number of the only session.
const HANDLE: i64 = 1;

/// Runs one prompt, or the prompts that the user types.
pub(super) async fn converse(
    args: &RunArgs,
    options: Options,
    first: FirstPrompt,
    console: Console,
) -> anyhow::Result<Exit> {
    let policy: Arc<dyn PermissionPolicy> = match console.on_request {
        OnRequest::Deny => {
            Arc::new(DenyAll("No user is available to approve this, so it is denied".to_owned()))
        }
        OnRequest::Prompt | OnRequest::Fail => Arc::new(Interactive),
    };
    let setup = Setup::new(HANDLE, policy);
    let (sink, events) = ChannelEventSink::new(EVENTS_MAX);
    let started = AgentSession::start(options, setup, Box::new(sink)).await;
    let session = started.map_err(not_started).map_err(|error| not_resumed(args, error))?;
    let frames = match args.output {
        Format::Text => None,
        Format::Json => Some(Frames::last(session.client().subscribe())),
        Format::StreamJson => {
            let partial =
                if args.claude.include_partial_messages { Partial::Included } else { Partial::Omitted };
            Some(Frames::all(session.client().subscribe(), partial))
        }
    };
    let mut turns = Turns::new(session, events, frames, console)?;
    let exit = match first {
        FirstPrompt::Given(prompt) => run_prompt(&mut turns, &prompt).await,
        FirstPrompt::Typed => conversation(&mut turns).await,
    };
    turns.shut_down(exit).await.map_err(|error| not_resumed(args, error))
}

/// Runs one prompt, and waits for everything that it starts.
async fn run_prompt(turns: &mut Turns, prompt: &str) -> anyhow::Result<Exit> {
    turns.prompt(prompt).await?;
    turns.settle().await
}

/// Runs the prompts that the user types, until the user exits.
async fn conversation(turns: &mut Turns) -> anyhow::Result<Exit> {
    turns.note(Line::styled(
        "Type a prompt. Alt-Enter or a \\ at the end of a line adds a line. /exit or Ctrl-D exits.",
        Style::DIM,
    ))?;
    let settings = TerminalSettings::save();
    let mut editor = prompt_editor(RootArgs::data_folder())?;
    loop {
        let typed = tokio::select! {
            typed = editor.read(String::new()) => typed,
            _ = turns.signals.next() => {
                settings.restore();
                return Ok(Exit::Code(INTERRUPTED));
            }
        };
        let (back, typed) = typed?;
        editor = back;
        let prompt = match typed {
            Typed::Prompt(prompt) => prompt,
            Typed::Interrupted => return Ok(Exit::Code(INTERRUPTED)),
            Typed::End => break,
        };
        match prompt.trim() {
            "/exit" | "/quit" => break,
            "" => {}
            prompt => {
                turns.prompt(prompt).await?;
                match turns.wait().await? {
                    Exit::Code(INTERRUPTED) if turns.should_exit() => return Ok(Exit::Code(INTERRUPTED)),
                    _ => {}
                }
            }
        }
    }
    if let Some(id) = turns.session_id() {
        turns.note(Line::styled(&format!("To resume: tidings run --resume {id}"), Style::DIM))?;
    }
    Ok(Exit::Success)
}

impl Turns {
    /// Sends a prompt.
    async fn prompt(&mut self, prompt: &str) -> anyhow::Result<()> {
        let turn = TurnId::new_user_turn(self.next_turn());
        self.start_turn();
        self.session().input(ControllerInputPayload::data(HANDLE, prompt, turn)).await?;
        Ok(())
    }
}

/// Replaces the hint on a missing `claude` by one that names the flags of this command.
fn not_started(error: tidings::Error) -> anyhow::Error {
    if error.hint() != tidings::find::INSTALL {
        return error.into();
    }
    let hint = "install Claude Code (`curl -fsSL https://claude.ai/install.sh | bash`), \
                or set --claude-path or CLAUDE_CLI_PATH";
    CannotRun { code: "not_found", message: error.to_string(), hint }.into()
}

/// Adds a hint if Claude Code did not find the session to resume.
fn not_resumed(args: &RunArgs, error: anyhow::Error) -> anyhow::Error {
    let message = format!("{error:#}");
    let is_unknown = ["No conversation found", "--resume requires"].iter().any(|text| message.contains(text));
    if !is_unknown || (args.claude.resume.is_none() && !args.claude.continue_latest) {
        return error;
    }
    let hint = "`tidings sessions list` shows the ids; Claude Code finds only sessions of the folder that it runs in";
    CannotRun { code: "not_found", message, hint }.into()
}

/// Error for a request that only a person may answer, without a terminal.
pub(super) fn needs_a_person(what: &str) -> CannotRun {
    CannotRun {
        code: CannotRun::NEEDS_A_PERSON,
        message: format!("The agent needs a decision, and there is no terminal to ask on: {what}"),
        hint: "run it in a terminal, allow the tool with --allowed-tools, or deny all requests with --on-ask deny",
    }
}
