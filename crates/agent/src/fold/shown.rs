//! What one lane has shown of its turn, so that nothing is shown twice and everything can be taken back.

use serde::{Deserialize, Serialize};
use tidings_protocol::ui::{RetractReason, Retracted, TextEnded, Thinking, TurnId, UiMessage};

use super::limits::{BLOCK_BYTES_MAX, BLOCKS_MAX, SHOWN_BYTES_MAX};
use super::out::Out;

/// The blocks of a turn in the order they were shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Shown {
    blocks: Vec<Block>,
    /// Bytes of all blocks.
    bytes: usize,
    /// The response that is being streamed.
    streaming: Option<Streaming>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Streaming {
    message_id: String,
    /// The API has said why the response ended, so that it is whole.
    is_whole: bool,
}

/// A block, or a part of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Block {
    kind: Kind,
    message_id: Option<String>,
    /// Which block of its response it is, as far as it was streamed.
    index: Option<u64>,
    /// The frame that had it whole.
    uuid: Option<String>,
    state: State,
    /// What was shown of it; the id of a call.
    text: String,
    /// Bytes that were shown and are not in `text` any more.
    forgotten: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    Text,
    Thinking,
    Call,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    /// More may come.
    Open,
    /// The stream says that it is whole.
    Streamed,
    /// A frame had it whole.
    Whole,
}

/// Whose words they are: which frame, which response, and which turn they are shown in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) message_id: Option<&'a str>,
    pub(super) uuid: Option<&'a str>,
    pub(super) turn_id: TurnId,
}

impl Shown {
    /// A new turn begins: what was shown stays.
    pub(super) fn clear(&mut self) {
        *self = Shown::default();
    }

    /// Whether nothing was shown in this turn yet.
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Whether anything of this kind was shown in this turn.
    pub(super) fn has(&self, kind: Kind) -> bool {
        self.blocks.iter().any(|block| block.kind == kind)
    }

    /// Whether a frame has been here before.
    pub(super) fn knows(&self, uuid: &str) -> bool {
        self.blocks.iter().rev().any(|block| block.uuid.as_deref() == Some(uuid))
    }

    /// The response that is being streamed.
    pub(super) fn message_id(&self) -> Option<&str> {
        self.streaming.as_ref().map(|streaming| streaming.message_id.as_str())
    }

    /// Whether text of a response was streamed that no frame has had whole yet.
    pub(super) fn is_streamed(&self, message_id: Option<&str>) -> bool {
        self.parts_streamed(Kind::Text, message_id).is_some()
    }

    /// A response begins to stream. What an unfinished one before it had shown is void.
    pub(super) fn begin(&mut self, message_id: &str, turn_id: TurnId, out: &mut Out<'_>) {
        self.give_up(turn_id, out);
        self.streaming = Some(Streaming { message_id: message_id.to_owned(), is_whole: false });
    }

    /// The API has said why the response ended.
    pub(super) fn complete(&mut self) {
        if let Some(streaming) = &mut self.streaming {
            streaming.is_whole = true;
        }
    }

    /// The stream of a response is over.
    pub(super) fn end(&mut self, turn_id: TurnId, out: &mut Out<'_>) {
        let Some(streaming) = self.streaming.take_if(|streaming| streaming.is_whole) else { return };
        for block in &mut self.blocks {
            if block.state == State::Open && block.message_id.as_deref() == Some(&streaming.message_id) {
                block.state = State::Streamed;
                if block.kind == Kind::Text {
                    out.push(TextEnded::new(out.handle, turn_id));
                }
            }
        }
    }

    /// The response that was being streamed broke off: takes back the blocks of which no frame came.
    pub(super) fn give_up(&mut self, turn_id: TurnId, out: &mut Out<'_>) {
        let Some(streaming) = self.streaming.take_if(|streaming| !streaming.is_whole) else { return };
        let lost = |block: &Block| {
            block.state == State::Open && block.message_id.as_deref() == Some(&streaming.message_id)
        };
        self.retract(lost, RetractReason::Retry, turn_id, out);
    }

    /// A block begins to stream.
    pub(super) fn start(&mut self, kind: Kind, index: u64, text: &str) {
        // Whoever comes in the middle of a response has not heard its name.
        let message_id = self.message_id().map(str::to_owned);
        self.add(Block {
            kind,
            message_id,
            index: Some(index),
            uuid: None,
            state: State::Open,
            text: text.to_owned(),
            forgotten: 0,
        });
    }

