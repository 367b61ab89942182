//! Blocks that a lane has shown in its turn, so that nothing is shown twice and everything can be retracted.

use serde::{Deserialize, Serialize};
use tidings_protocol::ui::{RetractReason, Retracted, TextEnded, Thinking, TurnId, UiMessage};

use super::limits::{BLOCK_BYTES_MAX, BLOCKS_MAX, SHOWN_BYTES_MAX};
use super::out::Out;

/// The blocks of a turn in the order in which they were shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ShownBlocks {
    blocks: Vec<Block>,
    /// Bytes of all blocks.
    bytes: usize,
    /// The response that is being streamed.
    streaming: Option<Streaming>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Streaming {
    message_id: String,
    /// True once the API has sent a stop reason: the response is complete.
    is_whole: bool,
}

/// A block, or a part of a block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Block {
    kind: BlockKind,
    message_id: Option<String>,
    /// Index of the block in its response, if it was streamed.
    index: Option<u64>,
    /// The frame that contained the complete block.
    uuid: Option<String>,
    state: BlockState,
    /// The text that was shown; for a call, its id.
    text: String,
    /// Bytes that were shown and are no longer in `text`.
    forgotten: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum BlockKind {
    Text,
    Thinking,
    Call,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum BlockState {
    /// More may come.
    Open,
    /// The stream has ended the block.
    Streamed,
    /// A frame contained the complete block.
    Whole,
}

/// Origin of a block: its response, its frame, and the turn in which it is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) message_id: Option<&'a str>,
    pub(super) uuid: Option<&'a str>,
    pub(super) turn_id: TurnId,
}

impl ShownBlocks {
    /// Forgets the blocks of the last turn; they stay shown.
    pub(super) fn clear(&mut self) {
        *self = ShownBlocks::default();
    }

    /// True if nothing was shown in this turn.
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// True if a block of this kind was shown in this turn.
    pub(super) fn has(&self, kind: BlockKind) -> bool {
        self.blocks.iter().any(|block| block.kind == kind)
    }

    /// True if a frame was processed before.
    pub(super) fn has_frame(&self, uuid: &str) -> bool {
        self.blocks.iter().rev().any(|block| block.uuid.as_deref() == Some(uuid))
    }

    /// The id of the response that is being streamed.
    pub(super) fn message_id(&self) -> Option<&str> {
        self.streaming.as_ref().map(|streaming| streaming.message_id.as_str())
    }

    /// True if text of a response was streamed whose complete block has not come.
    pub(super) fn is_streamed(&self, message_id: Option<&str>) -> bool {
        self.parts_streamed(BlockKind::Text, message_id).is_some()
    }

    /// Begins to stream a response. An unfinished one before it is void.
    pub(super) fn begin(&mut self, message_id: &str, turn_id: TurnId, out: &mut Out<'_>) {
        self.retract_unfinished(turn_id, out);
        self.streaming = Some(Streaming { message_id: message_id.to_owned(), is_whole: false });
    }

    /// Marks the response as complete: the API has sent a stop reason.
    pub(super) fn complete(&mut self) {
        if let Some(streaming) = &mut self.streaming {
            streaming.is_whole = true;
        }
    }

    /// Ends the stream of a response.
    pub(super) fn end(&mut self, turn_id: TurnId, out: &mut Out<'_>) {
        let Some(streaming) = self.streaming.take_if(|streaming| streaming.is_whole) else { return };
        for block in &mut self.blocks {
            if block.state == BlockState::Open && block.message_id.as_deref() == Some(&streaming.message_id) {
                block.state = BlockState::Streamed;
                if block.kind == BlockKind::Text {
                    out.push(TextEnded::new(out.handle, turn_id));
                }
            }
        }
    }

    /// Retracts the streamed blocks of an unfinished response that no frame has completed.
    pub(super) fn retract_unfinished(&mut self, turn_id: TurnId, out: &mut Out<'_>) {
        let Some(streaming) = self.streaming.take_if(|streaming| !streaming.is_whole) else { return };
        let lost = |block: &Block| {
            block.state == BlockState::Open && block.message_id.as_deref() == Some(&streaming.message_id)
        };
        self.retract(lost, RetractReason::Retry, turn_id, out);
    }

    /// Begins to stream a block.
    pub(super) fn start(&mut self, kind: BlockKind, index: u64, text: &str) {
        // Unknown if the subscription began in the middle of a response.
        let message_id = self.message_id().map(str::to_owned);
        self.add(Block {
            kind,
            message_id,
            index: Some(index),
            uuid: None,
            state: BlockState::Open,
            text: text.to_owned(),
            forgotten: 0,
        });
    }

    /// Appends a delta to a block.
    #[inline]
    pub(super) fn append(&mut self, kind: BlockKind, index: u64, more: &str) {
        match self.blocks.last_mut() {
            Some(last)
                if last.index == Some(index) && last.kind == kind && last.state == BlockState::Open =>
            {
                last.text.push_str(more);
                self.bytes += more.len();
                if last.text.len() > BLOCK_BYTES_MAX {
                    last.forgotten += last.text.len();
                    self.bytes -= last.text.len();
                    last.text = String::new();
                }
            }
            // The start was lost, or blocks are interleaved, which no API does yet.
            _ => self.start(kind, index, more),
        }
    }

