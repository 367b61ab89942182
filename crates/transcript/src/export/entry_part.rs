//! The parts of an entry, independent of the output format.

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp};
use tidings_protocol::json::{Json, Raw, Text};
use tidings_protocol::tools::ToolInput;

use super::Detail;
use super::cut::size;
use super::diff::Diff;
use super::pretty::{readable, readable_members};
use super::sanitize::safe_line;
use crate::session::{Actor, CommandTags, Compaction, EntryRole, LaneId, NodeId};

/// The metadata of an entry, without its contents.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head<'a> {
    pub(super) node: NodeId,
    pub(super) actor: Actor<'a>,
    pub(super) part: EntryRole,
    pub(super) at: Option<Timestamp>,
    pub(super) lane: LaneId,
    pub(super) is_error: bool,
    pub(super) is_aborted: bool,
    pub(super) is_deleted: bool,
}

/// A part of an entry. Tool calls are separate, see [`ToolCall`].
#[derive(Debug)]
pub(super) enum EntryPart<'a> {
    /// Markdown.
    Text(Cow<'a, str>),
    Thinking(Cow<'a, str>),
    Picture(Picture),
    /// A slash command or its output.
    Command(CommandTags),
    Compaction(&'a Compaction),
    /// An entry of the client: its name, and its text or JSON.
    Note {
        name: Cow<'a, str>,
        text: String,
    },
}

/// An image embedded in a line.
#[derive(Debug, Clone, Default)]
#[cfg_attr(not(feature = "html"), expect(dead_code, reason = "only the page shows all of it"))]
pub(super) struct Picture {
    /// `image` or `document`.
    kind: String,
    /// `image/png`, …; empty if unknown.
    pub(super) media: String,
    /// Base64, or plain text; empty if the image is stored elsewhere.
    pub(super) data: String,
    /// Decoded size of `data` in bytes.
    bytes: u64,
}

/// A tool call with its outcome.
#[derive(Debug)]
pub(super) struct ToolCall<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) name: String,
    pub(super) input: Raw<'a>,
    /// `None` if the input does not match the tool's schema.
    pub(super) typed: Option<ToolInput>,
    pub(super) summary: String,
    /// `None` while there is no result.
    pub(super) outcome: Option<Outcome>,
    /// The sub-agents that it started.
    pub(super) agents: Vec<LaneId>,
}

/// The outcome of a tool call.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) text: String,
    /// Size of the whole text in bytes; more than `text` has if that is cut.
    pub(super) bytes: u64,
    pub(super) is_error: bool,
    pub(super) pictures: Vec<Picture>,
    pub(super) diff: Option<Diff>,
    pub(super) took: Option<SignedDuration>,
}

impl Picture {
    /// Reads an image or document block of a message.
    pub(super) fn of_block(block: Raw<'_>) -> Option<Self> {
        let text =
            |key: &str, of: Raw<'_>| of.get(key).and_then(Raw::text).map(|text| text.get().into_owned());
        let kind = text("type", block)?;
        if kind != "image" && kind != "document" {
            return None;
        }
        let source = block.get("source")?;
        let media = text("media_type", source).unwrap_or_default();
        let data = text("data", source).unwrap_or_default();
        // Four characters of Base64 hold three bytes.
        let is_base64 = text("type", source).is_none_or(|of| of == "base64");
        let bytes = if is_base64 { data.len() as u64 / 4 * 3 } else { data.len() as u64 };
        Some(Picture { kind, media, data, bytes })
    }

    /// `[image: png, 12 KB]`.
    pub(super) fn label(&self) -> String {
        let form = self.media.rsplit('/').next().unwrap_or_default();
        let size = if self.bytes == 0 { String::new() } else { size(self.bytes) };
        let parts: Vec<String> =
            [safe_line(form), size].into_iter().filter(|part| !part.is_empty()).collect();
        let colon = if parts.is_empty() { "" } else { ": " };
        format!("[{}{colon}{}]", self.kind, parts.join(", "))
    }
}

impl<'a> ToolCall<'a> {
    pub(super) fn new(id: Cow<'a, str>, name: &str, input: Raw<'a>) -> Self {
        let typed = ToolInput::read(name, input).ok();
        let summary = match &typed {
            Some(typed) => typed.summary(),
            None => ToolInput::Other(input.to_json()).summary(),
        };
        ToolCall {
            id,
            name: safe_line(name),
            input,
            typed,
            summary: safe_line(&summary),
            outcome: None,
            agents: Vec::new(),
        }
    }

