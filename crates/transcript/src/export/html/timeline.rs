//! A timeline of a session: prompts, tool calls, sub-agents, and the size of the context.

use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::axis::Axis;
use super::escape::{escaped, text};
use crate::export::entry_part::duration;
use crate::export::metadata::SessionMetadata;
use crate::export::text::thousands;
use crate::session::{Agent, EntryRole, NodeId, Session};

const WIDTH: f64 = 760.0;
/// Space for the names of rows.
const LEFT: f64 = 78.0;
const RIGHT: f64 = WIDTH - 12.0;
const ROW: f64 = 22.0;
/// Rows for concurrent sub-agents; more sub-agents share rows.
const AGENT_ROWS_MAX: usize = 5;
/// More prompts than this are drawn without numbers, which would overlap.
const NUMBERS_MAX: usize = 40;
/// Maximum number of links and labels.
const MARKS_MAX: usize = 400;
/// Maximum number of points of the curve.
const CURVE_POINTS_MAX: usize = 500;
const CURVE_HEIGHT: f64 = 44.0;

/// Appends the timeline with its legend; nothing if there are no times to draw.
pub(super) fn push(
    session: &Session,
    path: &[NodeId],
    facts: &SessionMetadata,
    zone: &TimeZone,
    out: &mut String,
) {
    let own = path.iter().filter_map(|node| session.node(*node).at);
    let agents = spans(session);
    let times = own.chain(agents.iter().flat_map(|span| [span.first, span.last]));
    let Some(axis) = Axis::new(times.map(Timestamp::as_millisecond).collect(), LEFT, RIGHT) else { return };
    let mut picture = Timeline { axis, out: String::new(), y: 16.0, keys: Vec::new() };
    picture.prompts(facts);
    picture.tools(session, path);
    picture.agents(&agents);
    picture.context(facts);
    picture.errors(session, path);
    let height = picture.y + 22.0;
    picture.compactions(session, path, height - 20.0);
    picture.labels(zone, height);
    let gaps = picture.gaps(height - 20.0);
    let about = format!("Timeline of {} prompts and {} tool calls", facts.prompts, facts.tool_calls);
    let _ = write!(
        out,
        "<figure class=\"timeline\"><div class=\"scroll\"><svg viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"{about}\">{gaps}{}</svg></div><figcaption>",
        picture.out
    );
    for (class, name) in picture.keys {
        let _ = write!(out, "<span class=\"key k-{class}\"><i></i><span>{name}</span></span>");
    }
    out.push_str("</figcaption></figure>\n");
}

/// The running time of a sub-agent.
struct Span<'s> {
    agent: &'s Agent,
    first: Timestamp,
    last: Timestamp,
}

/// The sub-agents in order of their start.
fn spans(session: &Session) -> Vec<Span<'_>> {
    let mut spans = Vec::new();
    for lane in session.lanes() {
        let times = || lane.nodes.iter().filter_map(|node| session.node(*node).at);
        if let (Some(agent), Some(first), Some(last)) = (&lane.agent, times().min(), times().max()) {
            spans.push(Span { agent, first, last });
        }
    }
    spans.sort_by_key(|span| span.first);
    spans.truncate(MARKS_MAX);
    spans
}

struct Timeline {
    axis: Axis,
    out: String,
    /// Vertical centre of the next row.
    y: f64,
    keys: Vec<(&'static str, &'static str)>,
}

impl Timeline {
    fn row(&mut self, name: &str) -> f64 {
        let y = self.y;
        let _ = write!(
            self.out,
            "<path class=\"row\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/><text x=\"0\" y=\"{:.1}\">{name}</text>",
            y + 4.0
        );
        self.y += ROW;
        y
    }

