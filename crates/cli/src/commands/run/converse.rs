use std::io::{self, Write as _};
use std::sync::Arc;

use tidings::Options;
use tidings_agent::policy::{DenyAll, Interactive};
use tidings_agent::session::{AgentSession, Setup};
use tidings_agent::{ChannelEventSink, ControllerInputPayload, PermissionPolicy, TurnId};
use tokio::sync::oneshot;

use super::args::{Format, RunArgs};
use super::frames::{Frames, Partial};
use super::prompt::First;
use super::stage::{Person, Stage};
use super::turn::{INTERRUPTED, Turns};
use crate::error::{CannotRun, Exit};
use crate::terminal::{Line, Style};

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

/// Prompts that somebody types, until there are no more.
async fn conversation(turns: &mut Turns) -> anyhow::Result<Exit> {
    turns.note(Line::styled(
        "Type a prompt, a line that ends with \\ goes on. /exit or Ctrl-D leaves.",
        Style::DIM,
    ))?;
    loop {
        let line = tokio::select! {
            line = typed() => line?,
            _ = turns.signals.next() => return Ok(Exit::Code(INTERRUPTED)),
        };
        match line.as_deref().map(str::trim) {
            None | Some("/exit" | "/quit") => break,
            Some("") => {}
            Some(prompt) => {
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

/// A prompt of one line, or of several that end with a backslash. `None` is the end of input.
async fn typed() -> anyhow::Result<Option<String>> {
    let (sender, receiver) = oneshot::channel();
    // A thread of its own, since nothing can be done to a read that waits.
    drop(std::thread::spawn(move || sender.send(read_prompt())));
    Ok(receiver.await??)
}

fn read_prompt() -> io::Result<Option<String>> {
    let mut prompt = String::new();
    let mut mark = "\n› ";
    loop {
        let mut stderr = io::stderr().lock();
        stderr.write_all(mark.as_bytes())?;
        stderr.flush()?;
        drop(stderr);
        let mut line = String::new();
        if io::stdin().read_line(&mut line)? == 0 {
            io::stderr().write_all(b"\n")?;
            return Ok(None);
        }
        let line = line.trim_end_matches(['\n', '\r']);
        let Some(more) = line.strip_suffix('\\') else {
            prompt.push_str(line);
            return Ok(Some(prompt));
        };
        prompt.push_str(more);
        prompt.push('\n');
        mark = "… ";
    }
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
