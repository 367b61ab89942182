//! Markdown that arrives in deltas: finished blocks are rendered at once.

use std::mem;

use pulldown_cmark::Parser;

use super::super::line::Line;
use super::render::{PARTS, code_line, render};

/// Incremental renderer: takes deltas of text, and returns finished blocks.
///
/// A paragraph, a list or a table is finished once another block begins; a line of code at its line break.
/// [`MarkdownStream::tail`] renders the unfinished rest.
#[derive(Debug, Default)]
pub(in super::super) struct MarkdownStream {
    held: String,
    /// Length of the part of `held` that was searched without finding the end of a block.
    seen: usize,
    fence: Option<Fence>,
    began: bool,
}

/// An open code block.
#[derive(Debug)]
struct Fence {
    mark: char,
    length: usize,
}

/// Length after which an unfinished block is shown in parts.
const HELD_BYTES_MAX: usize = 32 << 10;

impl MarkdownStream {
    /// Adds text, and returns the blocks that are finished now.
    pub(in super::super) fn push(&mut self, text: &str, columns: usize) -> Vec<Line> {
        self.held.push_str(text);
        let mut lines = Vec::new();
        loop {
            let advanced = match self.fence {
                Some(_) => self.code(&mut lines),
                None => self.blocks(columns, &mut lines),
            };
            if !advanced {
                return lines;
            }
        }
    }

    /// Ends the text, and returns the rest. The next text starts over.
    pub(in super::super) fn finish(&mut self, columns: usize) -> Vec<Line> {
        let mut lines = self.push("\n", columns);
        let rest = mem::take(&mut self.held);
        if self.fence.is_none() {
            self.emit(&rest, columns, &mut lines);
        }
        *self = MarkdownStream::default();
        lines
    }

    /// Renders the unfinished rest as if it were finished.
    pub(in super::super) fn tail(&self, columns: usize) -> Vec<Line> {
        if self.held.trim().is_empty() {
            return Vec::new();
        }
        let mut lines = if self.began && self.fence.is_none() { vec![Line::new()] } else { Vec::new() };
        match self.fence {
            Some(_) => lines.push(code_line(self.held.trim_end_matches('\n'))),
            None => lines.extend(render(&self.held, columns)),
        }
        lines
    }

    /// Takes a complete line of an open code block; false if there is none.
    fn code(&mut self, lines: &mut Vec<Line>) -> bool {
        let Some(fence) = &self.fence else { return false };
        let Some(end) = self.held.find('\n') else { return false };
        let rest = self.held.split_off(end + 1);
        let line = mem::replace(&mut self.held, rest);
        let line = line.trim_end_matches(['\n', '\r']);
        if closes(line, fence) {
            self.fence = None;
            self.seen = 0;
        } else {
            lines.push(code_line(line));
        }
        true
    }

    /// Takes the blocks that another block follows; true if a code block begins.
    fn blocks(&mut self, columns: usize, lines: &mut Vec<Line>) -> bool {
        let whole = self.held.rfind('\n').map_or(0, |at| at + 1);
        if whole <= self.seen {
            return false;
        }
        self.seen = whole;
        let start = last_block(&self.held[..whole]);
        let first = self.held[start..whole].lines().next().unwrap_or_default();
        if let Some(fence) = opens(first) {
            let code = start + self.held[start..].find('\n').map_or(0, |at| at + 1);
            let rest = self.held.split_off(code);
            let before = mem::replace(&mut self.held, rest);
            self.emit(&before[..start], columns, lines);
            self.emit_gap(lines);
            self.fence = Some(fence);
            self.seen = 0;
            return true;
        }
        let end = if self.held.len() > HELD_BYTES_MAX { whole } else { start };
        if end > 0 {
            let rest = self.held.split_off(end);
            let before = mem::replace(&mut self.held, rest);
            self.emit(&before, columns, lines);
            self.seen = whole - end;
        }
        false
    }

    fn emit(&mut self, text: &str, columns: usize, lines: &mut Vec<Line>) {
        let rendered = render(text, columns);
        if !rendered.is_empty() {
            self.emit_gap(lines);
            lines.extend(rendered);
        }
    }

    fn emit_gap(&mut self, lines: &mut Vec<Line>) {
        if mem::replace(&mut self.began, true) {
            lines.push(Line::new());
        }
    }
}

/// Returns the start of the last block if it may continue, else the end of the text.
fn last_block(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut last = 0;
    let mut open = false;
    for (event, range) in Parser::new_ext(text, PARTS).into_offset_iter() {
        use pulldown_cmark::Event::{End, Start};
        match event {
            Start(tag) => {
                if depth == 0 {
                    last = range.start;
                    open = continues_after_blank_line(&tag) || !text.ends_with("\n\n");
                }
                depth += 1;
            }
            End(_) => depth = depth.saturating_sub(1),
            _ if depth == 0 => (last, open) = (range.start, false),
            _ => {}
        }
    }
    if open { line_start(text, last) } else { text.len() }
}

/// Returns the start of the line: a block may begin with spaces that its range excludes.
fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |at| at + 1)
}

fn continues_after_blank_line(tag: &pulldown_cmark::Tag<'_>) -> bool {
    use pulldown_cmark::Tag::{BlockQuote, CodeBlock, FootnoteDefinition, HtmlBlock, List};
    matches!(tag, List(_) | CodeBlock(_) | BlockQuote(_) | HtmlBlock | FootnoteDefinition(_))
}

/// Parses a line that opens a fence at the left margin.
fn opens(line: &str) -> Option<Fence> {
    let text = line.trim_start_matches(' ');
    if line.len() - text.len() > 3 {
        return None;
    }
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = text.chars().take_while(|c| *c == mark).count();
    let info = &text[length..];
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some(Fence { mark, length })
}

fn closes(line: &str, fence: &Fence) -> bool {
    opens(line).is_some_and(|close| {
        close.mark == fence.mark
            && close.length >= fence.length
            && line.trim().chars().all(|c| c == fence.mark)
    })
}
