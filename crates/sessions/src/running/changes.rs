//! Effects of events on their session's row.

use tidings_agent::UiMessage;
use tidings_api::{QueueState, ServerPhase};
use tidings_protocol::ui::{Role, SessionPhase, SessionStateChanged, TurnId, TurnResult, UserPrompt};

use crate::live_session::Change;
use crate::settings::SessionSettings;
use crate::surviving::after_limit::is_reached;

/// True if an event says that a limit of the plan is reached, which the row notes.
pub(crate) fn reaches_limit(event: &UiMessage) -> bool {
    matches!(event, UiMessage::RateLimit(limit) if is_reached(limit))
}

/// Applies an event to the settings and the row.
pub(crate) fn apply(
    event: &UiMessage,
    settings: &mut SessionSettings,
    change: &mut Change,
    closing: Option<ServerPhase>,
    is_turn_open: bool,
) {
    match event {
        UiMessage::SessionStarted(started) => {
            change.cli_session = Some(started.cli_session_id.clone());
            set_if_some(&mut settings.launch.model, started.model.as_ref());
            set_if_some(&mut settings.launch.permission_mode, started.permission_mode.as_ref());
            settings.launch.resume = None;
            settings.launch.fork = false;
        }
        UiMessage::SessionTitle(title) => change.title = Some(title.title.clone()),
        UiMessage::SettingsChanged(changed) => {
            set_if_some(&mut settings.launch.model, changed.model.as_ref());
            set_if_some(&mut settings.launch.permission_mode, changed.permission_mode.as_ref());
            // The agent may change an option that was set, for example with the model.
            for (id, value) in changed.options.iter().flatten() {
                if let Some(set) = settings.launch.options.get_mut(id) {
                    set.clone_from(value);
                }
            }
        }
        UiMessage::UserPrompt(prompt) => {
            if prompt.origin.is_none() {
                settings.note_prompt(&prompt.text);
                settings.note_last_prompt(&prompt.text);
                settings.after_limit.cancel();
            }
            follow_turn(prompt, settings);
            settings.queue.retain(|queued| !(queued.typed && prompt.uuid.as_ref() == Some(&queued.id)));
        }
        UiMessage::PromptDropped(dropped) => settings.queue.retain(|queued| queued.id != dropped.uuid),
        UiMessage::TurnStarted(started) => {
            settings.last_answer = settings.last_answer.max(started.turn_id.sequence);
            settings.queue.retain(|queued| !is_answered(queued.turn_id, queued.state, &started.answers));
        }
        UiMessage::RateLimit(limit) => settings.after_limit.note(limit),
        UiMessage::TurnResult(result) => {
            count(result, settings);
            settings.after_limit.turn_ended(result);
        }
        UiMessage::Complete { .. } => settings.totals.turns += 1,
        UiMessage::SessionStateChanged(changed) => {
            // An agent that dies reports nothing; its responses are charged all the same.
            settings.totals.cost_usd += changed.unreported_cost_usd.unwrap_or_default();
            change.phase = Some(enter_phase(changed, settings, closing, is_turn_open));
        }
        _ => {}
    }
}

/// Follows the agent's numbering of turns, which includes those of commands. A prompt is identified by its
/// id.
fn follow_turn(prompt: &UserPrompt, settings: &mut SessionSettings) {
    let Some(turn_id) = prompt.turn_id.filter(|turn| turn.role == Role::User) else { return };
    let named = |id: &String| prompt.uuid.as_ref() == Some(id);
    if let Some(queued) = settings.queue.iter_mut().find(|queued| named(&queued.id)) {
        queued.turn_id = turn_id;
    }
    // Queued prompts come later, and numbers of turns are unique.
    let mut last = turn_id.sequence;
    for queued in settings.queue.iter_mut().filter(|queued| queued.state == QueueState::Waiting) {
        last = queued.turn_id.sequence.max(last.saturating_add(1));
        queued.turn_id = TurnId::new_user_turn(last);
    }
    settings.last_turn = settings.last_turn.max(last);
}

