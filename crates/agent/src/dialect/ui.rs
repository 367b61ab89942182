//! The twelve published UI events, and nothing else.

use std::borrow::Cow;

use tidings_protocol::ui::{PermissionRequest, StopReason, SubAgentOutcome, TargetType, UiMessage};

/// Converts an event to a published UI event; `None` if there is no equivalent.
///
/// Some events without an equivalent become `System` messages: retracted text, the work of sub-agents, and
/// retries.
pub fn to_ui(event: &UiMessage) -> Option<Cow<'_, UiMessage>> {
    match event {
        UiMessage::Complete { session_id, turn_id, stop_reason: StopReason::Other(_) } => {
            // The specification has four reasons. Other reasons are reported by the preceding `Error`.
            let (session_id, turn_id) = (*session_id, *turn_id);
            Some(Cow::Owned(UiMessage::Complete { session_id, turn_id, stop_reason: StopReason::EndTurn }))
        }
        UiMessage::PermissionRequired { tool_use_id, request, session_id } => {
            Some(Cow::Owned(UiMessage::PermissionRequired {
                tool_use_id: tool_use_id.clone(),
                request: on_page(request),
                session_id: *session_id,
            }))
        }
        UiMessage::BatchPermissionRequired { batch_id, requests, session_id } => {
            Some(Cow::Owned(UiMessage::BatchPermissionRequired {
                batch_id: batch_id.clone(),
                requests: requests.iter().map(on_page).collect(),
                session_id: *session_id,
            }))
        }
        event if event.is_seed() => Some(Cow::Borrowed(event)),
        event => {
            let message = log_message(event)?;
            Some(Cow::Owned(UiMessage::System { message, session_id: event.session_id() }))
        }
    }
}

/// Maps the target type: the specification has paths, domains and commands; a tool as a whole is closest to a
/// command.
fn on_page(request: &PermissionRequest) -> PermissionRequest {
    let target_type = match request.target_type {
        TargetType::Path => TargetType::Path,
        TargetType::Domain => TargetType::Domain,
        _ => TargetType::Command,
    };
    PermissionRequest { target_type, ..request.clone() }
}

/// A log message for an event of ours.
fn log_message(event: &UiMessage) -> Option<String> {
    Some(match event {
        UiMessage::SessionStarted(event) => match &event.model {
            Some(model) => format!("Session {} with {model}", event.cli_session_id),
            None => format!("Session {}", event.cli_session_id),
        },
        UiMessage::SettingsChanged(event) => {
            let named = [("Model", &event.model), ("Permission mode", &event.permission_mode)];
            let changes =
                named.iter().filter_map(|(name, value)| Some(format!("{name}: {}", value.as_ref()?)));
            let changes: Vec<String> = changes.collect();
            if changes.is_empty() {
                return None;
            }
            changes.join(", ")
        }
        UiMessage::Retracted(event) => retraction(&event.text, &event.tool_use_ids)?,
        UiMessage::Compacted(_) => "The conversation was compacted".to_owned(),
        UiMessage::RateLimit(event) if event.status != "allowed" => {
            let kind = event.kind.as_deref().unwrap_or("plan");
            format!("Rate limit ({kind}): {}", event.status)
        }
        UiMessage::Retrying(event) => {
            let of = event.max_attempts.map(|max| format!(" of {max}")).unwrap_or_default();
            let error = event.error.as_deref().unwrap_or("unknown");
            format!("The API failed ({error}); retrying, attempt {}{of}", event.attempt)
        }
        UiMessage::SubAgentStarted(event) => {
            let kind = event.agent_type.as_deref().unwrap_or("agent");
            let what = event.description.as_deref().unwrap_or(&event.agent_id);
            format!("Sub-agent {kind} started: {what}")
        }
        UiMessage::SubAgentEnded(event) => {
            let how = match event.outcome {
                SubAgentOutcome::Completed => "completed",
                SubAgentOutcome::Failed => "failed",
                _ => "was stopped",
            };
            let what = event.summary.as_deref().unwrap_or(&event.agent_id);
            format!("A sub-agent {how}: {what}")
        }
        _ => return None,
    })
}

fn retraction(text: &str, calls: &[String]) -> Option<String> {
    match (text.is_empty(), calls.len()) {
        (true, 0) => None,
        (true, calls) => Some(format!("Retracted: {calls} announced tool calls")),
        (false, _) => {
            Some(format!("Retracted: the last {} characters of the answer: {text}", text.chars().count()))
        }
    }
}
