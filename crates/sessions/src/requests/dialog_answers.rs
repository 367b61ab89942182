//! Answers to requests whose dialogs are open in a terminal, too.
//!
//! The keyboard may answer in the same moment, and Claude Code takes the first answer. So the answer goes to
//! the dialog first, and is stored when it is known which one was taken: a request has one outcome.

use tidings_agent::UiMessage;
use tidings_agent::permissions::Answer;
use tidings_agent::session::LOCAL_DIALOG;
use tidings_api::{AnswerResult, Choice};
use tidings_journal::{AskId, Settle, Settlement};
use tidings_protocol::ui::{AnsweredBy, PermissionResolved, Resolution};

use super::answers::PreparedAnswer;
use super::asks::{audit, outcome_name, resolution, resolved};
use crate::live_session::LiveSession;
use crate::observed::ObservedProcess;
use crate::{Caller, Error};

impl LiveSession {
    /// Answers a request of an observed session, and stores the answer that its dialog took.
    pub(super) async fn answer_dialog(
        &self,
        caller: &Caller,
        id: &AskId,
        observed: &ObservedProcess,
        decided: Answer,
        prepared: PreparedAnswer,
    ) -> Result<AnswerResult, Error> {
        if matches!(decided, Answer::Allow(_)) && self.journal().is_full() {
            // Nothing runs without a record.
            return Err(Error::storage_full());
        }
        let sent = match &decided {
            Answer::Allow(_) => Choice::Allow,
            _ => Choice::Deny,
        };
        // From here on the events of the session do not settle the request.
        let answers = observed.sent_answers();
        answers.send(id.as_str(), sent);
        let overruled_by = match self.hand_to_agent(caller, id.as_str(), decided.clone()).await {
            Ok(true) => observed.overruled_by(id.as_str()).await,
            handed => {
                // The dialog was closed a moment ago, and the session reports how.
                match answers.stored(id.as_str()) {
                    Some(outcome) => self.settle_withheld(id, &outcome).await?,
                    None => drop(self.wait_until_settled(id.as_str()).await),
                }
                handed?;
                answers.overruled_by(id.as_str())
            }
        };
        let local = overruled_by.map(|local| match local {
            Choice::Allow => Resolution::Allowed,
            Choice::Deny => Resolution::Denied,
        });
        let stored = match local {
            Some(local) if self.settle_by_keyboard(id, local).await? => Err(self.overruled(id, local)),
            _ => self.store_answer(caller, id, &decided, prepared).await,
        };
        drop(answers.stored(id.as_str()));
        stored
    }

    /// Stores an outcome that the session has reported itself.
    async fn settle_withheld(&self, id: &AskId, event: &UiMessage) -> Result<(), Error> {
        let Some((name, outcome)) = resolved(event) else { return Ok(()) };
        let (event_draft, line) = (self.draft_of(event, None), audit(self, &name, event, None));
        let settle = Settle { outcome, event: event_draft, audit: Some(line) };
        if let Settlement::Won(_) = self.journal().settle(&self.key, id, settle).await? {
            self.settled(id.as_str(), outcome_name(resolution(event)));
        }
        Ok(())
    }

    /// Stores the answer of the keyboard. Returns true if the request was open until now.
    async fn settle_by_keyboard(&self, id: &AskId, outcome: Resolution) -> Result<bool, Error> {
        let mut answered = PermissionResolved::new(self.handle, id.as_str(), outcome);
        answered.by = Some(LOCAL_DIALOG.to_owned());
        let by = AnsweredBy::Person(LOCAL_DIALOG.to_owned());
        self.settle_by(id.as_str(), outcome_name(outcome).to_owned(), by, UiMessage::from(answered)).await
    }

    /// The error of an answer that came after that of the keyboard.
    fn overruled(&self, id: &AskId, outcome: Resolution) -> Error {
        let head = self.memory().row.head;
        Error::already_answered(AnswerResult {
            tool_use_id: id.to_string(),
            outcome: outcome_name(outcome).to_owned(),
            by: Some(LOCAL_DIALOG.to_owned()),
            seq: head.seq,
            cursor: head.to_string(),
        })
    }
}