fn enter_phase(
    changed: &SessionStateChanged,
    settings: &mut SessionSettings,
    closing: Option<ServerPhase>,
    is_turn_open: bool,
) -> ServerPhase {
    match changed.state {
        SessionPhase::Idle => {
            // A steered prompt has no turn of its own.
            settings.queue.retain(|queued| queued.typed || queued.state != QueueState::Handed);
            ServerPhase::Idle
        }
        SessionPhase::WaitingForPerson => ServerPhase::NeedsYou,
        SessionPhase::Ended => {
            let was_busy = is_turn_open || settings.has_handed();
            settings.mark_handed_uncertain();
            settings.fail(changed.error.as_deref());
            match closing {
                Some(phase) => phase,
                None if was_busy => ServerPhase::Interrupted,
                None if changed.error.is_some() => ServerPhase::Failed,
                None => ServerPhase::Stopped,
            }
        }
        _ => ServerPhase::Running,
    }
}

fn is_answered(turn: TurnId, state: QueueState, answers: &[TurnId]) -> bool {
    state != QueueState::Waiting && answers.contains(&turn)
}

fn count(result: &TurnResult, settings: &mut SessionSettings) {
    settings.totals.cost_usd += turn_cost(result, settings.cost_told);
    // The part that an interrupt cut off, if the agent's own sum leaves it out; the prices in the session
    // file include it.
    settings.totals.cost_usd += result.interrupted_cost_usd.unwrap_or_default();
    if settings.launch.backend.is_some() && result.cost_usd.is_none() {
        // The agent does not say what it costs, which is not the same as nothing.
        settings.totals.cost_incomplete = true;
    }
    settings.cost_told = result.cost_usd.unwrap_or(settings.cost_told);
    settings.turns_ms = settings.turns_ms.saturating_add(result.duration_ms.unwrap_or_default());
    settings.fail(result.error.as_deref().filter(|_| result.is_error));
    settings.turn_interrupted = result.is_interrupted();
    settings.queue.retain(|queued| !is_answered(queued.turn_id, queued.state, &result.answers));
}

/// The cost of a turn. If the agent does not report it, it is the difference of the reported totals, which
/// continue when the session is resumed, and start again with a new conversation or after a crash.
fn turn_cost(result: &TurnResult, told_before: f64) -> f64 {
    let by_now = result.cost_usd.unwrap_or(told_before);
    let more = if by_now < told_before { by_now } else { by_now - told_before };
    result.turn_cost_usd.unwrap_or(more).max(0.0)
}

/// Sets a value if there is one.
fn set_if_some(target: &mut Option<String>, value: Option<&String>) {
    if let Some(value) = value {
        *target = Some(value.clone());
    }
}

#[cfg(test)]
mod tests {
    use tidings_api::Delivery;
    use tidings_protocol::ui::TurnStarted;

    use super::*;
    use crate::settings::Queued;

    fn queued(id: &str, turn: u64, state: QueueState) -> Queued {
        Queued {
            id: id.to_owned(),
            turn_id: TurnId::new_user_turn(turn),
            content: "and now?".to_owned(),
            attachments: Vec::new(),
            delivery: Delivery::default(),
            at: String::new(),
            state,
            typed: false,
            origin: None,
            interpreted: false,
        }
    }

    /// A queued prompt whose number is taken by `/clear` gets the next one, as the agent will report.
    #[test]
    fn queued_prompts_come_after_a_command() {
        let mut settings = SessionSettings { last_turn: 4, ..SessionSettings::default() };
        let (doubtful, waits) = (QueueState::Uncertain, QueueState::Waiting);
        settings.queue = vec![queued("lost", 1, doubtful), queued("a", 2, waits), queued("b", 4, waits)];
        let mut take = |turn: u64| {
            let mut clear = UserPrompt::new(1, "/clear");
            clear.turn_id = Some(TurnId::new_user_turn(turn));
            apply(&clear.into(), &mut settings, &mut Change::default(), None, false);
            let turns = settings.queue.iter().map(|queued| queued.turn_id.sequence).collect::<Vec<_>>();
            (turns, settings.last_turn)
        };
        assert_eq!(take(2), (vec![1, 3, 4], 4));
        assert_eq!(take(3), (vec![1, 4, 5], 5));
        assert_eq!(take(3), (vec![1, 4, 5], 5), "nothing changes");
    }

    /// A command such as `/clear` takes a turn that only the agent counts.
    #[test]
    fn a_prompt_is_known_by_its_id_when_the_agent_gives_it_another_turn() {
        let mut settings = SessionSettings { last_turn: 2, ..SessionSettings::default() };
        settings.queue.push(queued("prompt", 2, QueueState::Handed));
        let mut take = |event: UiMessage| {
            apply(&event, &mut settings, &mut Change::default(), None, false);
            (settings.queue.len(), settings.last_turn)
        };
        let mut prompt = UserPrompt::new(1, "and now?");
        prompt.uuid = Some("prompt".to_owned());
        prompt.turn_id = Some(TurnId::new_user_turn(3));
        assert_eq!(take(prompt.into()), (1, 3), "the next prompt is the fourth");
        let mut started = TurnStarted::new(1, TurnId::new_assistant_turn(3));
        started.answers = vec![TurnId::new_user_turn(3)];
        assert_eq!(take(started.into()), (0, 3), "it waits no longer");
        assert_eq!(settings.last_answer, 3, "the next process answers with the fourth");
    }

