//! A session as text for a terminal.

use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::cut::{CutLimits, cut};
use super::entry_part::{EntryPart, Head, Outcome, ToolCall, duration};
use super::metadata::SessionMetadata;
use super::sanitize::{safe_line, safe_text, short_line};
use super::walk::Sink;
use super::{Detail, Options};
use crate::session::{Agent, Branch, Compaction, EntryRole};

/// Strings around parts of the text, such as terminal colours; empty by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    /// Before speakers and titles.
    pub bold: &'static str,
    /// Before secondary text.
    pub dim: &'static str,
    /// Before errors.
    pub error: &'static str,
    /// After each of them.
    pub plain: &'static str,
}

pub(super) struct TextSink<'o> {
    out: String,
    style: Style,
    options: &'o Options,
    indent: usize,
    /// The last speaker, so that a response in several entries has one heading.
    speaker: String,
}

/// Number of characters of an output or input on the line of its call.
const LINE_CHARS: usize = 100;

impl<'o> TextSink<'o> {
    pub(super) fn new(style: Style, options: &'o Options, facts: &SessionMetadata) -> Self {
        let mut sink = TextSink { out: String::new(), style, options, indent: 0, speaker: String::new() };
        let Style { bold, dim, plain, .. } = style;
        sink.line(&format!("{bold}{}{plain}", facts.title));
        for line in header(facts, &options.zone) {
            sink.line(&format!("{dim}{line}{plain}"));
        }
        sink
    }

    fn line(&mut self, line: &str) {
        if !line.is_empty() {
            for _ in 0..self.indent {
                self.out.push_str("  ");
            }
        }
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn lines(&mut self, text: &str, before: &str) {
        for line in safe_text(text).trim_end().lines() {
            self.line(&format!("{before}{line}"));
        }
    }

    /// Writes the speaker, unless it is still the same.
    fn speaker(&mut self, head: &Head<'_>) {
        let Style { bold, dim, error, plain } = self.style;
        let speaker = speaker(head);
        if speaker == self.speaker {
            return;
        }
        self.speaker = speaker;
        let time =
            head.at.map(|at| format!("  {dim}{}{plain}", time(at, &self.options.zone))).unwrap_or_default();
        let marks = if head.is_deleted { " (deleted)" } else { "" };
        let style = if head.is_error { error } else { bold };
        self.line("");
        self.line(&format!("{style}{}{marks}{plain}{time}", safe_line(&head.actor.to_string())));
    }

    fn compaction(&mut self, compaction: &Compaction) {
        let Style { dim, plain, .. } = self.style;
        self.line("");
        self.line(&format!("{dim}──── {} ────{plain}", compaction_line(compaction)));
        self.speaker.clear();
    }

    fn outcome(&mut self, outcome: &Outcome) {
        if let Some(diff) = &outcome.diff {
            for line in &diff.lines {
                let (mark, text) = line.parts();
                self.lines(&format!("{mark}{text}"), "  │ ");
            }
        }
        if outcome.shows_text(self.options.detail) {
            self.lines(&outcome.text, "  │ ");
        }
        if outcome.bytes > outcome.text.len() as u64 {
            self.line(&format!(
                "  │ … {} not shown",
                super::cut::size(outcome.bytes - outcome.text.len() as u64)
            ));
        }
    }
}

impl Sink for TextSink<'_> {
    fn take(&mut self) -> &mut String {
        &mut self.out
    }

    fn mark(&mut self, note: &str) {
        let Style { bold, plain, .. } = self.style;
        self.line("");
        self.line(&format!("{bold}{}{plain}", safe_line(note)));
        self.speaker.clear();
    }

