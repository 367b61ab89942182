//! A session as one HTML file: no script, no external resources, readable on a phone, light and dark.

mod axis;
mod escape;
mod index;
mod markdown;
mod page;
mod timeline;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write;

use self::escape::{escaped, text};
pub use self::index::{IndexedSession, index_page};
use super::cut::{Cut, CutLimits, cut, size};
use super::diff::{Diff, DiffLine};
use super::entry_part::{EntryPart, Head, Outcome, Picture, ToolCall, duration};
use super::metadata::SessionMetadata;
use super::sanitize::short_line;
use super::source::ExportSource;
use super::text::{compaction_line, speaker, time};
use super::walk::{ExportWalk, Sink};
use super::{Detail, Options};
use crate::Error;
use crate::limits::{INPUT_BYTES_SHOWN, OUTPUT_HEAD_BYTES, OUTPUT_TAIL_BYTES, PICTURE_BYTES_MAX};
use crate::session::{Actor, Agent, Branch, EntryRole, NodeId};

/// Prompts over this many bytes are folded: users paste whole files.
const PROMPT_BYTES_OPEN: usize = 4000;

/// Writes the page.
pub(super) fn write(
    source: &mut ExportSource<'_>,
    options: &Options,
    path: &[NodeId],
    out: &mut dyn Write,
) -> Result<(), Error> {
    let facts = SessionMetadata::read(source, options, path)?;
    let anchors = facts.contents.iter().enumerate().map(|(index, prompt)| (prompt.node, index + 1)).collect();
    let mut sink =
        HtmlSink { out: String::new(), options, anchors, turn: None, levels: vec![Level::default()] };
    sink.begin(&facts);
    timeline::push(source.session, path, &facts, &options.zone, &mut sink.out);
    sink.contents(&facts);
    ExportWalk::new(source, options, &mut sink, out).main(path)?;
    sink.end(source.is_redacted());
    out.write_all(sink.out.as_bytes()).map_err(Error::export)
}

struct HtmlSink<'o> {
    out: String,
    options: &'o Options,
    /// Numbers of the prompts in the table of contents, also used in their anchors.
    anchors: HashMap<NodeId, usize>,
    /// The prompt of the open turn.
    turn: Option<NodeId>,
    /// The main line, and each open sub-agent and branch.
    levels: Vec<Level>,
}

/// A collapsible section.
#[derive(Clone, Copy)]
enum Fold {
    Tool,
    Failed,
    /// A call that started sub-agents.
    AgentCall,
    Agent,
    /// Thinking, long prompts, notes.
    Aside,
    Branch,
}

/// A conversation that is being written.
#[derive(Default)]
struct Level {
    /// The speaker; empty if no message is open.
    speaker: String,
}

