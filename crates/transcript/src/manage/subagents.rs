//! `list_subagents` and `get_subagent_messages` of the official SDKs.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use tidings_protocol::json::Raw;

use super::chain::{ChainNode, agent_chain, nodes};
use super::messages::{AgentParents, SessionMessage, read};
use super::{Page, SessionFile};
use crate::limits::SIDECAR_BYTES_MAX;
use crate::{Error, ErrorKind, open};

/// `list_subagents`: the ids of a session's sub-agents, sorted by folder and name.
pub fn list_subagents(session: &SessionFile) -> Vec<String> {
    agents(session).into_iter().map(|(id, _)| id).collect()
}

/// `get_subagent_messages`: the messages of a sub-agent; empty if there is no such agent.
pub fn subagent_messages(
    session: &SessionFile,
    agent_id: &str,
    page: Page,
) -> Result<Vec<SessionMessage>, Error> {
    let Some((_, path)) = agents(session).into_iter().find(|(id, _)| id == agent_id) else {
        return Ok(Vec::new());
    };
    let nodes = match nodes(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        nodes => nodes?,
    };
    let said =
        agent_chain(&nodes).into_iter().map(|at| &nodes[at]).filter(|node: &&ChainNode| node.is_message());
    read(page.of(said.collect()), &path, &parents(&path))
}

/// The files of sub-agents in the session's folder and below, in the order of the SDKs: by name, with a
/// folder's files at the position of the folder.
fn agents(session: &SessionFile) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    let mut left = vec![session.dir().join("subagents")];
    while let Some(path) = left.pop() {
        // A link to a folder could lead back here.
        if path.is_dir() && (!path.is_symlink() || found.is_empty() && left.is_empty()) {
            let mut inside: Vec<PathBuf> = match std::fs::read_dir(&path) {
                Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
                Err(_) => continue,
            };
            inside.sort();
            left.extend(inside.into_iter().rev());
            continue;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let id = name.strip_prefix("agent-").and_then(|name| name.strip_suffix(".jsonl"));
        if let Some(id) = id.filter(|_| path.is_file()) {
            found.push((id.to_owned(), path.clone()));
        }
    }
    found
}

/// The origin of a sub-agent according to its sidecar; empty if that cannot be read.
fn parents(agent: &Path) -> AgentParents {
    let mut text = String::new();
    let read = open::regular(&agent.with_extension("meta.json"))
        .and_then(|file| file.take(SIDECAR_BYTES_MAX).read_to_string(&mut text));
    let Some(meta) = read.ok().and_then(|_| Raw::parse(&text).ok()) else { return AgentParents::default() };
    let text = |key: &str| meta.get(key).and_then(Raw::text).map(|text| text.get().into_owned());
    AgentParents { tool_use_id: text("toolUseId"), agent_id: text("parentAgentId") }
}
