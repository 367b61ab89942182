//! A session as Markdown, for GitHub and the like.

mod contain;

use std::fmt::Write as _;

use tidings_protocol::tools::ToolInput;

use self::contain::{contained, fence, html_text, inline_code, quoted};
use super::cut::{Cut, CutLimits, cut};
use super::diff::Diff;
use super::entry_part::{EntryPart, Head, Outcome, ToolCall, duration};
use super::metadata::SessionMetadata;
use super::sanitize::{safe_line, safe_text, short_line};
use super::text::{compaction_line, counts, period, speaker, time};
use super::walk::Sink;
use super::{Detail, Options};
use crate::limits::{INPUT_BYTES_SHOWN, OUTPUT_HEAD_BYTES, OUTPUT_TAIL_BYTES};
use crate::session::{Agent, Branch, EntryRole, NodeId};

pub(super) struct MarkdownSink<'o> {
    out: String,
    options: &'o Options,
    /// Number of prompts of the main line so far.
    prompts: usize,
    /// The prompt with the last heading.
    turn: Option<NodeId>,
    /// The last speaker.
    speaker: String,
    /// True if the text taken last ends with an empty line.
    is_after_gap: bool,
    /// Number of open sub-agents and branches.
    depth: usize,
}

/// Number of characters of a prompt in a heading.
const HEADING_CHARS: usize = 80;

impl<'o> MarkdownSink<'o> {
    pub(super) fn new(options: &'o Options, facts: &SessionMetadata) -> Self {
        let mut sink = MarkdownSink {
            out: String::new(),
            options,
            prompts: 0,
            turn: None,
            speaker: String::new(),
            is_after_gap: true,
            depth: 0,
        };
        let _ = writeln!(sink.out, "# {}\n", heading(&facts.title));
        let mut row = |name: &str, value: &str| {
            if !value.is_empty() {
                let _ = writeln!(sink.out, "- **{name}:** {value}");
            }
        };
        row("Session", &inline_code(&facts.id));
        row("Project", &facts.project.as_deref().map(inline_code).unwrap_or_default());
        row("Branch", &facts.git_branch.as_deref().map(inline_code).unwrap_or_default());
        row("Model", &facts.models.iter().map(|model| inline_code(model)).collect::<Vec<_>>().join(", "));
        if let (Some(first), Some(last)) = (facts.first, facts.last) {
            let zone = &options.zone;
            let name = zone.iana_name().unwrap_or("local time");
            let took = duration(last.duration_since(first));
            row("Time", &format!("{} {name} ({took})", period(first, last, zone)));
        }
        row("Contents", &counts(facts));
        sink
    }

    fn room(&self, head: usize, tail: usize) -> CutLimits {
        match self.options.detail {
            Detail::Folded => CutLimits { head, tail },
            Detail::Full => CutLimits::UNLIMITED,
        }
    }

    /// Writes an empty line, unless there is one: text right after HTML would be parsed as HTML.
    fn gap(&mut self) {
        let is_there = if self.out.is_empty() { self.is_after_gap } else { self.out.ends_with("\n\n") };
        if !is_there {
            self.out.push('\n');
        }
    }

    /// Writes a separate block.
    fn block(&mut self, text: &str) {
        self.gap();
        self.out.push_str(text);
        if !text.ends_with('\n') {
            self.out.push('\n');
        }
    }

    /// Writes the speaker: a heading for each prompt of the main line, bold text for the others.
    fn speaker(&mut self, head: &Head<'_>) {
        let speaker = speaker(head);
        if speaker == self.speaker {
            return;
        }
        self.speaker = speaker;
        self.gap();
        let time = head.at.map(|at| format!(" · {}", time(at, &self.options.zone))).unwrap_or_default();
        let marks = if head.is_deleted { " (deleted)" } else { "" };
        let _ = writeln!(self.out, "**{}**{marks}{time}", heading(&head.actor.to_string()));
    }

    fn heading(&mut self, head: &Head<'_>, text: &str) {
        if self.depth > 0 || self.turn == Some(head.node) {
            return;
        }
        self.turn = Some(head.node);
        self.prompts += 1;
        let line = format!("## {}. {}", self.prompts, heading(&short_line(text, HEADING_CHARS)));
        self.block(&line);
        self.speaker.clear();
    }

    fn fenced(&mut self, text: &str, language: &str, room: CutLimits) {
        let safe = safe_text(text);
        let Cut { head, missing_bytes, tail, .. } = cut(&safe, room);
        if missing_bytes == 0 {
            self.block(&fence(head, language));
            return;
        }
        let note = cut(&safe, room).note();
        self.block(&fence(&format!("{head}\n… {note} …\n{tail}"), language));
    }

    fn diff(&mut self, diff: &Diff) {
        let mut text = String::new();
        for line in &diff.lines {
            let (mark, line) = line.parts();
            let _ = writeln!(text, "{mark}{line}");
        }
        let room = self.room(INPUT_BYTES_SHOWN, 0);
        self.fenced(&text, "diff", room);
    }

    fn outcome(&mut self, outcome: &Outcome) {
        if let Some(diff) = &outcome.diff {
            self.diff(diff);
        }
        if outcome.shows_text(self.options.detail) {
            let room = self.room(OUTPUT_HEAD_BYTES, OUTPUT_TAIL_BYTES);
            self.fenced(&outcome.text, "", room);
        }
        if outcome.bytes > outcome.text.len() as u64 {
            self.block(&format!("*The whole output has {}.*", super::cut::size(outcome.bytes)));
        }
        for picture in &outcome.pictures {
            self.block(&format!("*{}*", heading(&picture.label())));
        }
    }

