//! The compared ways to read a frame. Each splits the same buffer into lines itself.

use std::hint::black_box;

use memchr::memchr_iter;
use serde::de::IgnoredAny;
use serde_json::Value;
use tidings_protocol::FrameRef;
use tidings_protocol::json::{Raw, Text};
use tidings_protocol::messages::Message;
use tidings_protocol::view::{Block, DeltaView, EventView, View};

#[cfg(feature = "peers")]
use crate::peers::PEERS;

#[cfg(not(feature = "peers"))]
const PEERS: &[Row] = &[];

/// One way to read frames.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Name for the command line and for files.
    pub name: &'static str,
    /// Title for the table.
    pub title: &'static str,
    /// Reads every line of a buffer; returns the number of rejected lines.
    pub run: fn(&[u8]) -> usize,
}

/// Builds the tree; baseline of all comparisons.
pub const VALUE: &str = "value";
/// Ours, in place.
pub const BORROWED: &str = "borrowed";
/// Ours, as an owned value.
pub const OWNED: &str = "owned";
/// Checks the JSON and keeps nothing.
pub const IGNORED: &str = "ignored";

/// All rows except the peers, in the order of the table.
const BASE: &[Row] = &[
    Row::new("split", "line split (memchr)", |all| each(all, |_| true)),
    Row::new("utf8", "line split + simdutf8", |all| each(all, utf8)),
    Row::new(IGNORED, "serde_json IgnoredAny", |all| each(all, ignored)),
    Row::new(VALUE, "serde_json Value", |all| each(all, value)),
    Row::new("lazy", "sonic-rs LazyValue", |all| each(all, lazy)),
    Row::new(BORROWED, "tidings borrowed", |all| each(all, |line| borrowed(line, as_written))),
    Row::new("results", "tidings borrowed, results too", |all| each(all, |line| borrowed(line, decoded))),
    Row::new(OWNED, "tidings owned", |all| each(all, owned)),
];

impl Row {
    pub(crate) const fn new(name: &'static str, title: &'static str, run: fn(&[u8]) -> usize) -> Self {
        Row { name, title, run }
    }
}

/// Every row, in the order of the table.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    BASE.iter().chain(PEERS)
}

/// The row with this name.
pub fn row(name: &str) -> Option<&'static Row> {
    rows().find(|row| row.name == name)
}

/// Callgrind finds this function by its name, and counts from entry to return.
#[inline(never)]
pub fn counted(row: &Row, lines: &[u8]) -> usize {
    (row.run)(black_box(lines))
}

#[inline]
pub(crate) fn each(all: &[u8], mut take: impl FnMut(&[u8]) -> bool) -> usize {
    let (mut from, mut rejected) = (0, 0);
    for end in memchr_iter(b'\n', all) {
        let line = black_box(&all[from..end]);
        rejected += usize::from(!take(line));
        from = end + 1;
    }
    rejected
}

fn utf8(line: &[u8]) -> bool {
    simdutf8::basic::from_utf8(line).is_ok()
}

fn ignored(line: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(line).is_ok()
}

fn value(line: &[u8]) -> bool {
    serde_json::from_slice::<Value>(line).map(keep).is_ok()
}

fn lazy(line: &[u8]) -> bool {
    sonic_rs::from_slice::<sonic_rs::LazyValue<'_>>(line).map(keep).is_ok()
}

/// A frame of a known kind that could not be read counts as rejected, although its text is kept.
fn owned(line: &[u8]) -> bool {
    let Ok(frame) = FrameRef::decode(line) else {
        return false;
    };
    let message = black_box(frame.message());
    !matches!(&message, Message::Unknown(unknown) if unknown.reason.is_some())
}

/// Reads kind, session and unescaped text; tool name, input and usage as written; tool results through
/// `result`.
#[inline]
fn borrowed(line: &[u8], result: impl Fn(Option<Raw<'_>>)) -> bool {
    let Ok(frame) = FrameRef::decode(line) else {
        return false;
    };
    keep(frame.kind());
    keep(frame.session_id());
    match frame.view() {
        View::Assistant(said) | View::User(said) => {
            said.blocks().for_each(|own| block(own, &result));
            keep((said.message_id, said.model, said.usage));
        }
        View::StreamEvent(event) => stream_event(event, &result),
        View::Result(ended) => {
            keep(ended.result.map(Text::get));
            keep((ended.is_error, ended.usage, ended.total_cost_usd));
        }
        other => keep(other),
    }
    true
}

#[inline]
fn stream_event(event: EventView<'_>, result: &impl Fn(Option<Raw<'_>>)) {
    match event {
        EventView::BlockDelta { index, delta } => {
            keep(index);
            match delta {
                DeltaView::Text(text)
                | DeltaView::InputJson(text)
                | DeltaView::Thinking(text)
                | DeltaView::Signature(text) => {
                    keep(text.get());
                }
                other => keep(other),
            }
        }
        EventView::BlockStart { index, block: started } => {
            keep(index);
            block(started, result);
        }
        EventView::MessageStart { message } => keep(message.get("usage")),
        EventView::MessageDelta { delta, usage } => keep((delta, usage)),
        other => keep(other),
    }
}

#[inline]
fn block(block: Block<'_>, result: &impl Fn(Option<Raw<'_>>)) {
    match block {
        Block::Text(text) | Block::Thinking(text) => keep(text.get()),
        Block::ToolUse { id, name, input } => keep((id.get(), name.get(), input)),
        Block::ToolResult { tool_use_id, content, is_error } => {
            keep((tool_use_id.get(), is_error));
            result(content);
        }
        other => keep(other),
    }
}

fn as_written(content: Option<Raw<'_>>) {
    keep(content);
}

fn decoded(content: Option<Raw<'_>>) {
    keep(content.and_then(Raw::text).map(Text::get));
}

/// Keeps the compiler from removing an unused value.
#[inline]
fn keep<T>(value: T) {
    drop(black_box(value));
}
