//! Result frames: the end of a turn.

use tidings_protocol::json::Raw;
use tidings_protocol::ui::{DeniedTool, StopReason, TurnResult, UiMessage};
use tidings_protocol::{FrameRef, Outcome};

use super::out::Out;
use super::read::{Members, tree};
use super::shown::{BlockKind, Source};
use super::tokens::{self, Tokens};
use super::turns::OpenTurn;
use super::{Fold, State};

/// Result text of a call that never had one.
pub(super) const NO_RESULT: &str = "The turn ended before this call had a result";

/// Stop reason of a turn that ended because its agent exited.
pub const EXITED: &str = "exited";

impl Fold {
    pub(super) fn result(&mut self, frame: &FrameRef<'_>, out: &mut Out<'_>) {
        let out = &mut out.unwrapped();
        self.note_session(frame, out);
        self.begin_turn(out);
        self.note_started_prompts(frame);
        self.state.agents.report_ended_tasks(out);
        self.show_final_text(frame, out);
        self.state.calls.end_turn(NO_RESULT, out);
        let usage = frame.member("usage").map(tokens::read);
        if let Some(usage) = &usage {
            self.state.tokens.total(usage, out);
        }
        let Some(turn) = self.state.turns.end() else { return };
        let error = error_text(frame);
        if let Some(error) = &error
            && turn.error.as_ref() != Some(error)
        {
            out.error(error.as_str());
        }
        self.command_complete(&turn, frame.count("num_turns"), out);
        let mut event = turn_result(frame, &turn, self.handle);
        event.usage = usage;
        let list_usd = self.unreported_usd().unwrap_or_default();
        event.turn_cost_usd = event.turn_cost_usd.or_else(|| self.cost_from_zero(&event, list_usd));
        event.interrupted_cost_usd = self.uncounted_usd(&event, list_usd);
        event.error = error;
        out.push(event);
        let stop_reason = stop_reason(frame);
        out.push(UiMessage::Complete { session_id: self.handle, turn_id: turn.id, stop_reason });
        self.enter(self.resting_phase(), out);
    }

    /// The cost of the first turn of a process that gives its total only, if that total begins at zero.
    ///
    /// Some versions of the CLI begin at zero when they resume a session, and others continue their total.
    /// The one whose cost of the turn is nearer to the list price of its responses counts.
    fn cost_from_zero(&self, result: &TurnResult, list_usd: f64) -> Option<f64> {
        let now = result.cost_usd.filter(|_| self.state.session.reported_usd.is_none() && list_usd > 0.0)?;
        let continued = now - self.options.reported_usd;
        ((now - list_usd).abs() < (continued - list_usd).abs()).then_some(now)
    }

    /// List price of all responses that an interrupt cut off in this turn, including those of sub-agents, if
    /// the agent left them out of its count.
    ///
    /// Some versions of the CLI count them and others do not. The increase of the agent's total decides: it
    /// is compared with the price of all responses of the turn, with and without those that were cut off. The
    /// nearer one counts, since an agent also makes requests that it does not show.
    fn uncounted_usd(&mut self, result: &TurnResult, list_usd: f64) -> Option<f64> {
        let increase = self.reported_increase(result);
        let cut_off = self.lanes().filter_map(Tokens::take_cut_off_usd).reduce(|sum, cost| sum + cost)?;
        let is_counted = increase.is_some_and(|increase| increase > list_usd - cut_off / 2.0);
        (!is_counted).then_some(cut_off)
    }

    /// The cost of a turn by the agent's own count, if it is known.
    fn reported_increase(&mut self, result: &TurnResult) -> Option<f64> {
        let total = result.cost_usd;
        let before = std::mem::replace(&mut self.state.session.reported_usd, total);
        // The total starts again with a new conversation.
        let increase =
            || total.zip(before).map(|(now, before)| if now < before { now } else { now - before });
        result.turn_cost_usd.or_else(increase)
    }

    /// List price of all responses that the agent has not reported, including those of sub-agents.
    pub(super) fn unreported_usd(&mut self) -> Option<f64> {
        Some(self.lanes().map(Tokens::take_unreported_usd).sum::<f64>()).filter(|cost| *cost > 0.0)
    }

    fn lanes(&mut self) -> impl Iterator<Item = &mut Tokens> {
        let State { tokens, agents, .. } = &mut self.state;
        std::iter::once(tokens).chain(agents.tokens())
    }