    /// A block goes on.
    #[inline]
    pub(super) fn grow(&mut self, kind: Kind, index: u64, more: &str) {
        match self.blocks.last_mut() {
            Some(last) if last.index == Some(index) && last.kind == kind && last.state == State::Open => {
                last.text.push_str(more);
                self.bytes += more.len();
                if last.text.len() > BLOCK_BYTES_MAX {
                    last.forgotten += last.text.len();
                    self.bytes -= last.text.len();
                    last.text = String::new();
                }
            }
            // The start was lost, or blocks stream by turns, which no API does yet.
            _ => self.start(kind, index, more),
        }
    }

    /// A frame has a block whole: shows what was not streamed, or takes back what was streamed wrongly.
    pub(super) fn finish(&mut self, kind: Kind, whole: &str, source: Source<'_>, out: &mut Out<'_>) {
        let Some(parts) = self.parts_streamed(kind, source.message_id) else {
            let block = Block {
                kind,
                message_id: source.message_id.map(str::to_owned),
                index: None,
                uuid: source.uuid.map(str::to_owned),
                state: State::Whole,
                text: whole.to_owned(),
                forgotten: 0,
            };
            self.add(block);
            show(kind, whole, source.turn_id, out);
            return end_text(kind, source.turn_id, out);
        };
        let was_open = parts.iter().any(|part| self.blocks[*part].state == State::Open);
        let same = self.same_bytes(&parts, whole);
        let streamed = parts.iter().map(|part| self.blocks[*part].len()).sum::<usize>();
        for part in &parts {
            self.blocks[*part].state = State::Whole;
            self.blocks[*part].uuid = source.uuid.map(str::to_owned);
        }
        let last = parts.last().copied().unwrap_or_default();
        let rest = whole.get(same..).unwrap_or_default();
        if same == streamed && (rest.is_empty() || !self.blocks[last + 1..].iter().any(|b| b.kind == kind)) {
            if !rest.is_empty() {
                self.blocks[last].text.push_str(rest);
                self.bytes += rest.len();
                show(kind, rest, source.turn_id, out);
            }
            if was_open || !rest.is_empty() {
                end_text(kind, source.turn_id, out);
            }
            return;
        }
        self.correct(&parts, same, whole, source.turn_id, out);
    }

    /// A call stands in a frame: whether it had been announced.
    pub(super) fn call(&mut self, tool_use_id: &str, source: Source<'_>) {
        let announced =
            self.blocks.iter_mut().rev().find(|block| block.kind == Kind::Call && block.text == tool_use_id);
        match announced {
            Some(block) => {
                block.state = State::Whole;
                block.uuid = source.uuid.map(str::to_owned);
            }
            None => self.add(Block {
                kind: Kind::Call,
                message_id: source.message_id.map(str::to_owned),
                index: None,
                uuid: source.uuid.map(str::to_owned),
                state: State::Whole,
                text: tool_use_id.to_owned(),
                forgotten: 0,
            }),
        }
    }

    /// The stream itself says which of its blocks are void.
    pub(super) fn abandon(&mut self, message_id: &str, from: u64, turn_id: TurnId, out: &mut Out<'_>) {
        let lost = |block: &Block| {
            block.state != State::Whole
                && block.message_id.as_deref() == Some(message_id)
                && block.index.is_some_and(|index| index >= from)
        };
        self.retract(lost, RetractReason::Retry, turn_id, out);
    }

    /// Takes back what came with these frames. Gives the calls that are void.
    pub(super) fn withdraw(
        &mut self,
        uuids: &[String],
        reason: RetractReason,
        turn_id: TurnId,
        out: &mut Out<'_>,
    ) -> Vec<String> {
        let named = |block: &Block| block.uuid.as_ref().is_some_and(|uuid| uuids.contains(uuid));
        self.retract(named, reason, turn_id, out)
    }

    /// Takes blocks back. A client can only cut off the end of what it shows, so that what stands behind a block that
    /// is taken back is cut off as well and shown again.
    fn retract(
        &mut self,
        lost: impl Fn(&Block) -> bool,
        reason: RetractReason,
        turn_id: TurnId,
        out: &mut Out<'_>,
    ) -> Vec<String> {
        let Some(first) = self.blocks.iter().position(&lost) else { return Vec::new() };
        let cut = self.blocks.split_off(first);
        let mut event = Retracted::new(out.handle, turn_id, reason);
        for block in &cut {
            self.bytes -= block.text.len();
            match block.kind {
                Kind::Text => event.text.push_str(&block.text),
                Kind::Thinking => event.thinking.push_str(&block.text),
                Kind::Call if lost(block) => event.tool_use_ids.push(block.text.clone()),
                Kind::Call => {}
            }
        }
        let calls = event.tool_use_ids.clone();
        if !(event.text.is_empty() && event.thinking.is_empty() && calls.is_empty()) {
            out.push(event);
        }
        for block in cut.into_iter().filter(|block| !lost(block)) {
            show(block.kind, &block.text, turn_id, out);
            end_text(block.kind, turn_id, out);
            self.add(block);
        }
        calls
    }