impl HtmlSink<'_> {
    fn room(&self, head: usize, tail: usize) -> CutLimits {
        match self.options.detail {
            Detail::Folded => CutLimits { head, tail },
            Detail::Full => CutLimits::UNLIMITED,
        }
    }

    /// Begins a turn at a prompt of the main line.
    fn turn(&mut self, head: &Head<'_>) {
        let Some(number) = self.anchors.get(&head.node).filter(|_| self.turn != Some(head.node)) else {
            return;
        };
        let number = *number;
        self.close_speaker();
        self.close_turn();
        self.turn = Some(head.node);
        let _ = writeln!(self.out, "<section class=\"turn\" id=\"p{number}\">");
    }

    fn close_turn(&mut self) {
        if self.turn.take().is_some() {
            self.out.push_str("</section>\n");
        }
    }

    /// Writes the speaker, unless it is still the same.
    fn speaker(&mut self, head: &Head<'_>) {
        let speaker = speaker(head);
        if self.levels.last().is_some_and(|level| level.speaker == speaker) {
            return;
        }
        self.close_speaker();
        let class = match head.actor {
            _ if head.part == EntryRole::Error || matches!(head.actor, Actor::SystemError) => "failed",
            Actor::User | Actor::UserAs(_) | Actor::ClaudeAsUser => "user",
            Actor::Agent(_) => "agent",
            Actor::Assistant => "claude",
            Actor::ToolResult(_)
            | Actor::System
            | Actor::SystemCompact
            | Actor::SystemMetadata
            | Actor::SystemError
            | Actor::Unknown(_) => "system",
        };
        let _ = write!(self.out, "<div class=\"msg {class}\"><div class=\"who\"><span>");
        text(&head.actor.to_string(), &mut self.out);
        self.out.push_str("</span>");
        if let Some(at) = head.at {
            let _ = write!(self.out, "<time datetime=\"{at}\">{}</time>", time(at, &self.options.zone));
        }
        for (is_so, word) in [(head.is_deleted, "deleted"), (head.is_aborted, "cut short")] {
            if is_so {
                let _ = write!(self.out, "<span class=\"mark\">{word}</span>");
            }
        }
        self.out.push_str("</div>\n");
        if let Some(level) = self.levels.last_mut() {
            level.speaker = speaker;
        }
    }

    fn close_speaker(&mut self) {
        if let Some(level) = self.levels.last_mut()
            && !level.speaker.is_empty()
        {
            level.speaker.clear();
            self.out.push_str("</div>\n");
        }
    }

    fn markdown(&mut self, markdown: &str) {
        self.out.push_str("<div class=\"md\">");
        markdown::push(markdown, &mut self.out);
        self.out.push_str("</div>\n");
    }

    fn open_fold(&mut self, fold: Fold, summary: &str) {
        let (class, open) = match fold {
            Fold::Tool => ("", ""),
            Fold::Failed => ("bad", ""),
            Fold::AgentCall => ("sub", ""),
            // Sub-agents are open, since they are inside of a folded call.
            Fold::Agent => ("sub", " open"),
            Fold::Aside => ("plain", ""),
            Fold::Branch => ("left", ""),
        };
        let _ = writeln!(
            self.out,
            "<details class=\"fold {class}\"{open}><summary>{summary}</summary><div class=\"body\">"
        );
    }

    fn close_fold(&mut self) {
        self.out.push_str("</div></details>\n");
    }

    fn pre(&mut self, content: &str, room: CutLimits) {
        let Cut { head, missing_bytes, tail, .. } = cut(content, room);
        self.out.push_str("<pre>");
        // HTML parsers drop a line feed right after the tag.
        if head.starts_with('\n') {
            self.out.push('\n');
        }
        text(head, &mut self.out);
        if missing_bytes > 0 {
            let _ = write!(self.out, "<span class=\"cut\">… {}</span>", cut(content, room).note());
            text(tail, &mut self.out);
        }
        self.out.push_str("</pre>\n");
    }

    fn diff(&mut self, diff: &Diff) {
        let room = self.room(INPUT_BYTES_SHOWN, 0);
        self.out.push_str("<pre class=\"diff\">");
        let mut shown = 0;
        for (index, line) in diff.lines.iter().enumerate() {
            let (mark, content) = line.parts();
            if shown > room.head {
                let rest = diff.lines.len() - index;
                let _ = write!(self.out, "<span class=\"cut\">… {rest} lines not shown</span>");
                break;
            }
            shown += content.len();
            let (open, close) = match line {
                DiffLine::Hunk(_) => ("<span class=\"h\">", "</span>"),
                DiffLine::Same(_) => ("<span>", "</span>"),
                DiffLine::Added(_) => ("<ins>", "</ins>"),
                DiffLine::Removed(_) => ("<del>", "</del>"),
            };
            self.out.push_str(open);
            self.out.push_str(mark);
            // A single line may be a whole file.
            let part = cut(content, room);
            text(part.head, &mut self.out);
            if part.missing_bytes > 0 {
                let _ = write!(self.out, " … {}", part.note());
            }
            self.out.push_str(close);
        }
        self.out.push_str("</pre>\n");
    }

    fn outcome(&mut self, outcome: &Outcome) {
        if let Some(diff) = &outcome.diff {
            self.diff(diff);
        }
        if outcome.shows_text(self.options.detail) {
            let room = self.room(OUTPUT_HEAD_BYTES, OUTPUT_TAIL_BYTES);
            self.out.push_str(if outcome.is_error {
                "<p class=\"label\">Error</p>"
            } else {
                "<p class=\"label\">Output</p>"
            });
            self.pre(outcome.text.trim_end(), room);
            if outcome.bytes > outcome.text.len() as u64 {
                let _ =
                    writeln!(self.out, "<p class=\"note\">The whole output has {}.</p>", size(outcome.bytes));
            }
        }
        for picture in &outcome.pictures {
            self.picture(picture);
        }
    }

    fn picture(&mut self, picture: &Picture) {
        let label = escaped(&picture.label());
        let is_known =
            matches!(picture.media.as_str(), "image/png" | "image/jpeg" | "image/gif" | "image/webp");
        let is_base64 =
            picture.data.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
        let fits = self.options.detail == Detail::Full || picture.data.len() <= PICTURE_BYTES_MAX;
        if is_known && is_base64 && fits && !picture.data.is_empty() {
            let _ = writeln!(
                self.out,
                "<img alt=\"{label}\" src=\"data:{};base64,{}\">",
                picture.media, picture.data
            );
        } else {
            let _ = writeln!(self.out, "<p class=\"picture\">{label}</p>");
        }
    }
}