    fn piece(&mut self, head: &Head<'_>, piece: &EntryPart<'_>) {
        let Style { bold, dim, error, plain } = self.style;
        let full = self.options.detail == Detail::Full;
        match piece {
            EntryPart::Compaction(compaction) => self.compaction(compaction),
            EntryPart::Text(text) if head.part == EntryRole::CompactSummary && !full => {
                self.line(&format!("{dim}{}{plain}", short_line(text, LINE_CHARS)));
            }
            EntryPart::Text(text) => {
                self.speaker(head);
                self.lines(text, "");
                if head.is_aborted {
                    self.line(&format!("{error}(cut short){plain}"));
                }
            }
            EntryPart::Thinking(text) => {
                self.speaker(head);
                if full {
                    self.line(&format!("{dim}thinking{plain}"));
                    self.lines(text, "  │ ");
                } else {
                    self.line(&format!("{dim}thinking: {}{plain}", short_line(text, LINE_CHARS)));
                }
            }
            EntryPart::Picture(picture) => {
                self.speaker(head);
                self.line(&picture.label());
            }
            EntryPart::Command(tags) => {
                self.speaker(head);
                if let Some(name) = &tags.name {
                    let args = tags.args.as_deref().unwrap_or_default();
                    self.line(&format!("{bold}{}{plain}", safe_line(&format!("{name} {args}"))));
                }
                for text in [&tags.stdout, &tags.stderr].into_iter().flatten() {
                    self.lines(text, "  ");
                }
            }
            EntryPart::Note { name, text } => {
                let name = safe_line(name);
                if full && text.contains('\n') {
                    self.line(&format!("{dim}[{name}]{plain}"));
                    self.lines(text, "  │ ");
                } else {
                    self.line(&format!("{dim}[{name}] {}{plain}", short_line(text, 2 * LINE_CHARS)));
                }
            }
        }
    }

    fn open_call(&mut self, head: &Head<'_>, call: &ToolCall<'_>) {
        self.speaker(head);
        let Style { bold, dim, error, plain } = self.style;
        let full = self.options.detail == Detail::Full;
        let mark = if call.is_error() { format!("{error}✗") } else { format!("{bold}•") };
        let mut line = format!("{mark} {}{plain} {}", call.name, call.summary);
        match &call.outcome {
            None => {
                let _ = write!(line, " {dim}→ no result{plain}");
            }
            Some(outcome) if !full => {
                let took = outcome.took.map(|took| format!(" in {}", duration(took))).unwrap_or_default();
                let text = outcome.text.trim();
                let shown = if outcome.is_error {
                    format!("{error}error: {}{plain}", short_line(text, LINE_CHARS))
                } else if outcome.diff.is_none()
                    && !text.is_empty()
                    && !text.contains('\n')
                    && text.len() <= LINE_CHARS
                {
                    format!("{dim}{}{plain}", safe_line(text))
                } else {
                    format!("{dim}{}{plain}", outcome.summary())
                };
                let _ = write!(line, " {dim}→{plain} {shown}{dim}{took}{plain}");
            }
            Some(_) => {}
        }
        self.line(&line);
        if let Some(input) = call.shown_input(self.options.detail).filter(|_| full) {
            self.lines(&input, "  ");
        }
        self.indent += 2;
    }

    fn close_call(&mut self, _head: &Head<'_>, call: &ToolCall<'_>) {
        self.indent -= 2;
        let Style { dim, error, plain, .. } = self.style;
        if let Some(outcome) = call.outcome.as_ref().filter(|_| self.options.detail == Detail::Full) {
            let style = if outcome.is_error { error } else { dim };
            let took = outcome.took.map(|took| format!(" in {}", duration(took))).unwrap_or_default();
            let word = if outcome.is_error { "error, " } else { "" };
            self.line(&format!("  {style}→ {word}{}{took}{plain}", outcome.summary()));
            self.outcome(outcome);
        }
    }

    fn result(&mut self, head: &Head<'_>, tool: &str, outcome: &Outcome) {
        self.speaker(head);
        let room = match self.options.detail {
            Detail::Folded => CutLimits { head: LINE_CHARS, tail: 0 },
            Detail::Full => CutLimits::UNLIMITED,
        };
        let cut = cut(&outcome.text, room);
        let more = if cut.missing_bytes > 0 { format!(" … {}", cut.note()) } else { String::new() };
        self.lines(&format!("{} {}{more}", safe_line(tool), cut.head), "  ");
    }

    fn open_agent(&mut self, agent: &Agent, entries: usize) {
        let Style { bold, dim, plain, .. } = self.style;
        let name = safe_line(&agent.name);
        let about = agent
            .description
            .as_deref()
            .map(|text| format!(": {}", short_line(text, LINE_CHARS)))
            .unwrap_or_default();
        let state = if agent.is_complete { "" } else { ", not finished" };
        self.line(&format!("{bold}┌ Sub-agent {name}{plain}{about} {dim}({entries} entries{state}){plain}"));
        self.indent += 2;
        self.speaker.clear();
    }