    /// What was streamed of a block differs from what it is.
    fn correct(&mut self, parts: &[usize], same: usize, whole: &str, turn_id: TurnId, out: &mut Out<'_>) {
        let Some((first, later)) = parts.split_first() else { return };
        let kind = self.blocks[*first].kind;
        let mut event = Retracted::new(out.handle, turn_id, RetractReason::Corrected);
        let mut again = String::new();
        let mut before = 0;
        for (at, block) in self.blocks.iter().enumerate().skip(*first) {
            if block.kind != kind {
                continue;
            }
            let taken = if at == *first || later.contains(&at) {
                let keep = same.saturating_sub(before).min(block.text.len());
                before += block.text.len();
                &block.text[keep..]
            } else {
                again.push_str(&block.text);
                &block.text
            };
            match kind {
                Kind::Thinking => event.thinking.push_str(taken),
                _ => event.text.push_str(taken),
            }
        }
        if !(event.text.is_empty() && event.thinking.is_empty()) {
            out.push(event);
        }
        show(kind, &whole[same..], turn_id, out);
        end_text(kind, turn_id, out);
        if !again.is_empty() {
            show(kind, &again, turn_id, out);
        }
        self.bytes -= self.blocks[*first].text.len();
        self.bytes += whole.len();
        whole.clone_into(&mut self.blocks[*first].text);
        for part in later {
            self.bytes -= self.blocks[*part].text.len();
            self.blocks[*part].text.clear();
        }
    }

    /// The parts of the first block of this kind and response of which no frame came yet.
    fn parts_streamed(&self, kind: Kind, message_id: Option<&str>) -> Option<Vec<usize>> {
        let message_id = message_id?;
        let streamed = |block: &&Block| {
            block.kind == kind
                && block.state != State::Whole
                && block.index.is_some()
                && block.message_id.as_deref().is_none_or(|streamed| streamed == message_id)
        };
        let index = self.blocks.iter().find(streamed)?.index;
        let parts =
            self.blocks.iter().enumerate().filter(|(_, block)| streamed(block) && block.index == index);
        Some(parts.map(|(at, _)| at).collect())
    }

    /// How many bytes the parts and the whole have in common, cut between two characters.
    fn same_bytes(&self, parts: &[usize], whole: &str) -> usize {
        let mut same = 0;
        for part in parts {
            let Block { text, forgotten, .. } = &self.blocks[*part];
            same += forgotten;
            let rest = whole.as_bytes().get(same..).unwrap_or_default();
            let equal = text.bytes().zip(rest).take_while(|(a, b)| a == *b).count();
            same += equal;
            if equal < text.len() {
                break;
            }
        }
        (0..=same.min(whole.len())).rev().find(|at| whole.is_char_boundary(*at)).unwrap_or_default()
    }

    fn add(&mut self, block: Block) {
        if self.blocks.len() >= BLOCKS_MAX || self.bytes + block.text.len() > SHOWN_BYTES_MAX {
            self.blocks.retain(|block| block.state == State::Open);
            self.bytes = self.blocks.iter().map(|block| block.text.len()).sum();
        }
        self.bytes += block.text.len();
        self.blocks.push(block);
    }
}

impl Block {
    fn len(&self) -> usize {
        self.forgotten + self.text.len()
    }
}

/// Shows text or reasoning.
#[inline]
pub(super) fn show(kind: Kind, text: &str, turn_id: TurnId, out: &mut Out<'_>) {
    if text.is_empty() {
        return;
    }
    let session_id = out.handle;
    match kind {
        Kind::Text => out.push(UiMessage::TextChunk { text: text.to_owned(), session_id, turn_id }),
        Kind::Thinking => out.push(Thinking::new(session_id, turn_id, text)),
        Kind::Call => {}
    }
}

fn end_text(kind: Kind, turn_id: TurnId, out: &mut Out<'_>) {
    if kind == Kind::Text {
        out.push(TextEnded::new(out.handle, turn_id));
    }
}
