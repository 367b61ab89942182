//! The answer to a prompt.

use tidings_api::{Accepted, Verdict};
use tidings_protocol::ui::{SessionPhase, TurnId, TurnResult, UiMessage};

use crate::error::{Error, ErrorKind};
use crate::events::{Answering, SessionUpdate};
use crate::history::PastEvent;
use crate::sessions::RemoteSession;

/// End of a prompt.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PromptResult {
    /// Its turn has ended.
    Answered(Box<TurnAnswer>),
    /// It will not be answered: it was cancelled, or refused for a reason that the agent gives.
    Dropped {
        /// The reason.
        reason: Option<String>,
    },
    /// The agent has ended before its turn did.
    AgentEnded {
        /// The reason of an unexpected end.
        error: Option<String>,
    },
    /// The session was deleted.
    Deleted,
    /// Events of the turn were removed before they were read, so its end is not known.
    Unknown,
}

/// What an agent said in a turn, and how the turn ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TurnAnswer {
    /// Blocks of text, which tool calls separate.
    pub blocks: Vec<String>,
    /// Result with costs and errors; absent if the agent reported none.
    pub result: Option<TurnResult>,
    /// Cursor of the end of the turn.
    pub cursor: String,
}

/// Follows a prompt through the events of its session.
#[derive(Debug, Default)]
struct PromptWatch {
    /// Id of the prompt.
    uuid: Option<String>,
    /// The user's turn.
    asked: Option<TurnId>,
    /// The agent's turn.
    answered: Option<TurnId>,
    /// True once it has reached the agent.
    has_begun: bool,
    blocks: Vec<String>,
    /// True if the next text begins a block.
    is_between: bool,
    result: Option<TurnResult>,
}

impl TurnAnswer {
    /// The whole text.
    pub fn text(&self) -> String {
        self.blocks.join("\n\n")
    }

    /// True if the turn failed.
    pub fn is_error(&self) -> bool {
        self.result.as_ref().is_some_and(|result| result.is_error)
    }
}

impl RemoteSession {
    /// Waits until a prompt was answered, however long it takes and whatever happens to the connection.
    ///
    /// Dropped and called again with the same acknowledgement it finds the same end, also long after it.
    pub async fn answer_to(&self, accepted: &Accepted) -> Result<PromptResult, Error> {
        let mut watch = PromptWatch { asked: accepted.turn_id, ..PromptWatch::default() };
        // The event that announced the prompt has its id. Its turn may become a later one.
        let page = self.history(Some(&accepted.seq.saturating_add(1).to_string()), Some(1)).await?;
        let announced = page.items.first().filter(|event| event.seq == accepted.seq);
        if let Some(announced) = announced.and_then(PastEvent::decode) {
            watch.announced(&announced);
        }
        let mut events = self.events(Some(accepted.cursor.clone())).answering(Answering::Absent);
        loop {
            match events.next().await? {
                Some(SessionUpdate::Event(event)) => {
                    let Some(message) = event.decode() else { continue };
                    if let Some(end) = watch.observe(&message, &event.cursor) {
                        return Ok(end);
                    }
                }
                Some(SessionUpdate::Subscribed(subscribed)) if subscribed.verdict != Verdict::Ok => {
                    return Ok(PromptResult::Unknown);
                }
                Some(SessionUpdate::Subscribed(_) | SessionUpdate::Lost(_)) => {}
                None => return Ok(PromptResult::Deleted),
            }
        }
    }

    /// Sends a text as a prompt, and waits for the answer to it.
    ///
    /// If this future is dropped, the turn goes on; `prompt` and [`answer_to`](Self::answer_to) one after the
    /// other can be continued.
    pub async fn ask(&self, text: impl Into<String>) -> Result<TurnAnswer, Error> {
        let accepted = self.prompt(text).await?;
        let failed = |message: String| Error::new(ErrorKind::Response, message, "look at the session");
        match self.answer_to(&accepted).await? {
            PromptResult::Answered(answer) => Ok(*answer),
            PromptResult::Dropped { reason } => {
                let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
                Err(failed(format!("The prompt was dropped{reason}")))
            }
            PromptResult::AgentEnded { error } => {
                Err(failed(error.unwrap_or_else(|| "The agent has ended".to_owned())))
            }
            PromptResult::Deleted => Err(failed("The session was deleted".to_owned())),
            PromptResult::Unknown => Err(failed("The events of the turn were removed".to_owned())),
        }
    }
}

impl PromptWatch {
    /// Takes the id of the prompt from the event that announced it.
    fn announced(&mut self, event: &UiMessage) {
        match event {
            UiMessage::PromptQueued(queued) => self.uuid = Some(queued.uuid.clone()),
            UiMessage::UserPrompt(prompt) => {
                self.uuid.clone_from(&prompt.uuid);
                self.begin(prompt.turn_id);
            }
            _ => {}
        }
    }

    fn begin(&mut self, turn: Option<TurnId>) {
        self.has_begun = true;
        self.asked = turn.or(self.asked);
    }