    fn details(&mut self, summary: &str) {
        self.block(&format!("<details>\n<summary>{summary}</summary>\n"));
    }

    fn end_details(&mut self) {
        self.block("</details>");
    }
}

impl Sink for MarkdownSink<'_> {
    fn take(&mut self) -> &mut String {
        if !self.out.is_empty() {
            self.is_after_gap = self.out.ends_with("\n\n");
        }
        &mut self.out
    }

    fn piece(&mut self, head: &Head<'_>, piece: &EntryPart<'_>) {
        let full = self.options.detail == Detail::Full;
        match piece {
            EntryPart::Compaction(compaction) => {
                self.block(&format!("---\n\n*{}*", compaction_line(compaction)));
                self.speaker.clear();
            }
            EntryPart::Text(text) if head.part == EntryRole::CompactSummary => {
                self.details("Summary of the conversation so far");
                self.block(&contained(text));
                self.end_details();
            }
            EntryPart::Text(text) if head.part == EntryRole::Prompt => {
                self.heading(head, text);
                self.speaker(head);
                self.block(&quoted(&contained(text)));
            }
            EntryPart::Text(text) => {
                self.speaker(head);
                let text = contained(text);
                self.block(&if head.is_error { quoted(&format!("**Error:** {text}")) } else { text });
                if head.is_aborted {
                    self.block("*(cut short)*");
                }
            }
            EntryPart::Thinking(text) => {
                self.speaker(head);
                self.details("Thinking");
                self.block(&quoted(&contained(text)));
                self.end_details();
            }
            EntryPart::Picture(picture) => {
                self.speaker(head);
                self.block(&format!("*{}*", heading(&picture.label())));
            }
            EntryPart::Command(tags) => {
                if let Some(name) = &tags.name {
                    let command = format!("{name} {}", tags.args.as_deref().unwrap_or_default());
                    self.heading(head, &command);
                    self.speaker(head);
                    self.block(&inline_code(&safe_line(&command)));
                }
                for text in [&tags.stdout, &tags.stderr].into_iter().flatten().filter(|text| !text.is_empty())
                {
                    let room = self.room(OUTPUT_HEAD_BYTES, OUTPUT_TAIL_BYTES);
                    self.fenced(text, "", room);
                }
            }
            EntryPart::Note { name, text } => {
                if full && text.contains('\n') {
                    self.details(&html_text(&safe_line(name)));
                    self.fenced(text, "", CutLimits::UNLIMITED);
                    self.end_details();
                } else {
                    self.block(&format!(
                        "*{}:* {}",
                        heading(&safe_line(name)),
                        heading(&short_line(text, 400))
                    ));
                }
            }
        }
    }

    fn open_call(&mut self, head: &Head<'_>, call: &ToolCall<'_>) {
        self.speaker(head);
        let mark = if call.is_error() { "❌ " } else { "" };
        let mut about = call.outcome.as_ref().map_or_else(|| "no result".to_owned(), Outcome::summary);
        if let Some(took) = call.outcome.as_ref().and_then(|outcome| outcome.took) {
            let _ = write!(about, ", {}", duration(took));
        }
        let summary = html_text(&call.summary);
        let code = if summary.is_empty() { String::new() } else { format!(" <code>{summary}</code>") };
        self.details(&format!("{mark}<b>{}</b>{code} · {}", html_text(&call.name), html_text(&about)));
        let room = self.room(INPUT_BYTES_SHOWN, 0);
        if let Some(input) = call.shown_input(self.options.detail) {
            let language = if matches!(call.typed, Some(ToolInput::Bash(_))) { "console" } else { "" };
            self.fenced(&input, language, room);
        }
    }

    fn close_call(&mut self, _head: &Head<'_>, call: &ToolCall<'_>) {
        if let Some(outcome) = &call.outcome {
            self.outcome(outcome);
        }
        self.end_details();
    }

    fn result(&mut self, head: &Head<'_>, tool: &str, outcome: &Outcome) {
        self.speaker(head);
        self.details(&format!("Result {} · {}", html_text(&safe_line(tool)), html_text(&outcome.summary())));
        self.outcome(outcome);
        self.end_details();
    }

    fn open_agent(&mut self, agent: &Agent, entries: usize) {
        let about = agent
            .description
            .as_deref()
            .map(|text| format!(": {}", short_line(text, 120)))
            .unwrap_or_default();
        let state = if agent.is_complete { "" } else { ", not finished" };
        let name = html_text(&safe_line(&agent.name));
        self.details(&format!("Sub-agent <b>{name}</b>{} ({entries} entries{state})", html_text(&about)));
        self.depth += 1;
        self.speaker.clear();
    }

    fn close_agent(&mut self) {
        self.depth -= 1;
        self.end_details();
        self.speaker.clear();
    }

    fn open_branch(&mut self, branch: &Branch, number: usize, entries: usize) {
        self.details(&format!("Branch {number}, <b>{}</b> ({entries} entries)", branch.state.as_str()));
        self.depth += 1;
        self.speaker.clear();
    }

    fn close_branch(&mut self) {
        self.depth -= 1;
        self.end_details();
        self.speaker.clear();
    }
}

/// One line of text with all markup escaped.
fn heading(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in safe_line(text).chars() {
        if matches!(character, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '&' | '!') {
            out.push('\\');
        }
        out.push(character);
    }
    out
}
