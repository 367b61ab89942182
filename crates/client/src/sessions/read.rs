//! Reading sessions on disk.

use tidings_transcript::manage;

use super::{Page, SessionInfo, SessionMessage, Sessions};
use crate::error::Error;

impl Sessions {
    /// Information about each session, last modified first.
    ///
    /// Sub-agents are omitted, and so are sessions without a title and without a prompt of a user.
    pub async fn list(&self, page: Page) -> Result<Vec<SessionInfo>, Error> {
        self.run(move |scope| manage::list_sessions(scope, page)).await
    }

    /// Information about one session; `None` if it does not exist, or if it would not be listed.
    pub async fn info(&self, id: &str) -> Result<Option<SessionInfo>, Error> {
        let id = id.to_owned();
        self.run(move |scope| manage::session_info(scope, &id)).await
    }

    /// The messages of a session, in order, without sub-agents; after a compaction they begin with the
    /// summary.
    pub async fn messages(&self, id: &str, page: Page) -> Result<Vec<SessionMessage>, Error> {
        self.run_with(id, move |session| manage::session_messages(session, page)).await
    }

    /// The ids of a session's sub-agents.
    pub async fn subagents(&self, id: &str) -> Result<Vec<String>, Error> {
        self.run_with(id, |session| Ok(manage::list_subagents(session))).await
    }

    /// The messages of a sub-agent; empty if there is no such agent.
    pub async fn subagent_messages(
        &self,
        id: &str,
        agent_id: &str,
        page: Page,
    ) -> Result<Vec<SessionMessage>, Error> {
        let agent = agent_id.to_owned();
        self.run_with(id, move |session| manage::subagent_messages(session, &agent, page)).await
    }
}
