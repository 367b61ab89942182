//! Random sequences of a session's events: of every kind that a dialect keeps state for, from a seed.

use serde_json::json;
use tidings_protocol::mobile::RiskLevel;
use tidings_protocol::ui::{
    PermissionDetails, PermissionLevel, PermissionRequest, PermissionResolved, Progress, ProgressSource,
    Resolution, RetractReason, Retracted, SessionPhase, SessionStarted, SessionStateChanged, StopReason,
    SubAgentEnded, SubAgentOutcome, SubAgentProgressed, SubAgentStarted, TargetType, TextEnded, TurnId,
    TurnResult, TurnStarted, UiMessage,
};
use tidings_rehearsal::Chance;

const SESSION: i64 = 1;

/// Generates sequences. Ids of tool calls are unique.
pub(crate) struct Author {
    chance: Chance,
    turn: u64,
    calls: u64,
}

impl Author {
    pub(crate) fn new(seed: u64) -> Self {
        Author { chance: Chance::new(seed), turn: 0, calls: 0 }
    }

    /// The next number below a limit.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.chance.below(bound)
    }

    /// About this number of events; a few more, since some come together.
    pub(crate) fn story(&mut self, events: usize) -> Vec<UiMessage> {
        let mut started = SessionStarted::new(SESSION, "cli-1");
        started.model = Some("model-1".to_owned());
        let mut story: Vec<UiMessage> = vec![started.into()];
        while story.len() < events {
            self.next(&mut story);
        }
        story
    }

    fn next(&mut self, story: &mut Vec<UiMessage>) {
        let turn_id = TurnId::new_assistant_turn(self.turn.max(1));
        let agent = format!("agent-{}", self.chance.below(3));
        match self.chance.below(18) {
            0..=4 => {
                let text = format!("word {} ", self.chance.below(1000));
                story.push(UiMessage::TextChunk { text, session_id: SESSION, turn_id });
            }
            5 => story.push(TextEnded::new(SESSION, turn_id).into()),
            6 => {
                self.turn += 1;
                story.push(TurnStarted::new(SESSION, TurnId::new_assistant_turn(self.turn)).into());
            }
            7 => {
                let is_error = self.chance.below(4) == 0;
                let mut result = TurnResult::new(SESSION, turn_id, "success", is_error);
                result.duration_ms = Some(self.chance.below(5000));
                result.error = is_error.then(|| "It failed".to_owned());
                story.push(result.into());
                story.push(UiMessage::Complete {
                    session_id: SESSION,
                    turn_id,
                    stop_reason: StopReason::EndTurn,
                });
            }
            8 => story.push(UiMessage::Display { content: "A note".to_owned(), session_id: SESSION }),
            9 => self.permission(story),
            10 => self.state(story),
            11 => {
                let mut started = SubAgentStarted::new(SESSION, agent.as_str());
                started.description = Some("Look around".to_owned());
                story.push(started.into());
            }
            12 => {
                let mut news = SubAgentProgressed::new(SESSION, agent.as_str());
                news.tool_uses = Some(self.chance.below(20));
                story.push(news.into());
            }
            13 => {
                let outcome = [SubAgentOutcome::Completed, SubAgentOutcome::Failed];
                let outcome = outcome[usize::from(self.chance.below(2) == 0)];
                story.push(SubAgentEnded::new(SESSION, agent.as_str(), outcome).into());
            }
            14 => {
                let mut progress = Progress::new(SESSION, ProgressSource::Todo);
                progress.step = Some(format!("step {}", self.chance.below(9)));
                story.push(progress.into());
            }
            15 => {
                let mut retracted = Retracted::new(SESSION, turn_id, RetractReason::Retry);
                "word".clone_into(&mut retracted.text);
                story.push(retracted.into());
            }
            16 => {
                let id = format!("cli-{}", self.chance.below(3));
                let mut started = SessionStarted::new(SESSION, id.as_str());
                started.model = (self.chance.below(2) == 0).then(|| "model-2".to_owned());
                story.push(started.into());
            }
            _ => {
                self.calls += 1;
                story.push(UiMessage::ToolExecuting {
                    tool_use_id: format!("call-{}", self.calls),
                    tool_name: "Write".to_owned(),
                    input: json!({"file_path": format!("/f{}", self.chance.below(5)), "content": ""}),
                    session_id: SESSION,
                });
            }
        }
    }

    fn permission(&mut self, story: &mut Vec<UiMessage>) {
        self.calls += 1;
        let id = format!("ask-{}", self.calls);
        let input = json!({"command": "make"});
        let mut details = PermissionDetails::new(SESSION, id.as_str(), "Bash", input, RiskLevel::Low);
        details.deadline_ms = Some(i64::MAX / 2);
        story.push(details.into());
        let request = PermissionRequest {
            target_type: TargetType::Command,
            target: "make".to_owned(),
            level: PermissionLevel::Execute,
            recursive: false,
            description: "Runs make".to_owned(),
            reason: None,
        };
        story.push(UiMessage::PermissionRequired { tool_use_id: id.clone(), request, session_id: SESSION });
        story.push(SessionStateChanged::new(SESSION, SessionPhase::WaitingForPerson).into());
        if self.chance.below(3) > 0 {
            story.push(PermissionResolved::new(SESSION, id.as_str(), Resolution::Allowed).into());
            story.push(SessionStateChanged::new(SESSION, SessionPhase::Running).into());
        }
    }

    fn state(&mut self, story: &mut Vec<UiMessage>) {
        let phases = [SessionPhase::WaitingForPerson, SessionPhase::Running, SessionPhase::Ended];
        let phase = phases[usize::try_from(self.chance.below(3)).unwrap_or_default()];
        let mut changed = SessionStateChanged::new(SESSION, phase);
        let is_crash = phase == SessionPhase::Ended && self.chance.below(2) == 0;
        changed.error = is_crash.then(|| "It crashed".to_owned());
        story.push(changed.into());
    }
}
