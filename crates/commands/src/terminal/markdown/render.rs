//! Markdown as lines for the terminal.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::super::line::Line;
use super::super::style::Style;
use super::table::MarkdownTable;

/// Markdown extensions that are supported.
pub(super) const PARTS: Options =
    Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TASKLISTS);

/// Renders Markdown as lines of at most `columns`; lines of code are not wrapped.
pub(in super::super) fn render(text: &str, columns: usize) -> Vec<Line> {
    let mut page = Page::new(columns);
    for event in Parser::new_ext(text, PARTS) {
        page.event(event);
    }
    page.flush();
    while page.lines.last().is_some_and(Line::is_empty) {
        page.lines.pop();
    }
    page.lines
}

/// Renders a line of a code block.
pub(super) fn code_line(text: &str) -> Line {
    Line::styled(text, Style::CYAN).indented(CODE_INDENT)
}

const CODE_INDENT: usize = 4;

/// Maximum indent levels of lists and quotes, so that hostile nesting leaves room for text.
const DEPTH_MAX: usize = 8;

struct Page {
    columns: usize,
    lines: Vec<Line>,
    current: Line,
    styles: Vec<Style>,
    /// Number of the next item of each open list; none for bullets.
    lists: Vec<Option<u64>>,
    quotes: usize,
    /// Bullet or number at the start of the next line.
    marker: Option<String>,
    link: Option<String>,
    link_text: String,
    code: bool,
    table: Option<MarkdownTable>,
}

impl Page {
    fn new(columns: usize) -> Self {
        Page {
            columns,
            lines: Vec::new(),
            current: Line::new(),
            styles: Vec::new(),
            lists: Vec::new(),
            quotes: 0,
            marker: None,
            link: None,
            link_text: String::new(),
            code: false,
            table: None,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.code => self.code(&text),
            Event::Text(text) => self.text(&text, Style::PLAIN),
            Event::Code(text) => self.text(&text, Style::CYAN),
            Event::Html(text) | Event::InlineHtml(text) => self.text(text.trim_end_matches('\n'), Style::DIM),
            Event::SoftBreak => self.text(" ", Style::PLAIN),
            Event::HardBreak => self.flush(),
            Event::Rule => {
                self.gap();
                let rule = Line::styled(&"─".repeat(self.columns.min(40)), Style::DIM);
                self.lines.push(rule);
            }
            Event::TaskListMarker(done) => self.text(if done { "☑ " } else { "☐ " }, Style::PLAIN),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.gap(),
            Tag::Heading { level, .. } => {
                self.gap();
                let underline = if level == HeadingLevel::H1 { Style::UNDERLINE } else { Style::PLAIN };
                self.styles.push(Style::BOLD.and(underline));
            }
            Tag::BlockQuote(_) => {
                self.gap();
                self.quotes += 1;
            }
            Tag::CodeBlock(_) => {
                self.gap();
                self.code = true;
            }
            Tag::List(first) => {
                if self.lists.is_empty() {
                    self.gap();
                } else {
                    self.flush();
                }
                self.lists.push(first);
            }
            Tag::Item => {
                self.flush();
                self.lone_marker();
                let marker = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let marker = format!("{number}. ");
                        *number = number.saturating_add(1);
                        marker
                    }
                    _ => "• ".to_owned(),
                };
                self.marker = Some(marker);
            }
            Tag::Emphasis => self.styles.push(Style::ITALIC),
            Tag::Strong => self.styles.push(Style::BOLD),
            Tag::Strikethrough => self.styles.push(Style::STRIKE),
            Tag::Link { dest_url, .. } => {
                self.link = Some(dest_url.into_string());
                self.link_text.clear();
                self.styles.push(Style::UNDERLINE);
            }
            Tag::Image { dest_url, .. } => {
                self.text("image: ", Style::DIM);
                self.link = Some(dest_url.into_string());
                self.link_text.clear();
            }
            Tag::Table(sides) => {
                self.gap();
                self.table = Some(MarkdownTable::new(sides));
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.row();
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.flush(),
            TagEnd::Item => {
                self.flush();
                self.lone_marker();
            }
            TagEnd::Heading(_) => {
                self.flush();
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.quotes = self.quotes.saturating_sub(1);
            }
            TagEnd::CodeBlock => self.code = false,
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link => {
                self.styles.pop();
                self.target();
            }
            TagEnd::Image => self.target(),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.current);
                if let Some(table) = &mut self.table {
                    table.cell(cell);
                }
            }
            TagEnd::Table => {
                let lines = self.table.take().map(|table| table.lines(self.columns)).unwrap_or_default();
                self.lines.extend(lines);
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, style: Style) {
        if self.link.is_some() {
            self.link_text.push_str(text);
        }
        let style = self.styles.iter().fold(style, |all, style| all.and(*style));
        self.current.push(text, style);
    }

    /// Adds the target of a link, unless its text is the same.
    fn target(&mut self) {
        let Some(target) = self.link.take() else { return };
        if target != self.link_text && target != format!("mailto:{}", self.link_text) && !target.is_empty() {
            self.current.push(&format!(" ({target})"), Style::DIM);
        }
    }

    fn code(&mut self, text: &str) {
        let indent = self.indent();
        for line in text.trim_end_matches('\n').split('\n') {
            self.lines.push(code_line(line).indented(indent));
        }
    }

    /// Adds an empty line between blocks, except inside lists.
    fn gap(&mut self) {
        self.flush();
        if self.lists.is_empty() && self.quotes == 0 && !self.lines.is_empty() {
            self.lines.push(Line::new());
        } else if self.quotes > 0
            && self.lines.last().is_some_and(|line| !line.is_empty() && line.text().starts_with('│'))
        {
            self.lines.push(Line::styled("│", Style::DIM));
        }
    }

    fn indent(&self) -> usize {
        self.lists.len().saturating_sub(1).min(DEPTH_MAX) * 2 + if self.lists.is_empty() { 0 } else { 2 }
    }

    /// Adds the bullet of an empty item.
    fn lone_marker(&mut self) {
        if let Some(marker) = self.marker.take() {
            let indent = self.indent().saturating_sub(2);
            self.lines.push(Line::plain(marker.trim_end()).indented(indent));
        }
    }

    /// Ends the current line. A bullet is added to the first line of its item.
    fn flush(&mut self) {
        if self.current.is_empty() {
            return;
        }
        let bars = "│ ".repeat(self.quotes.min(DEPTH_MAX));
        let marker = self.marker.take();
        let lead = match &marker {
            Some(marker) => format!("{}{marker}", " ".repeat(self.indent().saturating_sub(2))),
            None => " ".repeat(self.indent()),
        };
        let text = std::mem::take(&mut self.current);
        let hang = crate::human::width(&lead);
        let room = self.columns.saturating_sub(bars.chars().count());
        let mut line = Line::plain(&lead);
        line.extend(text);
        for part in line.wrap(room, hang) {
            let mut quoted = Line::styled(&bars, Style::DIM);
            quoted.extend(part);
            self.lines.push(quoted);
        }
    }
}
