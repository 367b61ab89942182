//! What can be read of sessions on disk.

use tidings_transcript::manage;

use super::{Page, SessionInfo, SessionMessage, Sessions};
use crate::error::Error;

impl Sessions {
    /// Facts about each session, those changed last first.
    ///
    /// Sub-agents are left out, and so are sessions that nobody named and nobody typed into.
    pub async fn list(&self, page: Page) -> Result<Vec<SessionInfo>, Error> {
        self.run(move |scope| manage::list_sessions(scope, page)).await
    }

    /// Facts about one session; `None` if there is none, or if it would not be listed.
    pub async fn info(&self, id: &str) -> Result<Option<SessionInfo>, Error> {
        let id = id.to_owned();
        self.run(move |scope| manage::session_info(scope, &id)).await
    }

    /// What was said in a session, in order, without sub-agents; after a compaction it begins with the summary.
    pub async fn messages(&self, id: &str, page: Page) -> Result<Vec<SessionMessage>, Error> {
        self.run_with(id, move |session| manage::session_messages(session, page)).await
    }

    /// The ids of a session's sub-agents.
    pub async fn subagents(&self, id: &str) -> Result<Vec<String>, Error> {
        self.run_with(id, |session| Ok(manage::list_subagents(session))).await
    }

    /// What was said in the conversation of a sub-agent; nothing if there is no such agent.
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
