//! `get_session_messages` of the official SDKs.

use std::fs::File;
use std::path::Path;

use tidings_protocol::entry::EntryKind;
use tidings_protocol::json::{Json, Raw, write_string};

use super::chain::{ChainNode, main_chain, nodes};
use super::{Page, SessionFile};
use crate::Error;
use crate::error::At as _;

/// A message of a conversation, as the SDKs return it.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionMessage {
    /// The speaker.
    pub speaker: Speaker,
    /// Uuid of its entry.
    pub uuid: String,
    /// The session that the entry names.
    pub session_id: String,
    /// The message exactly as it stands in the file.
    pub message: Option<Json>,
    /// In a sub-agent's conversation, the tool call that started it.
    pub parent_tool_use_id: Option<String>,
    /// In a nested sub-agent's conversation, the agent that started it.
    pub parent_agent_id: Option<String>,
}

/// The speaker of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The user, or a tool result.
    User,
    /// The model.
    Assistant,
}

/// `get_session_messages`: the messages of a session, in order, without sub-agents and text of the client.
///
/// After a compaction the conversation begins with its summary.
pub fn session_messages(session: &SessionFile, page: Page) -> Result<Vec<SessionMessage>, Error> {
    let nodes = nodes(&session.path)?;
    let chain = main_chain(&nodes).into_iter().map(|at| &nodes[at]);
    let visible =
        chain.filter(|node| node.is_message() && !node.is_meta && !node.is_sidechain && !node.is_team);
    read(page.of(visible.collect()), &session.path, &AgentParents::default())
}

/// The origin of a sub-agent.
#[derive(Debug, Default)]
pub(super) struct AgentParents {
    pub(super) tool_use_id: Option<String>,
    pub(super) agent_id: Option<String>,
}

/// Reads the messages of selected nodes. They are read only now, since most callers request a page.
pub(super) fn read(
    nodes: Vec<&ChainNode>,
    path: &Path,
    parents: &AgentParents,
) -> Result<Vec<SessionMessage>, Error> {
    let mut file = File::open(path).at("read", path)?;
    let mut messages = Vec::with_capacity(nodes.len());
    for node in nodes {
        // A file that changed meanwhile may no longer have it.
        let Some(entry) = node.spot.entry(&mut file, path)? else { continue };
        messages.push(SessionMessage {
            speaker: if node.kind == EntryKind::User { Speaker::User } else { Speaker::Assistant },
            uuid: node.uuid.to_string(),
            session_id: entry.session_id().unwrap_or_default().into_owned(),
            message: entry.as_ref().get("message").map(Raw::to_json),
            parent_tool_use_id: parents.tool_use_id.clone(),
            parent_agent_id: parents.agent_id.clone(),
        });
    }
    Ok(messages)
}

impl SessionMessage {
    /// The message as one line of JSON, with the SDKs' keys; its contents stay as they are written.
    pub fn to_line(&self) -> String {
        let speaker = match self.speaker {
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
        };
        let mut line = format!("{{\"type\":\"{speaker}\",\"uuid\":");
        write_string(&self.uuid, &mut line);
        line.push_str(",\"session_id\":");
        write_string(&self.session_id, &mut line);
        line.push_str(",\"message\":");
        line.push_str(self.message.as_ref().map_or("null", |message| message.raw().as_str()));
        for (key, value) in
            [("parent_tool_use_id", &self.parent_tool_use_id), ("parent_agent_id", &self.parent_agent_id)]
        {
            line.push_str(",\"");
            line.push_str(key);
            line.push_str("\":");
            match value {
                Some(value) => write_string(value, &mut line),
                None => line.push_str("null"),
            }
        }
        line.push('}');
        line
    }
}
