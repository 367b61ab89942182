//! Text of clients on its way to an agent: what it may do there.
//!
//! Claude Code interprets a prompt: `@path` reads a file unasked, `/config` changes the settings of the user,
//! and in a terminal `!` runs a command. So a text of a caller without the scope `admin` is data: it is
//! marked as such where the agent heeds the mark, and refused with the missing scope where a form in it would
//! be interpreted. Every way to an agent asks `admit`; docs/security.md has the table.

mod commands;
mod forms;
mod mentions;
#[cfg(test)]
mod tests;

use std::path::Path;

use serde::{Deserialize, Serialize};
use tidings::find::Version;
use tidings_api::{Attachment, Code, Scope};

use self::commands::SlashCommand;
use self::forms::{Form, forms};
use crate::{Caller, Error};

/// The way by which a text reaches an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// A message to Claude Code, which can be marked as plain data.
    Message,
    /// A message to Claude Code of a version that is unknown, or that ignores the mark.
    UnmarkedMessage,
    /// A prompt of an agent other than Claude Code.
    OtherAgent,
    /// Keys, in a terminal of `tidings claude` or in a pane of tmux.
    #[cfg_attr(not(unix), expect(dead_code, reason = "terminals are typed into on Unix only"))]
    Typed,
    /// A message on the messaging socket of a process.
    #[cfg_attr(not(unix), expect(dead_code, reason = "messaging sockets are used on Unix only"))]
    PeerMessage,
    /// Text beside prompts: the reason of a denial, the answer to a question, a comment on a plan. It is part
    /// of a tool result, which no agent interprets.
    Answer,
}

impl Way {
    /// All of them, in the order of the published table.
    #[cfg(test)]
    pub(crate) const ALL: [Way; 6] =
        [Way::Message, Way::UnmarkedMessage, Way::OtherAgent, Way::Typed, Way::PeerMessage, Way::Answer];

    /// The way of messages to a version of Claude Code. No version announces that it heeds the mark: it was
    /// seen to work from this one on, and 2.1.197 ignores it.
    pub(crate) fn of_version(version: Option<Version>) -> Self {
        const SINCE: Version = Version { major: 2, minor: 1, patch: 325 };
        if version.is_some_and(|version| version >= SINCE) { Way::Message } else { Way::UnmarkedMessage }
    }

    /// The scope that a form needs. A command is looked up by its name: see [`SlashCommand::scope`].
    fn scope_of(self, form: Form) -> Scope {
        match (self, form) {
            (Way::Answer, _) => Scope::Decide,
            // Only an input line replaces them.
            (Way::Typed, Form::ImagePath | Form::Sign) => Scope::Admin,
            // The mark makes all others text.
            (Way::Message, Form::Mention | Form::Shell | Form::Note | Form::Background)
            | (_, Form::ImagePath | Form::Sign) => Scope::Prompt,
            (Way::Typed, Form::Note | Form::Background) => Scope::Always,
            (_, Form::Mention | Form::Command | Form::Shell | Form::Note | Form::Background) => Scope::Admin,
        }
    }
}

/// The session that a text is for, as far as it matters here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextTarget<'a> {
    /// The folder that the agent works in.
    pub(crate) folder: &'a Path,
    /// The configuration folder of the CLI, with the user's own commands.
    pub(crate) config_dir: Option<&'a Path>,
    /// The protection of credentials in the running agent.
    pub(crate) denies: Denies,
}

/// Tells if the running agent has the rules that keep it from reading credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Denies {
    /// It has them, or will get them when it starts.
    Credentials,
    /// An earlier version of this program started it without them.
    #[default]
    Nothing,
}

/// A text as it is delivered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DeliveredText {
    pub(crate) text: String,
    /// The files that the text mentions, which the server has read.
    pub(crate) files: Vec<Attachment>,
    pub(crate) meaning: Meaning,
}

/// The meaning of a text for the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Data, whatever is in it.
    Plain,
    /// The agent interprets it.
    Interpreted,
}