    /// Compares a complete block with its streamed parts: shows the rest, or retracts text that was streamed
    /// wrongly.
    pub(super) fn complete_block(
        &mut self,
        kind: BlockKind,
        whole: &str,
        source: Source<'_>,
        out: &mut Out<'_>,
    ) {
        let Some(parts) = self.parts_streamed(kind, source.message_id) else {
            let block = Block {
                kind,
                message_id: source.message_id.map(str::to_owned),
                index: None,
                uuid: source.uuid.map(str::to_owned),
                state: BlockState::Whole,
                text: whole.to_owned(),
                forgotten: 0,
            };
            self.add(block);
            show(kind, whole, source.turn_id, out);
            return end_text(kind, source.turn_id, out);
        };
        let was_open = parts.iter().any(|part| self.blocks[*part].state == BlockState::Open);
        let same = self.same_bytes(&parts, whole);
        let streamed = parts.iter().map(|part| self.blocks[*part].len()).sum::<usize>();
        for part in &parts {
            self.blocks[*part].state = BlockState::Whole;
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

    /// Records a call from a frame, whether or not it was streamed before.
    pub(super) fn call(&mut self, tool_use_id: &str, source: Source<'_>) {
        let announced = self
            .blocks
            .iter_mut()
            .rev()
            .find(|block| block.kind == BlockKind::Call && block.text == tool_use_id);
        match announced {
            Some(block) => {
                block.state = BlockState::Whole;
                block.uuid = source.uuid.map(str::to_owned);
            }
            None => self.add(Block {
                kind: BlockKind::Call,
                message_id: source.message_id.map(str::to_owned),
                index: None,
                uuid: source.uuid.map(str::to_owned),
                state: BlockState::Whole,
                text: tool_use_id.to_owned(),
                forgotten: 0,
            }),
        }
    }

    /// Retracts the blocks that the stream itself declares void.
    pub(super) fn abandon(&mut self, message_id: &str, from: u64, turn_id: TurnId, out: &mut Out<'_>) {
        let lost = |block: &Block| {
            block.state != BlockState::Whole
                && block.message_id.as_deref() == Some(message_id)
                && block.index.is_some_and(|index| index >= from)
        };
        self.retract(lost, RetractReason::Retry, turn_id, out);
    }

    /// Retracts the blocks of these frames. Returns the calls that are void.
    pub(super) fn retract_frames(
        &mut self,
        uuids: &[String],
        reason: RetractReason,
        turn_id: TurnId,
        out: &mut Out<'_>,
    ) -> Vec<String> {
        let named = |block: &Block| block.uuid.as_ref().is_some_and(|uuid| uuids.contains(uuid));
        self.retract(named, reason, turn_id, out)
    }

    /// Retracts blocks. A client can only cut text off at the end, so blocks behind a retracted one are cut
    /// off as well and shown again.
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
                BlockKind::Text => event.text.push_str(&block.text),
                BlockKind::Thinking => event.thinking.push_str(&block.text),
                BlockKind::Call if lost(block) => event.tool_use_ids.push(block.text.clone()),
                BlockKind::Call => {}
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

    /// Replaces streamed text that differs from the complete block.
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
                BlockKind::Thinking => event.thinking.push_str(taken),
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

    /// The parts of the first streamed block of this kind and response that no frame has completed.
    fn parts_streamed(&self, kind: BlockKind, message_id: Option<&str>) -> Option<Vec<usize>> {
        let message_id = message_id?;
        let streamed = |block: &&Block| {
            block.kind == kind
                && block.state != BlockState::Whole
                && block.index.is_some()
                && block.message_id.as_deref().is_none_or(|streamed| streamed == message_id)
        };
        let index = self.blocks.iter().find(streamed)?.index;
        let parts =
            self.blocks.iter().enumerate().filter(|(_, block)| streamed(block) && block.index == index);
        Some(parts.map(|(at, _)| at).collect())
    }

    /// Length in bytes of the common prefix of the parts and the complete block, at a character boundary.
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
            self.blocks.retain(|block| block.state == BlockState::Open);
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

/// Emits text or reasoning.
#[inline]
pub(super) fn show(kind: BlockKind, text: &str, turn_id: TurnId, out: &mut Out<'_>) {
    if text.is_empty() {
        return;
    }
    let session_id = out.handle;
    match kind {
        BlockKind::Text => out.push(UiMessage::TextChunk { text: text.to_owned(), session_id, turn_id }),
        BlockKind::Thinking => out.push(Thinking::new(session_id, turn_id, text)),
        BlockKind::Call => {}
    }
}

fn end_text(kind: BlockKind, turn_id: TurnId, out: &mut Out<'_>) {
    if kind == BlockKind::Text {
        out.push(TextEnded::new(out.handle, turn_id));
    }
}
