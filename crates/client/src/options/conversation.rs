//! Options of the conversation: new, resumed or forked.

use super::{Options, Plan};
use crate::error::Error;
use crate::session_lock::LockedSession;

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
    /// Continues the latest conversation of the folder.
    pub fn continue_latest(mut self) -> Self {
        self.conversation.continue_latest = true;
        self
    }

    /// Resumes a conversation by its id.
    pub fn resume(mut self, session_id: impl Into<String>) -> Self {
        self.conversation.resume = Some(session_id.into());
        self
    }

    /// Sets the id of the new conversation, a UUID.
    pub fn session_id(mut self, session_id: impl Into<String>) -> Self {
        self.conversation.session_id = Some(session_id.into());
        self
    }

    /// Continues in a fork, and leaves the original conversation unchanged.
    pub fn fork_session(mut self) -> Self {
        self.conversation.fork = true;
        self
    }

    /// Resumes after this message, and drops all later ones.
    pub fn resume_at(mut self, message_uuid: impl Into<String>) -> Self {
        self.conversation.resume_at = Some(message_uuid.into());
        self
    }

    /// Resumes without the turn that began with this message; [`Options::resume_at`] names the message before
    /// it.
    pub fn resume_drops_turn(mut self, message_uuid: impl Into<String>) -> Self {
        self.conversation.resume_drops_turn = Some(message_uuid.into());
        self
    }

    /// Does not write a session file.
    pub fn forget_session(mut self) -> Self {
        self.conversation.forget = true;
        self
    }

    /// Also sends every line of the session file as a `transcript_mirror` frame; see [`Client::subscribe`].
    ///
    /// [`Client::subscribe`]: crate::Client::subscribe
    pub fn mirror_session(mut self) -> Self {
        self.conversation.mirror = true;
        self
    }

    /// Sets the title of the conversation.
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
        plan.launch.locked_session = self.locked_session();
        Ok(())
    }

    /// The session that the agent writes. A fork leaves the original alone.
    fn locked_session(&self) -> LockedSession {
        let resumed = self.resume.as_ref().filter(|_| !self.fork);
        match resumed.or(self.session_id.as_ref()) {
            _ if self.forget => LockedSession::None,
            Some(id) => LockedSession::Named(id.clone()),
            None if self.continue_latest && !self.fork => LockedSession::Latest,
            None => LockedSession::New,
        }
    }

    /// Refuses options that a pool cannot use: a specific conversation, and one without a session file, which
    /// cannot be resumed.
    pub(super) fn check_shared(&self) -> Result<(), Error> {
        if self.continue_latest || self.resume.is_some() || self.session_id.is_some() || self.fork {
            let message = "A pool cannot resume one conversation in all its sessions";
            return Err(Error::invalid(message, "resume it with `Pool::resume`, one at a time"));
        }
        if self.forget {
            let message = "A conversation without a session file cannot be parked";
            return Err(Error::invalid(message, "remove `forget_session`"));
        }
        Ok(())
    }

    fn check(&self) -> Result<(), Error> {
        let again = self.continue_latest || self.resume.is_some();
        let problem = if self.continue_latest && self.resume.is_some() {
            (
                "Both the latest conversation and a specific one are selected",
                "choose `continue_latest` or `resume`",
            )
        } else if self.resume.as_ref().is_some_and(|id| id.trim().is_empty()) {
            ("The id of the conversation to resume is empty", "list the sessions to find it")
        } else if self.fork && !again {
            ("A new conversation cannot be a fork", "add `resume` or `continue_latest`")
        } else if self.session_id.is_some() && again && !self.fork {
            ("A resumed conversation keeps its id", "add `fork_session`, or remove `session_id`")
        } else if self.session_id.as_ref().is_some_and(|id| uuid::Uuid::try_parse(id).is_err()) {
            ("The id of a session must be a UUID", "generate one with a UUID library, or remove it")
        } else if (self.resume_at.is_some() || self.resume_drops_turn.is_some()) && self.resume.is_none() {
            ("Only a specific conversation can be resumed at a message", "add `resume`")
        } else if self.resume_drops_turn.is_some() && self.resume_at.is_none() {
            ("A turn can only be dropped after the message to resume at", "add `resume_at`")
        } else if self.forget && self.mirror {
            ("A session without a session file cannot be mirrored", "remove one of the two")
        } else {
            return Ok(());
        };
        Err(Error::invalid(problem.0, problem.1))
    }
}
