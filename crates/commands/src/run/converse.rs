//! One prompt, or a conversation with a queue of prompts.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use tidings::find::Version;
use tidings::messages::{Content, ContentBlock, Image, Source};
use tidings::{Options, Prompt};
use tidings_agent::policy::{DenyAll, Interactive};
use tidings_agent::session::{AgentSession, Setup};
use tidings_agent::{ChannelEventSink, PermissionPolicy, fold};
use tidings_api::{Attachment, Delivery};
use tidings_protocol::TESTED_CLAUDE_CODE;

use super::args::{Format, OnAsk, RunArgs};
use super::backend;
use super::frames::{Frames, Partial};
use super::prompt::FirstPrompt;
use super::turn::{INTERRUPTED, OnRequest, Turns};
use crate::console::{AnswerText, Console, can_type, view};
use crate::error::{CannotRun, Exit};
use crate::human;
use crate::output::{Output, can_draw};
use crate::terminal::{Diffs, Draft, Line, SlashCommand, Style, Thoughts, View};

/// Capacity of the channel to the screen. When it is full, the agent waits.
const EVENTS_MAX: usize = 256;

/// Number of the only session.
const HANDLE: i64 = 1;

impl RunArgs {
    pub(super) fn view(&self, out: &Output) -> View {
        let diffs = if self.diff { Diffs::Shown } else { Diffs::Hidden };
        let thoughts = if self.verbose { Thoughts::Shown } else { Thoughts::Hidden };
        // JSON lines are written without the view.
        let data = match self.output {
            Format::Json | Format::StreamJson => AnswerText::Dropped,
            Format::Text => AnswerText::Shown,
        };
        view(data, diffs, thoughts, out)
    }

    fn on_request(&self) -> OnRequest {
        match self.on_ask {
            Some(OnAsk::Deny) => OnRequest::Deny,
            None if can_draw() && can_type() => OnRequest::Prompt,
            Some(OnAsk::Fail) | None => OnRequest::Fail,
        }
    }
}

/// Runs one prompt, or the prompts that the user types.
pub(super) async fn converse(
    args: &RunArgs,
    options: Options,
    first: FirstPrompt,
    view: View,
) -> anyhow::Result<Exit> {
    let on_request = args.on_request();
    let policy: Arc<dyn PermissionPolicy> = match on_request {
        OnRequest::Deny => {
            Arc::new(DenyAll("No user is available to approve this, so it is denied".to_owned()))
        }
        OnRequest::Prompt | OnRequest::Fail => Arc::new(Interactive),
    };
    let setup = Setup::new(HANDLE, policy);
    let (sink, events) = ChannelEventSink::new(EVENTS_MAX);
    let transport = backend::transport(args.backend.as_deref())?;
    let options = match &args.backend {
        Some(name) => options.agent_name(name),
        None => options,
    };
    let started = AgentSession::start_over(transport, options, setup, Box::new(sink)).await;
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
    let mut turns = Turns::new(session, events, frames, Console::new(view), on_request)?;
    if args.backend.is_none() && (args.verbose || matches!(first, FirstPrompt::Typed)) {
        turns.note_version()?;
    }
    let exit = match first {
        FirstPrompt::Given(prompt) => run_prompt(&mut turns, &prompt, args).await,
        FirstPrompt::Typed => conversation(&mut turns, args).await,
    };
    turns.shut_down(exit).await.map_err(|error| not_resumed(args, error))
}

/// Runs one prompt, and waits for everything that it starts.
async fn run_prompt(turns: &mut Turns, prompt: &str, args: &RunArgs) -> anyhow::Result<Exit> {
    turns.start_turn();
    turns.prompt(&Draft { text: prompt.to_owned(), images: Vec::new() }).await?;
    let exit = turns.settle().await;
    let is_kept = !args.claude.no_session_persistence;
    let is_left = matches!(exit, Ok(Exit::Code(INTERRUPTED)));
    if is_left && is_kept && turns.console.view.screen().is_interactive() {
        turns.console.view.finish()?;
        resume_line(turns, args.backend.as_deref())?;
    }
    exit
}