    fn observe(&mut self, event: &UiMessage, cursor: &str) -> Option<PromptResult> {
        match event {
            UiMessage::UserPrompt(prompt) if self.is_ours(prompt.uuid.as_deref(), prompt.turn_id) => {
                self.begin(prompt.turn_id);
            }
            UiMessage::PromptDropped(dropped) if self.is_ours(Some(&dropped.uuid), dropped.turn_id) => {
                return Some(PromptResult::Dropped { reason: dropped.reason.clone() });
            }
            UiMessage::TurnStarted(started) if self.answers(&started.answers) => {
                self.answered = Some(started.turn_id);
            }
            UiMessage::TurnResult(result)
                if self.answered == Some(result.turn_id) || self.answers(&result.answers) =>
            {
                self.answered = Some(result.turn_id);
                self.result = Some(result.clone());
            }
            UiMessage::TextChunk { text, turn_id, .. } if self.answered == Some(*turn_id) => self.add(text),
            UiMessage::TextEnded(ended) if self.answered == Some(ended.turn_id) => self.is_between = true,
            UiMessage::ToolExecuting { .. } => self.is_between = true,
            UiMessage::Retracted(retracted) if self.answered == Some(retracted.turn_id) => {
                self.retract(&retracted.text);
            }
            UiMessage::Complete { turn_id, .. } if self.answered == Some(*turn_id) => {
                let (blocks, result) = (std::mem::take(&mut self.blocks), self.result.take());
                return Some(PromptResult::Answered(Box::new(TurnAnswer {
                    blocks,
                    result,
                    cursor: cursor.to_owned(),
                })));
            }
            UiMessage::SessionStateChanged(changed)
                if changed.state == SessionPhase::Ended && (self.has_begun || changed.error.is_some()) =>
            {
                return Some(PromptResult::AgentEnded { error: changed.error.clone() });
            }
            _ => {}
        }
        None
    }

    /// True for the prompt with our id; without ids for the one of our turn.
    fn is_ours(&self, uuid: Option<&str>, turn: Option<TurnId>) -> bool {
        match (&self.uuid, uuid) {
            (Some(ours), Some(uuid)) => ours == uuid,
            _ => turn.is_some() && turn == self.asked,
        }
    }

    fn answers(&self, turns: &[TurnId]) -> bool {
        self.has_begun && self.asked.is_some_and(|asked| turns.contains(&asked))
    }

    fn add(&mut self, text: &str) {
        match self.blocks.last_mut() {
            Some(block) if !self.is_between => block.push_str(text),
            _ => self.blocks.push(text.to_owned()),
        }
        self.is_between = false;
    }

    /// Removes the last text that was shown.
    fn retract(&mut self, text: &str) {
        let mut left = text;
        while let Some(block) = self.blocks.last_mut().filter(|_| !left.is_empty()) {
            if let Some(kept) = block.strip_suffix(left) {
                let kept = kept.len();
                block.truncate(kept);
                left = "";
            } else if let Some(rest) = left.strip_suffix(block.as_str()) {
                left = rest;
                block.clear();
            } else {
                return;
            }
            if block.is_empty() {
                self.blocks.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tidings_protocol::ui::{PromptDropped, PromptQueued, StopReason, TurnStarted, UserPrompt};

    use super::*;

    const SESSION: i64 = 1;

    fn chunk(turn: u64, text: &str) -> UiMessage {
        let turn_id = TurnId::new_assistant_turn(turn);
        UiMessage::TextChunk { text: text.to_owned(), session_id: SESSION, turn_id }
    }

    fn complete(turn: u64) -> UiMessage {
        let turn_id = TurnId::new_assistant_turn(turn);
        UiMessage::Complete { session_id: SESSION, turn_id, stop_reason: StopReason::EndTurn }
    }

    fn started(turn: u64, asked: u64) -> UiMessage {
        let mut started = TurnStarted::new(SESSION, TurnId::new_assistant_turn(turn));
        started.answers = vec![TurnId::new_user_turn(asked)];
        started.into()
    }

    fn prompt(uuid: &str, turn: u64) -> UiMessage {
        let mut prompt = UserPrompt::new(SESSION, "text");
        prompt.uuid = Some(uuid.to_owned());
        prompt.turn_id = Some(TurnId::new_user_turn(turn));
        prompt.into()
    }

    fn watch() -> PromptWatch {
        let mut watch = PromptWatch { asked: Some(TurnId::new_user_turn(2)), ..PromptWatch::default() };
        watch.announced(&PromptQueued::new(SESSION, "ours", "text", TurnId::new_user_turn(2)).into());
        watch
    }

    #[test]
    fn the_answer_is_that_of_our_prompt_also_if_another_got_ahead_of_it() {
        let mut watch = watch();
        let others = [prompt("other", 2), started(2, 2), chunk(2, "Theirs."), complete(2)];
        for event in &others {
            assert_eq!(watch.observe(event, "e:1"), None, "{event:?}");
        }
        for event in [prompt("ours", 3), started(3, 3), chunk(3, "Our"), chunk(3, "s.")] {
            assert_eq!(watch.observe(&event, "e:2"), None, "{event:?}");
        }
        let Some(PromptResult::Answered(answer)) = watch.observe(&complete(3), "e:9") else {
            panic!("{watch:?}")
        };
        assert_eq!((answer.text().as_str(), answer.cursor.as_str()), ("Ours.", "e:9"));
    }

    #[test]
    fn a_dropped_prompt_has_no_answer() {
        let mut watch = watch();
        let mut dropped = PromptDropped::new(SESSION, "ours");
        dropped.reason = Some("cancelled".to_owned());
        let end = watch.observe(&dropped.into(), "e:1");
        assert_eq!(end, Some(PromptResult::Dropped { reason: Some("cancelled".to_owned()) }));
    }

    #[test]
    fn retracted_text_is_no_part_of_the_answer() {
        let mut watch = watch();
        for event in [prompt("ours", 2), started(2, 2), chunk(2, "One. "), chunk(2, "Two.")] {
            watch.observe(&event, "e:1");
        }
        watch.retract(" Two.");
        assert_eq!(watch.blocks, ["One."]);
        watch.retract("One.");
        assert_eq!(watch.blocks, [""; 0]);
    }
}
