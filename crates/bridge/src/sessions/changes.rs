//! What an event changes about its session.

use tidings_agent::UiMessage;
use tidings_protocol::api::{QueueState, ServerPhase};
use tidings_protocol::ui::{Role, SessionPhase, SessionStateChanged, TurnId, TurnResult, UserPrompt};

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
        UiMessage::UserPrompt(said) => {
            if said.origin.is_none() {
                settings.hear(&said.text);
            }
            follow(said, settings);
        }
        UiMessage::PromptDropped(dropped) => settings.queue.retain(|queued| queued.id != dropped.uuid),
        UiMessage::TurnStarted(started) => {
            settings.last_answer = settings.last_answer.max(started.turn_id.sequence);
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

/// The agent counts turns too, those of commands among them, and what is shown has its numbers. A prompt is known by its id.
fn follow(prompt: &UserPrompt, settings: &mut Settings) {
    let Some(turn_id) = prompt.turn_id.filter(|turn| turn.role == Role::User) else { return };
    settings.last_turn = settings.last_turn.max(turn_id.sequence);
    let named = |id: &String| prompt.uuid.as_ref() == Some(id);
    if let Some(queued) = settings.queue.iter_mut().find(|queued| named(&queued.id)) {
        queued.turn_id = turn_id;
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

#[cfg(test)]
mod tests {
    use tidings_protocol::api::Delivery;
    use tidings_protocol::ui::TurnStarted;

    use super::super::settings::Queued;
    use super::*;

    /// A command such as `/clear` takes a turn of which only the agent knows.
    #[test]
    fn a_prompt_is_known_by_its_id_when_the_agent_gives_it_another_turn() {
        let mut settings = Settings { last_turn: 2, ..Settings::default() };
        settings.queue.push(Queued {
            id: "prompt".to_owned(),
            turn_id: TurnId::new_user_turn(2),
            content: "and now?".to_owned(),
            attachments: Vec::new(),
            delivery: Delivery::default(),
            at: String::new(),
            state: QueueState::Handed,
        });
        let mut take = |event: UiMessage| {
            take_in(&event, &mut settings, &mut Change::default(), None, false);
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
}