    fn prompts(&mut self, facts: &SessionMetadata) {
        let y = self.row("Prompts");
        self.keys.push(("user", "prompt"));
        let step = facts.contents.len().div_ceil(MARKS_MAX).max(1);
        for (index, prompt) in facts.contents.iter().enumerate().step_by(step) {
            let Some(at) = prompt.at else { continue };
            let x = self.axis.place(at);
            let _ = write!(self.out, "<a href=\"#p{0}\"><title>{0}. ", index + 1);
            text(&prompt.text, &mut self.out);
            self.out.push_str("</title>");
            if facts.contents.len() <= NUMBERS_MAX {
                let _ = write!(
                    self.out,
                    "<circle class=\"user\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"8\"/><text class=\"n\" x=\"{x:.1}\" y=\"{:.1}\">{}</text></a>",
                    y + 3.4,
                    index + 1
                );
            } else {
                let _ = write!(self.out, "<circle class=\"user\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/></a>");
            }
        }
    }

    fn tools(&mut self, session: &Session, path: &[NodeId]) {
        let mut bars = Vec::new();
        for tool in path.iter().flat_map(|node| session.calls_of(*node)) {
            let Some(from) = tool.call.and_then(|call| session.node(call).at) else { continue };
            let to = tool.result.and_then(|result| session.node(result).at).unwrap_or(from);
            bars.push((self.axis.place(from), self.axis.place(to)));
        }
        if !bars.is_empty() {
            let y = self.row("Tools");
            self.keys.push(("tool", "tool call"));
            self.bars("tool", y, bars);
        }
    }

    /// Draws the bars of one row; bars that would touch are merged, so that thousands of calls make a short
    /// path.
    fn bars(&mut self, class: &str, y: f64, mut bars: Vec<(f64, f64)>) {
        bars.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut path = String::new();
        let mut open: Option<(f64, f64)> = None;
        let mut draw = |bar: Option<(f64, f64)>| {
            if let Some((from, to)) = bar {
                let _ = write!(path, "M{from:.1} {y:.1}h{:.1}", (to - from).max(1.5));
            }
        };
        for (from, to) in bars {
            match &mut open {
                Some((_, end)) if from <= *end + 0.7 => *end = end.max(to),
                _ => draw(open.replace((from, to))),
            }
        }
        draw(open);
        let _ = write!(self.out, "<path class=\"{class}\" d=\"{path}\"/>");
    }