    /// The same call with the input that ran instead.
    pub(super) fn with_input(self, changed: Option<&'a Json>) -> Self {
        let Some(changed) = changed else { return self };
        let mut call = ToolCall::new(self.id, &self.name, changed.raw());
        call.summary.push_str(" (changed before it ran)");
        call
    }

    /// The input for display; `None` if its summary, a diff or the sub-agent's own line shows the same. With
    /// [`Detail::Full`] it includes everything that these do not show.
    pub(super) fn shown_input(&self, detail: Detail) -> Option<String> {
        let is_told = self.diff().is_some() || !self.agents.is_empty();
        let is_summed_up =
            self.input.is_object() && self.input.members().all(|(_, value)| self.is_in_summary(value));
        let untold = || {
            readable_members(
                self.input.members().filter(|(key, value)| !self.is_shown_elsewhere(&key.get(), *value)),
            )
        };
        let input = match (&self.typed, detail) {
            (Some(ToolInput::Bash(bash)), Detail::Folded) => format!("$ {}", bash.command),
            (Some(ToolInput::Bash(bash)), Detail::Full) => {
                let untold = untold();
                let end = if untold.is_empty() { "" } else { "\n" };
                format!("$ {}{end}{untold}", bash.command)
            }
            _ if is_summed_up || is_told && detail == Detail::Folded => return None,
            _ if is_told => untold(),
            _ => readable(self.input),
        };
        Some(input).filter(|input| !input.is_empty())
    }

    fn diff(&self) -> Option<&Diff> {
        self.outcome.as_ref()?.diff.as_ref()
    }

    fn is_in_summary(&self, value: Raw<'_>) -> bool {
        value.text().is_some_and(|text| text.get() == self.summary)
    }

    /// Returns true if a member of the input is visible elsewhere in the displayed call.
    fn is_shown_elsewhere(&self, key: &str, value: Raw<'_>) -> bool {
        let in_diff = |diff: &Diff| value.text().is_some_and(|text| diff.shows(&text.get()));
        match &self.typed {
            Some(ToolInput::Bash(_)) => key == "command",
            _ if !self.agents.is_empty() && matches!(key, "prompt" | "description" | "subagent_type") => true,
            _ => self.is_in_summary(value) || self.diff().is_some_and(in_diff),
        }
    }

    pub(super) fn is_error(&self) -> bool {
        self.outcome.as_ref().is_some_and(|outcome| outcome.is_error)
    }
}

impl Outcome {
    /// Returns true if the text is displayed; a diff replaces it, unless full detail is requested.
    pub(super) fn shows_text(&self, detail: Detail) -> bool {
        !self.text.trim().is_empty() && (self.diff.is_none() || detail == Detail::Full)
    }

    /// A short summary: amount of text, or number of changed lines.
    pub(super) fn summary(&self) -> String {
        let mut parts = Vec::new();
        if let Some(diff) = &self.diff {
            parts.push(diff.counts());
        } else if self.bytes > 0 {
            let lines = self.text.trim_end().lines().count();
            if self.text.len() as u64 == self.bytes && lines > 1 {
                parts.push(format!("{lines} lines"));
            }
            parts.push(size(self.bytes));
        }
        parts.extend(self.pictures.iter().map(Picture::label));
        if parts.is_empty() { "no output".to_owned() } else { parts.join(", ") }
    }
}

/// `0.4 s`, `12 s`, `3 min`, `2.5 h`.
pub(super) fn duration(took: SignedDuration) -> String {
    let millis = took.as_millis().max(0);
    match millis {
        0..1000 => format!("{millis} ms"),
        1000..10_000 => format!("{}.{} s", millis / 1000, millis % 1000 / 100),
        10_000..120_000 => format!("{} s", millis / 1000),
        120_000..7_200_000 => format!("{} min", millis / 60_000),
        7_200_000..172_800_000 => format!("{}.{} h", millis / 3_600_000, millis % 3_600_000 / 360_000),
        _ => format!("{} days", millis / 86_400_000),
    }
}

/// A string value, decoded.
pub(super) fn string(value: Option<Raw<'_>>) -> Option<Cow<'_, str>> {
    value.and_then(Raw::text).map(Text::get)
}
