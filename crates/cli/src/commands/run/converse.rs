use std::sync::Arc;

use tidings::Options;
use tidings_agent::policy::{DenyAll, Interactive};
use tidings_agent::session::{AgentSession, Setup};
use tidings_agent::{ChannelEventSink, ControllerInputPayload, PermissionPolicy, TurnId};

use super::args::{Format, RunArgs};
use super::frames::{Frames, Partial};
use super::prompt::First;
use super::stage::{Person, Stage};
use super::turn::{INTERRUPTED, Turns};
use crate::error::{CannotRun, Exit};
use crate::terminal::{Line, Style, TerminalSettings, Typed, prompt_editor};

/// How many events may wait to be shown. The agent waits when it is this far ahead of the screen.
const EVENTS_MAX: usize = 256;

/// The only session there is.
const HANDLE: i64 = 1;

/// Runs a prompt, or as many as somebody types.
pub(super) async fn converse(
    args: &RunArgs,
    options: Options,
    first: First,
    stage: Stage,
) -> anyhow::Result<Exit> {
    let policy: Arc<dyn PermissionPolicy> = match stage.person {
        Person::NotAsked => Arc::new(DenyAll("Nobody is there to be asked, so the answer is no".to_owned())),
        Person::Here | Person::Needed => Arc::new(Interactive),
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
                if args.claude.include_partial_messages { Partial::Wanted } else { Partial::LeftOut };
            Some(Frames::all(session.client().subscribe(), partial))
        }
    };
    let mut turns = Turns::new(session, events, frames, stage)?;
    let exit = match first {
        First::Given(prompt) => answered(&mut turns, &prompt).await,
        First::Typed => conversation(&mut turns).await,
    };
    turns.leave(exit).await.map_err(|error| not_resumed(args, error))
}

/// One prompt, and all that comes of it.
async fn answered(turns: &mut Turns, prompt: &str) -> anyhow::Result<Exit> {
    turns.say(prompt).await?;
    turns.settle().await
}

/// Prompts that are typed, until there are no more.
async fn conversation(turns: &mut Turns) -> anyhow::Result<Exit> {
    turns.note(Line::styled(
        "Type a prompt. Alt-Enter or a \\ at the end begins another line. /exit or Ctrl-D leaves.",
        Style::DIM,
    ))?;
    let settings = TerminalSettings::save();
    let mut editor = prompt_editor()?;
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
                turns.say(prompt).await?;
                match turns.wait().await? {
                    Exit::Code(INTERRUPTED) if turns.leaves() => return Ok(Exit::Code(INTERRUPTED)),
                    _ => {}
                }
            }
        }
    }
    if let Some(id) = turns.session_id() {
        turns.note(Line::styled(&format!("To go on: tidings run --resume {id}"), Style::DIM))?;
    }
    Ok(Exit::Fine)
}

impl Turns {
    /// Says something.
    async fn say(&mut self, prompt: &str) -> anyhow::Result<()> {
        let turn = TurnId::new_user_turn(self.next_turn());
        self.began();
        self.session().input(ControllerInputPayload::data(HANDLE, prompt, turn)).await?;
        Ok(())
    }
}

/// Why there is no session, in the words of this command.
fn not_started(error: tidings::Error) -> anyhow::Error {
    if error.hint() != tidings::find::INSTALL {
        return error.into();
    }
    let hint = "install Claude Code (`curl -fsSL https://claude.ai/install.sh | bash`), \
                or name it with --claude-path or CLAUDE_CLI_PATH";
    CannotRun { code: "not_found", message: error.to_string(), hint }.into()
}

/// Where to look when Claude Code does not know the session that it shall go on with.
fn not_resumed(args: &RunArgs, error: anyhow::Error) -> anyhow::Error {
    let message = format!("{error:#}");
    let is_unknown = ["No conversation found", "--resume requires"].iter().any(|said| message.contains(said));
    if !is_unknown || (args.claude.resume.is_none() && !args.claude.continue_latest) {
        return error;
    }
    let hint = "`tidings sessions list` has the ids; Claude Code knows those of the folder that it runs in";
    CannotRun { code: "not_found", message, hint }.into()
}

/// The error when only a person may decide, and none is there.
pub(super) fn needs_a_person(what: &str) -> CannotRun {
    CannotRun {
        code: CannotRun::NEEDS_A_PERSON,
        message: format!("Somebody has to decide, and nobody is there: {what}"),
        hint: "run it in a terminal, allow it beforehand with --allowed-tools, or refuse all questions with --on-ask deny",
    }
}