/// Decides about a text: returns it as it is delivered, or a refusal that names the missing scope. Blocks on
/// disk I/O for mentions and commands of limited callers.
pub(crate) fn admit(
    caller: &Caller,
    way: Way,
    target: TextTarget<'_>,
    text: &str,
) -> Result<DeliveredText, Error> {
    let as_it_is = |meaning| DeliveredText { text: text.to_owned(), files: Vec::new(), meaning };
    if way == Way::Answer {
        return Ok(as_it_is(Meaning::Plain));
    }
    if is_unlimited(caller) {
        return Ok(as_it_is(Meaning::Interpreted));
    }
    let mut found = forms(text);
    if found.contains(&Form::Command) {
        if let Some(command) = SlashCommand::of(text) {
            return admit_command(caller, way, target, command).map(|()| as_it_is(Meaning::Interpreted));
        }
        // A path at the beginning is not a command, and a message with it is text.
        if way != Way::Typed {
            found.retain(|form| *form != Form::Command);
        }
    }
    let mut delivered = as_it_is(Meaning::Plain);
    if found.contains(&Form::Mention) && way != Way::Typed && way != Way::PeerMessage {
        let resolved = mentions::resolve(caller, target.folder, text);
        if way != Way::Message {
            // Without the sign there is nothing left to interpret.
            for (at, width) in resolved.signs.iter().rev() {
                delivered.text.replace_range(*at..at + width, "");
            }
            found = forms(&delivered.text).into_iter().filter(|form| found.contains(form)).collect();
        }
        delivered.files = resolved.files;
    }
    for form in found {
        let scope = way.scope_of(form);
        require(caller, scope, form.as_str(), way)?;
        if scope != Scope::Prompt {
            delivered.meaning = Meaning::Interpreted;
        }
    }
    Ok(delivered)
}

/// Refuses a text that is about to be delivered as data to an agent that would interpret it. The agent is
/// known only when it runs, and a queue may be older than this program.
pub(crate) fn check_plain(way: Way, text: &str) -> Result<(), Error> {
    let is_harmless = |form: &Form| way.scope_of(*form) == Scope::Prompt;
    match forms(text).into_iter().find(|form| !is_harmless(form)) {
        // A message with the mark is text, also one that begins like a command.
        Some(Form::Command) if way == Way::Message => Ok(()),
        Some(form) => Err(refusal("its sender", Scope::Admin, form.as_str(), way)),
        None => Ok(()),
    }
}

fn admit_command(
    caller: &Caller,
    way: Way,
    target: TextTarget<'_>,
    command: SlashCommand<'_>,
) -> Result<(), Error> {
    let what = format!("The command `/{}`", command.name);
    let project = target.folder.join(".claude");
    let folders: Vec<&Path> = std::iter::once(project.as_path()).chain(target.config_dir).collect();
    require(caller, command.scope(way, &folders), &what, way)?;
    // Mentions are expanded in the arguments of skills, too; and here nothing marks them as text.
    if command.arguments.contains(['@', '＠']) {
        require(caller, Scope::Admin, "A command with `@path`", way)?;
    }
    if target.denies == Denies::Nothing {
        let message = format!(
            "{what} is not passed on: this agent was started by an earlier version, without rules that protect \
             credentials"
        );
        let hint = "stop the session; the next prompt starts it again with them";
        return Err(Error::new(Code::Conflict, message, hint));
    }
    Ok(())
}

/// True for callers whose text an agent may interpret: they have every right on this machine.
fn is_unlimited(caller: &Caller) -> bool {
    caller.scopes.has(Scope::Admin) && caller.folders.is_empty()
}

fn require(caller: &Caller, scope: Scope, what: &str, way: Way) -> Result<(), Error> {
    let has_it = match scope {
        Scope::Admin => is_unlimited(caller),
        _ => caller.scopes.has(scope),
    };
    if has_it {
        return Ok(());
    }
    Err(refusal(&format!("`{}`", caller.name), scope, what, way))
}

fn refusal(who: &str, scope: Scope, what: &str, way: Way) -> Error {
    let why = match way {
        Way::Message | Way::Answer => "the agent would run it",
        Way::UnmarkedMessage => {
            "this version of Claude Code would interpret it instead of reading it as text"
        }
        Way::OtherAgent => "this agent may interpret it instead of reading it as text",
        Way::Typed => "the terminal would interpret it instead of taking it as text",
        Way::PeerMessage => "the session may interpret it instead of reading it as text",
    };
    let what = if what.starts_with('`') { format!("A prompt with {what}") } else { what.to_owned() };
    let all = if scope == Scope::Admin { " for all folders" } else { "" };
    let message = format!("{what} needs the scope `{scope}`{all}, which {who} does not have: {why}");
    let hint = "write it as a sentence without the sign, or let an admin grant the scope to the device";
    Error::new(Code::Forbidden, message, hint)
}