impl Sink for HtmlSink<'_> {
    fn take(&mut self) -> &mut String {
        &mut self.out
    }

    fn piece(&mut self, head: &Head<'_>, piece: &EntryPart<'_>) {
        let full = self.options.detail == Detail::Full;
        if let EntryPart::Compaction(compaction) = piece {
            self.close_speaker();
            let _ = write!(self.out, "<div class=\"compaction\">");
            text(&compaction_line(compaction), &mut self.out);
            self.out.push_str("</div>\n");
            return;
        }
        self.turn(head);
        match piece {
            EntryPart::Text(content) if head.part == EntryRole::CompactSummary => {
                self.close_speaker();
                self.open_fold(Fold::Aside, "<span>Summary of the conversation so far</span>");
                self.markdown(content);
                self.close_fold();
                return;
            }
            _ => self.speaker(head),
        }
        match piece {
            EntryPart::Text(content)
                if head.part == EntryRole::Prompt && content.len() > PROMPT_BYTES_OPEN && !full =>
            {
                let about = escaped(&short_line(content, 160));
                self.open_fold(
                    Fold::Aside,
                    &format!(
                        "<span>{about} <span class=\"meta\">{}</span></span>",
                        size(content.len() as u64)
                    ),
                );
                self.markdown(content);
                self.close_fold();
            }
            EntryPart::Text(content) => self.markdown(content),
            EntryPart::Thinking(content) => {
                let about = escaped(&short_line(content, 110));
                self.open_fold(
                    Fold::Aside,
                    &format!("<span>Thinking</span><span class=\"about\">{about}</span>"),
                );
                self.markdown(content);
                self.close_fold();
            }
            EntryPart::Picture(picture) => self.picture(picture),
            EntryPart::Command(tags) => {
                if let Some(name) = &tags.name {
                    self.out.push_str("<div class=\"cmd\">");
                    text(&format!("{name} {}", tags.args.as_deref().unwrap_or_default()), &mut self.out);
                    self.out.push_str("</div>\n");
                }
                for output in
                    [&tags.stdout, &tags.stderr].into_iter().flatten().filter(|output| !output.is_empty())
                {
                    let room = self.room(OUTPUT_HEAD_BYTES, OUTPUT_TAIL_BYTES);
                    self.pre(output, room);
                }
            }
            EntryPart::Note { name, text: content } => {
                let name = escaped(name);
                if full && content.contains('\n') {
                    self.open_fold(
                        Fold::Aside,
                        &format!(
                            "<span>{name}</span><span class=\"meta\">{}</span>",
                            size(content.len() as u64)
                        ),
                    );
                    self.pre(content, CutLimits::UNLIMITED);
                    self.close_fold();
                } else {
                    let _ = writeln!(
                        self.out,
                        "<p class=\"note\">{name}: {}</p>",
                        escaped(&short_line(content, 400))
                    );
                }
            }
            EntryPart::Compaction(_) => {}
        }
    }

    fn open_call(&mut self, head: &Head<'_>, call: &ToolCall<'_>) {
        self.speaker(head);
        let mut meta = call.outcome.as_ref().map_or_else(|| "no result".to_owned(), Outcome::summary);
        if call.is_error() {
            "error".clone_into(&mut meta);
        }
        if let Some(took) = call.outcome.as_ref().and_then(|outcome| outcome.took) {
            let _ = write!(meta, " · {}", duration(took));
        }
        let summary = format!(
            "<b>{}</b> <code>{}</code><span class=\"meta\">{}</span>",
            escaped(&call.name),
            escaped(&call.summary),
            escaped(&meta)
        );
        let fold = match call {
            _ if call.is_error() => Fold::Failed,
            _ if call.agents.is_empty() => Fold::Tool,
            _ => Fold::AgentCall,
        };
        self.open_fold(fold, &summary);
        let room = self.room(INPUT_BYTES_SHOWN, 0);
        if let Some(input) = call.shown_input(self.options.detail) {
            self.pre(&input, room);
        }
    }

    fn close_call(&mut self, _head: &Head<'_>, call: &ToolCall<'_>) {
        if let Some(outcome) = &call.outcome {
            self.outcome(outcome);
        }
        self.close_fold();
    }

    fn result(&mut self, head: &Head<'_>, tool: &str, outcome: &Outcome) {
        self.speaker(head);
        let summary = format!(
            "<b>Result</b> <code>{}</code><span class=\"meta\">{}</span>",
            escaped(tool),
            escaped(&outcome.summary())
        );
        self.open_fold(if outcome.is_error { Fold::Failed } else { Fold::Tool }, &summary);
        self.outcome(outcome);
        self.close_fold();
    }

    fn open_agent(&mut self, agent: &Agent, entries: usize) {
        let about = agent.description.as_deref().unwrap_or_default();
        let state = if agent.is_complete { "" } else { ", not finished" };
        let summary = format!(
            "<b>Sub-agent {}</b><span class=\"about\">{}</span><span class=\"meta\">{entries} entries{state}</span>",
            escaped(&agent.name),
            escaped(about)
        );
        self.open_fold(Fold::Agent, &summary);
        self.levels.push(Level::default());
    }

    fn close_agent(&mut self) {
        self.close_speaker();
        self.levels.pop();
        self.close_fold();
    }

    fn open_branch(&mut self, branch: &Branch, number: usize, entries: usize) {
        self.close_speaker();
        let summary = format!(
            "<b>Branch {number}</b><span class=\"about\">{}</span><span class=\"meta\">{entries} entries</span>",
            branch.state.as_str()
        );
        self.open_fold(Fold::Branch, &summary);
        self.levels.push(Level::default());
    }

    fn close_branch(&mut self) {
        self.close_speaker();
        self.levels.pop();
        self.close_fold();
    }
}
