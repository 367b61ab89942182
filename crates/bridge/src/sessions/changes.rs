//! What an event changes about its session.

use tidings_agent::UiMessage;
use tidings_protocol::api::{QueueState, ServerPhase};
use tidings_protocol::ui::{SessionPhase, SessionStateChanged, TurnId, TurnResult};

use super::entry::Change;
use super::settings::Settings;

pub(super) fn changes_the_row(event: &UiMessage) -> bool {
    matches!(
        event,
        UiMessage::SessionStarted(_)
            | UiMessage::SessionTitle(_)
            | UiMessage::SessionStateChanged(_)
            | UiMessage::SettingsChanged(_)
            | UiMessage::UserPrompt(_)
            | UiMessage::PromptDropped(_)
            | UiMessage::TurnStarted(_)
            | UiMessage::TurnResult(_)
            | UiMessage::Complete { .. }
            | UiMessage::CommandComplete { .. }
    )
}

/// What an event changes.
pub(super) fn take_in(
    event: &UiMessage,
    settings: &mut Settings,
    change: &mut Change,
    closing: Option<ServerPhase>,
    is_turn_open: bool,
) {
    match event {
        UiMessage::SessionStarted(started) => {
            change.cli_session = Some(started.cli_session_id.clone());
            keep(&mut settings.launch.model, started.model.as_ref());
            keep(&mut settings.launch.permission_mode, started.permission_mode.as_ref());
            settings.launch.resume = None;
            settings.launch.fork = false;
        }
        UiMessage::SessionTitle(title) => change.title = Some(title.title.clone()),
        UiMessage::SettingsChanged(changed) => {
            keep(&mut settings.launch.model, changed.model.as_ref());
            keep(&mut settings.launch.permission_mode, changed.permission_mode.as_ref());
        }
        UiMessage::UserPrompt(said) if said.origin.is_none() => settings.hear(&said.text),
        UiMessage::PromptDropped(dropped) => settings.queue.retain(|queued| queued.id != dropped.uuid),
        UiMessage::TurnStarted(started) => {
            settings.queue.retain(|queued| !is_answered(queued.turn_id, queued.state, &started.answers));
        }
        UiMessage::TurnResult(result) => count(result, settings),
        UiMessage::Complete { .. } => settings.totals.turns += 1,
        UiMessage::SessionStateChanged(changed) => {
            change.phase = Some(enter(changed, settings, closing, is_turn_open));
        }
        _ => {}
    }
}

fn enter(
    changed: &SessionStateChanged,
    settings: &mut Settings,
    closing: Option<ServerPhase>,
    is_turn_open: bool,
) -> ServerPhase {
    match changed.state {
        SessionPhase::Idle => {
            // What was said into a turn has no turn of its own.
            settings.queue.retain(|queued| queued.state != QueueState::Handed);
            ServerPhase::Idle
        }
        SessionPhase::WaitingForPerson => ServerPhase::NeedsYou,
        SessionPhase::Ended => {
            let was_busy = is_turn_open || settings.has_handed();
            settings.doubt_handed();
            settings.cost_before = settings.totals.cost_usd;
            settings.error.clone_from(&changed.error);
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

fn count(result: &TurnResult, settings: &mut Settings) {
    if let Some(cost) = result.cost_usd {
        settings.totals.cost_usd = settings.cost_before + cost;
    }
    settings.turns_ms = settings.turns_ms.saturating_add(result.duration_ms.unwrap_or_default());
    settings.error = result.error.clone().filter(|_| result.is_error);
    settings.queue.retain(|queued| !is_answered(queued.turn_id, queued.state, &result.answers));
}

/// What is not said stays.
fn keep(place: &mut Option<String>, said: Option<&String>) {
    if let Some(said) = said {
        *place = Some(said.clone());
    }
}