    /// Shows the final text, if no text was shown: some modes of the agent give only this.
    fn show_final_text(&mut self, frame: &FrameRef<'_>, out: &mut Out<'_>) {
        let Some(text) = frame.string("result").filter(|text| !text.is_empty()) else { return };
        let displayed = self.state.turns.open.as_ref().is_some_and(|turn| turn.displayed);
        if frame.is_error() || displayed || self.state.shown.has(BlockKind::Text) {
            return;
        }
        if frame.count("num_turns") == Some(0) {
            return out.display(text);
        }
        let source = Source { message_id: None, uuid: None, turn_id: self.state.turns.current() };
        self.state.shown.complete_block(BlockKind::Text, &text, source, out);
        self.detect_progress(&text, out);
        self.finish_progress_text(out);
    }

    pub(super) fn command_complete(&mut self, turn: &OpenTurn, rounds: Option<u64>, out: &mut Out<'_>) {
        let Some(command) = &turn.command else { return };
        let known = self.state.session.commands.contains(command.trim_start_matches('/'));
        if turn.is_named_command() || known || turn.displayed || rounds == Some(0) {
            out.push(UiMessage::CommandComplete { command: command.clone(), session_id: self.handle });
        }
    }

    /// Ends a turn that the agent will not end itself.
    pub(super) fn break_off(&mut self, why: &str, out: &mut Out<'_>) {
        self.state.calls.end_turn(why, out);
        let Some(turn) = self.state.turns.end() else { return };
        out.error(why);
        let stop_reason = StopReason::Other(EXITED.to_owned());
        out.push(UiMessage::Complete { session_id: self.handle, turn_id: turn.id, stop_reason });
    }
}

fn turn_result(frame: &FrameRef<'_>, turn: &OpenTurn, handle: i64) -> TurnResult {
    let subtype = frame.subtype().unwrap_or_default();
    let mut event = TurnResult::new(handle, turn.id, subtype, frame.is_error());
    event.duration_ms = frame.count("duration_ms");
    event.duration_api_ms = frame.count("duration_api_ms");
    event.num_turns = frame.count("num_turns");
    event.cost_usd = frame.member("total_cost_usd").and_then(Raw::f64);
    event.turn_cost_usd = frame.member("model_usage_since_last_result").map(cost);
    event.model_usage = frame.member("modelUsage").map(tree);
    event.structured_output = frame.member("structured_output").map(tree);
    event.stop_reason = frame.string("stop_reason").map(StopReason::from);
    event.terminal_reason = frame.string("terminal_reason");
    let kind = frame.member("origin").and_then(|origin| origin.string("kind"));
    event.origin = kind.filter(|kind| kind != "human").or_else(|| turn.origin.clone());
    event.answers.clone_from(&turn.answers);
    let denials = frame.member("permission_denials").into_iter().flat_map(Raw::items);
    event.permission_denials = denials.filter_map(denied).collect();
    event
}

/// Total cost of the models of a turn, in US dollars.
fn cost(models: Raw<'_>) -> f64 {
    models.members().filter_map(|(_, model)| model.member("costUSD").and_then(Raw::f64)).sum()
}

fn denied(raw: Raw<'_>) -> Option<DeniedTool> {
    let mut denied = DeniedTool::new(raw.string("tool_use_id")?, raw.string("tool_name")?);
    denied.input = raw.member("tool_input").map(tree);
    Some(denied)
}

fn error_text(frame: &FrameRef<'_>) -> Option<String> {
    // The CLI's message about an interrupted turn is meant for its developers.
    match frame.outcome() {
        Some(Outcome::Interrupted) => Some(TurnResult::INTERRUPTED.to_owned()),
        _ => frame.error_text(),
    }
}

fn stop_reason(frame: &FrameRef<'_>) -> StopReason {
    let other = || {
        let word = frame.string("terminal_reason").or_else(|| frame.subtype().map(Into::into));
        StopReason::Other(word.unwrap_or_else(|| "error".to_owned()))
    };
    match frame.string("stop_reason") {
        // For a failed turn, the stop reason of its last response is shown only if it is the cause.
        Some(word) if !frame.is_error() || matches!(&*word, "refusal" | "max_tokens") => {
            StopReason::from(word)
        }
        None if !frame.is_error() => StopReason::EndTurn,
        _ => other(),
    }
}