    fn agents(&mut self, agents: &[Span<'_>]) {
        let mut ends: Vec<f64> = Vec::new();
        let top = self.y;
        let mut drawn = String::new();
        for Span { agent, first, last } in agents {
            let (from, to) = (self.axis.place(*first), self.axis.place(*last));
            let row =
                ends.iter().position(|end| *end + 2.0 < from).unwrap_or(ends.len()).min(AGENT_ROWS_MAX - 1);
            if row == ends.len() {
                ends.push(to);
            }
            ends[row] = ends[row].max(to);
            #[expect(clippy::cast_precision_loss, reason = "rows are few")]
            let y = top + row as f64 * ROW * 0.6 - 4.0;
            let width = (to - from).max(3.0);
            let _ = write!(
                drawn,
                "<rect class=\"agent\" x=\"{from:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"8\" rx=\"2\"><title>"
            );
            let about = agent.description.as_deref().unwrap_or("sub-agent");
            text(&format!("{}: {about} ({})", agent.name, duration(last.duration_since(*first))), &mut drawn);
            drawn.push_str("</title></rect>");
        }
        if ends.is_empty() {
            return;
        }
        self.row("Sub-agents");
        self.keys.push(("agent", "sub-agent"));
        self.out.push_str(&drawn);
        #[expect(clippy::cast_precision_loss, reason = "rows are few")]
        let more = (ends.len() - 1) as f64;
        self.y += more * ROW * 0.6;
    }

    /// Draws the context size.
    fn context(&mut self, facts: &SessionMetadata) {
        let Some(most) = facts.context.iter().map(|size| size.tokens).max().filter(|most| *most > 0) else {
            return;
        };
        if facts.context.len() < 2 {
            return;
        }
        self.keys.push(("context", "context size"));
        let (top, bottom) = (self.y - 4.0, self.y - 4.0 + CURVE_HEIGHT);
        let step = facts.context.len().div_ceil(CURVE_POINTS_MAX).max(1);
        let mut line = String::new();
        let mut ends = (LEFT, LEFT);
        for (index, size) in facts.context.iter().step_by(step).enumerate() {
            let x = self.axis.place(size.at);
            #[expect(clippy::cast_precision_loss, reason = "a pixel is far higher than what is lost")]
            let y = bottom - size.tokens as f64 / most as f64 * CURVE_HEIGHT;
            let _ = write!(line, "{}{x:.1} {y:.1}", if index == 0 { "M" } else { "L" });
            ends = (if index == 0 { x } else { ends.0 }, x);
        }
        let _ = write!(
            self.out,
            "<path class=\"area\" d=\"{line}L{:.1} {bottom:.1}L{:.1} {bottom:.1}Z\"/><path class=\"edge\" d=\"{line}\"/><text x=\"0\" y=\"{:.1}\">Context</text><text x=\"0\" y=\"{:.1}\">≤ {}</text>",
            ends.1,
            ends.0,
            top + CURVE_HEIGHT / 2.0 - 2.0,
            top + CURVE_HEIGHT / 2.0 + 12.0,
            tokens(most)
        );
        self.y += CURVE_HEIGHT + 6.0;
    }

    fn errors(&mut self, session: &Session, path: &[NodeId]) {
        let failed = path.iter().filter(|node| {
            let node = session.node(**node);
            node.part == EntryRole::Error || (node.part == EntryRole::ToolResult && node.is_error())
        });
        let places: Vec<f64> =
            failed.filter_map(|node| session.node(*node).at).map(|at| self.axis.place(at)).collect();
        if !places.is_empty() {
            let y = self.row("Errors");
            self.keys.push(("error", "error"));
            self.bars("error", y, places.into_iter().map(|place| (place - 1.5, place + 1.5)).collect());
        }
    }

    fn compactions(&mut self, session: &Session, path: &[NodeId], bottom: f64) {
        let mut any = false;
        for compaction in session.compactions().iter().take(MARKS_MAX) {
            let Some(at) = session.node(compaction.node).at.filter(|_| path.contains(&compaction.node))
            else {
                continue;
            };
            any = true;
            let x = self.axis.place(at);
            let about = escaped(&super::super::text::compaction_line(compaction));
            let _ = write!(
                self.out,
                "<path class=\"compact\" d=\"M{x:.1} 4V{bottom:.1}\"><title>{about}</title></path>"
            );
        }
        if any {
            self.keys.push(("compact", "compaction"));
        }
    }

    fn labels(&mut self, zone: &TimeZone, height: f64) {
        const COUNT: u8 = 5;
        let span = self.axis.time(RIGHT).duration_since(self.axis.time(LEFT));
        let form = if span.as_secs() < 600 { "%H:%M:%S" } else { "%H:%M" };
        let (mut day, mut last) = (String::new(), String::new());
        for index in 0..=COUNT {
            let x = LEFT + (RIGHT - LEFT) * f64::from(index) / f64::from(COUNT);
            let at = self.axis.time(x).to_zoned(zone.clone());
            let (date, time) = (at.strftime("%b %-d").to_string(), at.strftime(form).to_string());
            // The date is shown once, and again when it changes.
            let shown = if date == day { time } else { format!("{date}, {time}") };
            if shown != last {
                let anchor = match index {
                    0 => "start",
                    COUNT => "end",
                    _ => "middle",
                };
                let y = height - 4.0;
                let _ = write!(
                    self.out,
                    "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{shown}</text>"
                );
            }
            shown.rsplit(", ").next().unwrap_or_default().clone_into(&mut last);
            day = date;
        }
    }

    /// Bands over the pauses.
    fn gaps(&self, bottom: f64) -> String {
        let mut out = String::new();
        for (from, to, took) in self.axis.gaps.iter().take(MARKS_MAX) {
            let took = duration(jiff::SignedDuration::from_millis(*took));
            let _ = write!(
                out,
                "<rect class=\"gap\" x=\"{from:.1}\" y=\"2\" width=\"{:.1}\" height=\"{:.1}\"><title>{took} of pause</title></rect>",
                to - from,
                bottom - 2.0
            );
        }
        out
    }
}

/// `155k`, `1.2M`.
fn tokens(count: u64) -> String {
    match count {
        0..10_000 => thousands(count),
        10_000..1_000_000 => format!("{}k", count / 1000),
        _ => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}
