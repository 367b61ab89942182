//! Assistant frames: complete blocks.

use tidings_protocol::FrameRef;
use tidings_protocol::json::{Raw, Text};
use tidings_protocol::messages::ServerToolResultKind;
use tidings_protocol::ui::RetractReason;
use tidings_protocol::view::{Block, View};

use super::Fold;
use super::calls::{CallResult, result_text};
use super::out::Out;
use super::read::{Members, tree};
use super::shown::{BlockKind, Source};

/// The model name of messages that the CLI wrote itself.
const SYNTHETIC: &str = "<synthetic>";

impl Fold {
    pub(super) fn assistant(&mut self, frame: &FrameRef<'_>, out: &mut Out<'_>) {
        let View::Assistant(message) = frame.view() else { return };
        self.note_session(frame, out);
        if out.agent.is_none() {
            self.begin_turn(out);
            self.note_started_prompts(frame);
        } else {
            self.register_agent(frame, out);
        }
        if message.model.is_some_and(|model| model == SYNTHETIC) && message.blocks().all(is_text) {
            return self.synthetic(frame, message.content, out);
        }
        let superseded = frame.strings("supersedes");
        if !superseded.is_empty() {
            self.retract_frames(&superseded, RetractReason::Superseded, out);
        }
        let uuid = frame.uuid();
        let message_id = message.message_id.map(Text::get);
        let turn_id = self.lane_turn(out.agent);
        let source = Source { message_id: message_id.as_deref(), uuid: uuid.as_deref(), turn_id };
        let (shown, tokens) = self.lane(out.agent);
        if source.uuid.is_some_and(|uuid| shown.has_frame(uuid)) {
            return;
        }
        if let Some(usage) = message.usage.filter(|usage| usage.is_object()) {
            let model = message.model.map(Text::get);
            tokens.response(source.message_id, model.as_deref(), usage, out);
            if frame.flag("aborted") {
                tokens.cut_off(&model.unwrap_or_default(), usage);
            }
        }
        for block in message.blocks() {
            self.block(block, source, out);
        }
    }

    fn block(&mut self, block: Block<'_>, source: Source<'_>, out: &mut Out<'_>) {
        match block {
            Block::Text(text) => {
                let text = text.get();
                let (shown, _) = self.lane(out.agent);
                let streamed = shown.is_streamed(source.message_id);
                shown.complete_block(BlockKind::Text, &text, source, out);
                if !streamed {
                    self.detect_progress(&text, out);
                }
                self.finish_progress_text(out);
            }
            Block::Thinking(text) => {
                let (shown, _) = self.lane(out.agent);
                shown.complete_block(BlockKind::Thinking, &text.get(), source, out);
            }
            Block::ToolUse { id, name, input } => self.call(&id.get(), &name.get(), input, source, out),
            Block::Other(raw) => self.other_block(raw, source, out),
            _ => {}
        }
    }

    fn call(&mut self, id: &str, name: &str, input: Raw<'_>, source: Source<'_>, out: &mut Out<'_>) {
        let (shown, _) = self.lane(out.agent);
        shown.call(id, source);
        let now_ms = self.state.now_ms;
        self.state.calls.begin(id, name, tree(input), now_ms, out);
        self.plan(name, id, input, out);
    }

    /// Handles tools that the API runs itself: the response contains both call and result.
    fn other_block(&mut self, raw: Raw<'_>, source: Source<'_>, out: &mut Out<'_>) {
        let kind = raw.string("type").unwrap_or_default();
        if matches!(&*kind, "server_tool_use" | "mcp_tool_use")
            && let (Some(id), Some(name), Some(input)) =
                (raw.string("id"), raw.string("name"), raw.get("input"))
        {
            return self.call(&id, &name, input, source, out);
        }
        let is_result = ServerToolResultKind::KNOWN.contains(&&*kind) || kind == "mcp_tool_result";
        if is_result && let Some(id) = raw.string("tool_use_id") {
            let content = raw.get("content");
            let inner = content.and_then(|content| content.string("type")).unwrap_or_default();
            let ended = CallResult {
                tool_use_id: &id,
                is_error: raw.flag("is_error") || inner.ends_with("_error"),
                result: result_text(content),
                details: content.map(tree),
            };
            self.state.calls.end(ended, out);
        }
    }

    /// Handles a message of the CLI: an error, or the output of a slash command.
    fn synthetic(&mut self, frame: &FrameRef<'_>, content: Option<Raw<'_>>, out: &mut Out<'_>) {
        let text = result_text(content);
        if frame.flag("is_api_error_message") || frame.member("error").is_some() {
            out.error(text.as_str());
            if out.agent.is_none()
                && let Some(turn) = &mut self.state.turns.open
            {
                turn.error = Some(text);
            }
            return;
        }
        let Some(turn) = &mut self.state.turns.open else { return out.system(text) };
        let run = frame.member("local_command_run").and_then(|run| run.string("command"));
        let is_output = run.is_some() || frame.member("local_command_source").is_some();
        if out.agent.is_none() && (is_output || turn.command.is_some()) {
            if let Some(name) = run.filter(|_| !turn.is_named_command()) {
                turn.command = Some(format!("/{}", name.trim_start_matches('/')));
            }
            turn.displayed = true;
            return out.display(text);
        }
        out.system(text);
    }

    /// Retracts the blocks of these frames, in the lane of `out`.
    pub(super) fn retract_frames(&mut self, uuids: &[String], reason: RetractReason, out: &mut Out<'_>) {
        let turn_id = self.lane_turn(out.agent);
        let (shown, _) = self.lane(out.agent);
        let void = shown.retract_frames(uuids, reason, turn_id, out);
        self.state.calls.forget(&void);
    }
}

fn is_text(block: Block<'_>) -> bool {
    matches!(block, Block::Text(_))
}