/// Runs the prompts that the user types, until the user leaves.
async fn conversation(turns: &mut Turns, args: &RunArgs) -> anyhow::Result<Exit> {
    if !turns.console.view.screen().is_interactive() {
        let message = "A conversation needs a terminal that can move its cursor on standard error".to_owned();
        let hint = "give a prompt, or redirect standard output only";
        return Err(CannotRun { code: CannotRun::USAGE, message, hint }.into());
    }
    let commands = turns.session().client().info().commands.into_iter();
    let commands =
        commands.map(|command| SlashCommand { name: command.name, description: command.description });
    let folder = std::env::current_dir()?;
    turns.console.add_input(&folder, Some(&folder), commands.collect());
    // Opened before the text that invites to type: what is typed from now on is a key, and not echoed.
    turns.console.open_keyboard()?;
    turns.note(Line::styled("Type a prompt; ? shows the keys, Ctrl-D or /exit leaves.", Style::DIM))?;
    let exit = turns.converse().await;
    turns.console.view.finish()?;
    turns.console.close_keyboard();
    if !args.claude.no_session_persistence {
        resume_line(turns, args.backend.as_deref())?;
    }
    exit
}

/// Tells how the conversation is continued.
fn resume_line(turns: &mut Turns, backend: Option<&str>) -> io::Result<()> {
    let Some(id) = turns.session_id() else { return Ok(()) };
    let how = match backend {
        // Only sessions of Claude Code are found by their first characters.
        Some(name) => format!("tidings run --backend {name} --resume {id}"),
        None => format!("tidings run --resume {}", human::short_id(&id)),
    };
    turns.note(Line::styled(&format!("To resume: {how}"), Style::DIM))
}

/// Prompts that wait for the end of the turn.
#[derive(Default)]
pub(super) struct PromptQueue {
    drafts: VecDeque<(String, Draft)>,
    last: u64,
}

impl Turns {
    /// Says if Claude Code has another version than the tested one.
    fn note_version(&mut self) -> io::Result<()> {
        let version = self.session().client().info().claude_code_version;
        let version = version.and_then(|version| version.parse::<Version>().ok());
        match version.filter(|version| version.to_string() != TESTED_CLAUDE_CODE) {
            Some(version) => {
                let text = format!("Claude Code {}", version.beside_tested());
                self.note(Line::styled(&text, Style::DIM))
            }
            None => Ok(()),
        }
    }

    /// Sends a prompt, or queues it until the turn ends.
    pub(super) async fn prompt_typed(&mut self, draft: Draft, delivery: Delivery) -> anyhow::Result<()> {
        if delivery == Delivery::Queue && self.session().client().is_busy() {
            self.queue.last += 1;
            let id = self.queue.last.to_string();
            self.console.view.queue(&id, &draft.text);
            self.queue.drafts.push_back((id, draft));
            return Ok(());
        }
        self.prompt(&draft).await
    }

    /// Sends the next prompt of the queue, unless a turn runs.
    pub(super) async fn send_queued(&mut self) -> anyhow::Result<()> {
        if self.queue.drafts.is_empty() || self.session().client().is_busy() {
            return Ok(());
        }
        let Some((id, draft)) = self.queue.drafts.pop_front() else { return Ok(()) };
        self.console.view.unqueue(&id);
        self.prompt(&draft).await
    }

    /// Puts the queued prompts back into the input line, after the turn was interrupted.
    pub(super) fn put_back_queued(&mut self) {
        for (id, draft) in std::mem::take(&mut self.queue.drafts).into_iter().rev() {
            self.console.view.unqueue(&id);
            if let Some(input) = self.console.view.input() {
                input.put_back(draft);
            }
        }
    }

    /// Sends a prompt.
    async fn prompt(&mut self, draft: &Draft) -> anyhow::Result<()> {
        let mut shown = fold::Prompt::new(draft.text.as_str());
        shown.attachments = draft.images.iter().map(|_| "image".to_owned()).collect();
        self.session().prompt(prompt_of(draft), shown).await?;
        Ok(())
    }
}

/// The prompt for the agent: images first, then the text.
fn prompt_of(draft: &Draft) -> Prompt {
    if draft.images.is_empty() {
        return Prompt::from(draft.text.as_str());
    }
    let mut blocks: Vec<ContentBlock> = draft.images.iter().map(|(_, image)| image_block(image)).collect();
    blocks.push(ContentBlock::Text { text: draft.text.clone() });
    Prompt::new(Content::blocks(blocks))
}

fn image_block(attachment: &Attachment) -> ContentBlock {
    let mut source = Source::default();
    "base64".clone_into(&mut source.kind);
    source.media_type = Some(attachment.media_type.clone());
    source.data = Some(attachment.data.clone());
    let mut image = Image::default();
    image.source = source;
    ContentBlock::Image(image)
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
    if !is_unknown || args.backend.is_some() || (args.claude.resume.is_none() && !args.claude.continue_latest)
    {
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
