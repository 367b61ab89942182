//! Stream events: deltas of a response.

use tidings_protocol::FrameRef;
use tidings_protocol::json::Raw;
use tidings_protocol::ui::{Thinking, ToolPreparing, TurnId, UiMessage};
use tidings_protocol::view::{Block, DeltaView as Delta, EventView as Event, View};

use super::out::Out;
use super::read::Members;
use super::shown::{BlockKind, ShownBlocks, show};
use super::tokens::Tokens;
use super::{Fold, State};

impl Fold {
    pub(super) fn stream_event(&mut self, frame: &FrameRef<'_>, out: &mut Out<'_>) {
        let View::StreamEvent(event) = frame.view() else { return };
        if let Event::BlockDelta { index, delta } = event {
            return self.delta(index, delta, out);
        }
        if out.agent.is_none() {
            self.begin_turn(out);
        } else {
            self.register_agent(frame, out);
        }
        self.note_session(frame, out);
        let turn_id = self.lane_turn(out.agent);
        match event {
            Event::MessageStart { message } => {
                self.note_started_prompts(frame);
                let id = message.string("id").unwrap_or_default();
                let (shown, tokens) = self.lane(out.agent);
                shown.begin(&id, turn_id, out);
                if let Some(usage) = message.member("usage") {
                    tokens.response(Some(&id), message.string("model").as_deref(), usage, out);
                }
            }
            Event::BlockStart { index, block } => self.block_start(index, block, out),
            Event::MessageDelta { delta, usage } => {
                let (shown, tokens) = self.lane(out.agent);
                if delta.member("stop_reason").is_some() {
                    shown.complete();
                }
                if let Some(usage) = usage.filter(|usage| usage.is_object()) {
                    tokens.more(usage, out);
                }
            }
            Event::MessageStop => {
                let (shown, _) = self.lane(out.agent);
                if let Some(abandoned) = frame.member("abandoned_blocks") {
                    let id =
                        abandoned.string("api_message_id").or_else(|| shown.message_id().map(str::to_owned));
                    let from = abandoned.count("from_block_index").unwrap_or_default();
                    shown.abandon(&id.unwrap_or_default(), from, turn_id, out);
                }
                shown.end(turn_id, out);
            }
            Event::Other(Some(event)) if event.string("type").as_deref() == Some("error") => {
                let error = event.member("error").and_then(|error| error.string("message"));
                out.system(error.unwrap_or_else(|| "The stream broke off".to_owned()));
            }
            // The end of a block adds nothing to its frame, and pings carry no information.
            _ => {}
        }
    }

    #[inline]
    fn delta(&mut self, index: u64, delta: Delta<'_>, out: &mut Out<'_>) {
        let (kind, raw_text) = match delta {
            Delta::Text(raw_text) => (BlockKind::Text, raw_text),
            Delta::Thinking(raw_text) => (BlockKind::Thinking, raw_text),
            // A call is shown when its input is complete; signatures and citations are not shown.
            _ => return,
        };
        if out.agent.is_none() && self.state.turns.open.is_none() {
            self.begin_turn(out);
        }
        let turn_id = self.lane_turn(out.agent);
        let text = raw_text.get().into_owned();
        if text.is_empty() {
            return;
        }
        let (shown, _) = self.lane(out.agent);
        shown.append(kind, index, &text);
        let watched = (kind == BlockKind::Text && self.options.text_progress).then(|| text.clone());
        let session_id = out.handle;
        match kind {
            BlockKind::Thinking => out.push(Thinking::new(session_id, turn_id, text)),
            _ => out.push(UiMessage::TextChunk { text, session_id, turn_id }),
        }
        if let Some(text) = watched {
            self.detect_progress(&text, out);
        }
    }

    fn block_start(&mut self, index: u64, block: Block<'_>, out: &mut Out<'_>) {
        let turn_id = self.lane_turn(out.agent);
        let (shown, _) = self.lane(out.agent);
        match block {
            Block::Text(text) => {
                let text = text.get();
                shown.start(BlockKind::Text, index, &text);
                show(BlockKind::Text, &text, turn_id, out);
            }
            Block::Thinking(text) => {
                let text = text.get();
                shown.start(BlockKind::Thinking, index, &text);
                show(BlockKind::Thinking, &text, turn_id, out);
            }
            Block::ToolUse { id, name, .. } => {
                shown.start(BlockKind::Call, index, &id.get());
                out.push(ToolPreparing::new(out.handle, id.get(), name.get()));
            }
            Block::Other(raw) if raw.string("type").as_deref() == Some("server_tool_use") => {
                if let (Some(id), Some(name)) = (raw.string("id"), raw.string("name")) {
                    shown.start(BlockKind::Call, index, &id);
                    out.push(ToolPreparing::new(out.handle, id, name));
                }
            }
            _ => {}
        }
    }

    /// The state of a lane: of a registered sub-agent, or of the main conversation.
    #[inline]
    pub(super) fn lane(&mut self, agent: Option<&str>) -> (&mut ShownBlocks, &mut Tokens) {
        let State { agents, shown, tokens, .. } = &mut self.state;
        match agent.and_then(|id| agents.get_mut(id)) {
            Some(agent) => (&mut agent.shown, &mut agent.tokens),
            None => (shown, tokens),
        }
    }

    /// The turn in which a lane shows its events.
    #[inline]
    pub(super) fn lane_turn(&mut self, agent: Option<&str>) -> TurnId {
        let current = self.state.turns.current();
        agent.and_then(|id| self.state.agents.get_mut(id)).map_or(current, |agent| agent.turn_id)
    }

    /// Records the prompts that a frame lists as being answered.
    pub(super) fn note_started_prompts(&mut self, frame: &FrameRef<'_>) {
        let list = frame.get("user_message_uuids").map(|list| list.items().filter_map(Raw::text));
        for uuid in list.into_iter().flatten() {
            self.state.turns.start(&uuid.get());
        }
    }
}