    fn close_agent(&mut self) {
        self.indent -= 2;
        self.line("└");
        self.speaker.clear();
    }

    fn open_branch(&mut self, branch: &Branch, number: usize, entries: usize) {
        let Style { bold, dim, plain, .. } = self.style;
        self.line("");
        self.line(&format!(
            "{bold}┌ Branch {number}, {}{plain} {dim}({entries} entries){plain}",
            branch.state.as_str()
        ));
        self.indent += 2;
        self.speaker.clear();
    }

    fn close_branch(&mut self) {
        self.indent -= 2;
        self.line("└");
        self.speaker.clear();
    }
}

/// A key of the speaker that is equal only if no heading is needed in between: entries of a response share
/// one heading, and each prompt has its own.
pub(super) fn speaker(head: &Head<'_>) -> String {
    let node = matches!(head.part, EntryRole::Prompt | EntryRole::Command).then(|| head.node.index());
    format!("{}/{}/{}/{node:?}", head.lane.index(), head.actor, head.part == EntryRole::Error)
}

/// The lines below the title of an export.
pub(super) fn header(facts: &SessionMetadata, zone: &TimeZone) -> Vec<String> {
    let mut lines = vec![facts.id.clone()];
    let place: Vec<&str> =
        [facts.project.as_deref(), facts.git_branch.as_deref()].into_iter().flatten().collect();
    let models = facts.models.join(", ");
    lines.push(
        [place.join(" @ "), models]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(" · "),
    );
    if let (Some(first), Some(last)) = (facts.first, facts.last) {
        let took = duration(last.duration_since(first));
        lines.push(format!("{} ({took})", period(first, last, zone)));
    }
    lines.push(counts(facts));
    lines.retain(|line| !line.is_empty());
    lines
}

/// `3 prompts · 12 tool calls, 1 error · 1 sub-agent`.
pub(super) fn counts(facts: &SessionMetadata) -> String {
    let counted = [
        (facts.prompts, "prompt", "prompts"),
        (facts.responses, "response", "responses"),
        (facts.tool_calls, "tool call", "tool calls"),
        (facts.errors, "error", "errors"),
        (facts.subagents, "sub-agent", "sub-agents"),
        (if facts.branches > 1 { facts.branches } else { 0 }, "branch", "branches"),
        (facts.hidden_entries, "entry of other branches not shown", "entries of other branches not shown"),
        (facts.compactions, "compaction", "compactions"),
        (usize::try_from(facts.damaged).unwrap_or(usize::MAX), "damaged line", "damaged lines"),
    ];
    let parts: Vec<String> = counted
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }))
        .collect();
    parts.join(" · ")
}

/// `Compacted (manual): 155,000 → 12,000 tokens`.
pub(super) fn compaction_line(compaction: &Compaction) -> String {
    let mut line = "Compacted".to_owned();
    if let Some(trigger) = compaction.trigger {
        let _ = write!(line, " ({})", trigger.as_str());
    }
    let (before, after, unit) = match (compaction.pre_tokens, compaction.total_messages) {
        (None, Some(total)) => (Some(total), compaction.preserved_messages, "messages"),
        (tokens, _) => (tokens, compaction.post_tokens, "tokens"),
    };
    let _ = match (before, after) {
        (Some(before), Some(after)) => write!(line, ": {} → {} {unit}", thousands(before), thousands(after)),
        (Some(before), None) => write!(line, ": {} {unit} before", thousands(before)),
        _ => Ok(()),
    };
    line
}

/// `155,000`.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `10:05:31`.
pub(super) fn time(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%H:%M:%S").to_string()
}

/// `2026-11-14 10:05 – 11:30`; the second date is written only if it differs.
pub(super) fn period(first: Timestamp, last: Timestamp, zone: &TimeZone) -> String {
    let (begin, end) = (date_time(first, zone), date_time(last, zone));
    match (begin.split_once(' '), end.split_once(' ')) {
        (Some((day, _)), Some((same, time))) if day == same => format!("{begin} – {time}"),
        _ => format!("{begin} – {end}"),
    }
}

/// `2026-11-14 10:05`.
pub(super) fn date_time(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string()
}