    #[test]
    fn p7_totals_include_what_an_agent_that_died_had_used() {
        let mut settings = SessionSettings::default();
        settings.totals.cost_usd = 0.5;
        let mut ended = SessionStateChanged::new(1, SessionPhase::Ended);
        ended.unreported_cost_usd = Some(0.25);
        apply(&ended.into(), &mut settings, &mut Change::default(), None, true);
        assert!((settings.totals.cost_usd - 0.75).abs() < 1e-9, "{}", settings.totals.cost_usd);
    }

    /// The agent reports zero for a response that was cut off; the session file and the bill do not.
    #[test]
    fn p7_totals_include_what_an_interrupt_cut_off() {
        let mut settings = SessionSettings::default();
        let mut end = |turn: f64, by_now: f64, cut_off: Option<f64>| {
            let mut result = TurnResult::new(1, TurnId::new_assistant_turn(1), "success", false);
            (result.turn_cost_usd, result.cost_usd) = (Some(turn), Some(by_now));
            result.interrupted_cost_usd = cut_off;
            apply(&result.into(), &mut settings, &mut Change::default(), None, false);
            format!("{:.2}", settings.totals.cost_usd)
        };
        assert_eq!(end(0.0, 0.0, Some(0.25)), "0.25");
        assert_eq!(end(0.5, 0.5, None), "0.75");
        assert_eq!(end(0.5, 1.0, Some(0.25)), "1.50");
    }

    /// The agent's own total continues in the next process, starts again with `/clear`, and may do either
    /// after a crash.
    #[test]
    fn costs_of_turns_are_added_up_whatever_the_agents_own_sum_is() {
        let mut settings = SessionSettings::default();
        let mut end = |turn: Option<f64>, by_now: f64| {
            let mut result = TurnResult::new(1, TurnId::new_assistant_turn(1), "success", false);
            (result.turn_cost_usd, result.cost_usd) = (turn, Some(by_now));
            apply(&result.into(), &mut settings, &mut Change::default(), None, false);
            let ended = SessionStateChanged::new(1, SessionPhase::Ended);
            apply(&ended.into(), &mut settings, &mut Change::default(), None, false);
            format!("{:.2}", settings.totals.cost_usd)
        };
        assert_eq!(end(Some(0.25), 0.25), "0.25");
        assert_eq!(end(Some(0.25), 0.5), "0.50", "resumed");
        assert_eq!(end(Some(0.0), 0.0), "0.50", "cleared");
        assert_eq!(end(Some(0.25), 0.25), "0.75");
        assert_eq!(end(Some(0.25), 0.25), "1.00", "begun anew after a crash");
        assert_eq!(end(None, 0.5), "1.25", "an agent that says only its sum");
        assert_eq!(end(None, 0.25), "1.50", "and begins anew");
    }

    /// The message is for users; programs use the reason.
    #[test]
    fn an_interrupted_turn_is_distinguished_from_a_failed_one() {
        let mut settings = SessionSettings::default();
        let mut end = |reason: Option<&str>, error: Option<&str>| {
            let subtype = if error.is_some() { "error_during_execution" } else { "success" };
            let mut result = TurnResult::new(1, TurnId::new_assistant_turn(1), subtype, error.is_some());
            result.terminal_reason = reason.map(str::to_owned);
            result.error = error.map(str::to_owned);
            apply(&result.into(), &mut settings, &mut Change::default(), None, false);
            (settings.error.clone(), settings.turn_interrupted)
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(end(Some("aborted_tools"), Some("Stopped")), (some("Stopped"), true));
        assert_eq!(end(None, Some("The turn was interrupted")), (some("The turn was interrupted"), false));
        assert_eq!(end(Some("aborted_streaming"), Some("Stopped")), (some("Stopped"), true));
        assert_eq!(end(Some("completed"), None), (None, false));
        settings.turn_interrupted = true;
        settings.fail(Some("The agent cannot be started"));
        assert!(!settings.turn_interrupted, "this is another error");
    }
}
