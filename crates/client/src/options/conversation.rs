//! Which conversation: a new one, an old one, a copy of one.

use super::{Options, Plan};
use crate::error::Error;

#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the CLI")]
pub(super) struct ConversationOptions {
    continue_latest: bool,
    resume: Option<String>,
    session_id: Option<String>,
    fork: bool,
    resume_at: Option<String>,
    resume_drops_turn: Option<String>,
    forget: bool,
    pub(super) mirror: bool,
    title: Option<String>,
}

impl Options {
    /// Goes on with the latest conversation of the folder.
    pub fn continue_latest(mut self) -> Self {
        self.conversation.continue_latest = true;
        self
    }

    /// Goes on with a conversation, by its id.
    pub fn resume(mut self, session_id: impl Into<String>) -> Self {
        self.conversation.resume = Some(session_id.into());
        self
    }

    /// The id of the new conversation, a UUID.
    pub fn session_id(mut self, session_id: impl Into<String>) -> Self {
        self.conversation.session_id = Some(session_id.into());
        self
    }

    /// Goes on in a copy, and leaves the conversation as it was.
    pub fn fork_session(mut self) -> Self {
        self.conversation.fork = true;
        self
    }

    /// Goes on after this message, and leaves out what came later.
    pub fn resume_at(mut self, message_uuid: impl Into<String>) -> Self {
        self.conversation.resume_at = Some(message_uuid.into());
        self
    }

    /// Goes on without the turn that began with this message; [`Options::resume_at`] names the message before it.
    pub fn resume_drops_turn(mut self, message_uuid: impl Into<String>) -> Self {
        self.conversation.resume_drops_turn = Some(message_uuid.into());
        self
    }

    /// Writes no session file.
    pub fn forget_session(mut self) -> Self {
        self.conversation.forget = true;
        self
    }

    /// Sends every line of the session file as a `transcript_mirror` frame too; see [`Client::subscribe`].
    ///
    /// [`Client::subscribe`]: crate::Client::subscribe
    pub fn mirror_session(mut self) -> Self {
        self.conversation.mirror = true;
        self
    }

    /// The title of the conversation.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.conversation.title = Some(title.into());
        self
    }
}

impl ConversationOptions {
    pub(super) fn add(&self, plan: &mut Plan) -> Result<(), Error> {
        self.check()?;
        if self.continue_latest {
            plan.flag("continue");
        }
        if let Some(id) = &self.resume {
            plan.value("resume", id);
        }
        if let Some(id) = &self.session_id {
            plan.value("session-id", id);
        }
        if self.fork {
            plan.flag("fork-session");
        }
        if let Some(message) = &self.resume_at {
            plan.value("resume-session-at", message);
        }
        if let Some(message) = &self.resume_drops_turn {
            plan.value("resume-drops-turn", message);
        }
        if self.forget {
            plan.flag("no-session-persistence");
        }
        if self.mirror {
            plan.flag("session-mirror");
        }
        plan.initialize.title.clone_from(&self.title);
        Ok(())
    }

    /// One conversation cannot be many, and one that is not written cannot be taken up again.
    pub(super) fn check_shared(&self) -> Result<(), Error> {
        if self.continue_latest || self.resume.is_some() || self.session_id.is_some() || self.fork {
            let message = "The conversations of a pool cannot all be the same one";
            return Err(Error::invalid(message, "resume it with `Pool::resume`, one at a time"));
        }
        if self.forget {
            let message = "A conversation that is not written cannot be parked";
            return Err(Error::invalid(message, "leave out `forget_session`"));
        }
        Ok(())
    }

    fn check(&self) -> Result<(), Error> {
        let again = self.continue_latest || self.resume.is_some();
        let problem = if self.continue_latest && self.resume.is_some() {
            (
                "Both the latest conversation and a named one are to go on",
                "choose `continue_latest` or `resume`",
            )
        } else if self.resume.as_ref().is_some_and(|id| id.trim().is_empty()) {
            ("The conversation to go on with has an empty id", "list the sessions to find it")
        } else if self.fork && !again {
            ("A new conversation cannot be a copy", "add `resume` or `continue_latest`")
        } else if self.session_id.is_some() && again && !self.fork {
            ("A conversation that goes on keeps its id", "add `fork_session`, or leave out `session_id`")
        } else if self.session_id.as_ref().is_some_and(|id| uuid::Uuid::try_parse(id).is_err()) {
            ("The id of a session must be a UUID", "make one with a UUID library, or leave it out")
        } else if (self.resume_at.is_some() || self.resume_drops_turn.is_some()) && self.resume.is_none() {
            ("Only a named conversation can go on from a message of it", "add `resume`")
        } else if self.resume_drops_turn.is_some() && self.resume_at.is_none() {
            ("A turn can only be dropped after a message to go on from", "add `resume_at`")
        } else if self.forget && self.mirror {
            ("A session that is not written cannot be mirrored", "leave out one of the two")
        } else {
            return Ok(());
        };
        Err(Error::invalid(problem.0, problem.1))
    }
}
