//! Heads of sessions: each owner announces how far its sessions go, so that the others know what they lack.
//!
//! The sessions of a node are spread over pages, each of them a key of the bucket with the node's signature.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::error::FleetError;
use crate::limits::{CALL_MAX, HEAD_PAGES, PAGE_HEADS_MAX};
use crate::link::bounded;
use crate::names::{Name, session_token};

use super::member::MEMBER;
use super::{Roster, unreadable};

/// The kind of their keys, and the purpose of their signatures.
pub(super) const HEAD: &str = "head";

/// The head of a session, as its owner announces it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionHead {
    /// The epoch of its events.
    pub epoch: u64,
    /// The number of its first event.
    pub floor: u64,
    /// The number of its last event; 0 if it has none.
    pub last: u64,
    /// The hash of its events from [`hash_from`](Self::hash_from) to the last one; none while it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// The number of the first event in the hash.
    #[serde(default)]
    pub hash_from: u64,
}

/// Some of the sessions of a node, with their heads.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HeadPage {
    /// Time of the start of the node's server, in milliseconds since the Unix epoch by the node's clock.
    pub started_ms: i64,
    /// Number of the announcement in that run.
    pub count: u64,
    /// The heads by the key of their session.
    pub heads: BTreeMap<String, SessionHead>,
}

/// The heads of a node, by page.
pub(super) type KnownHeads = HashMap<usize, HeadPage>;

/// The page of a session.
pub fn page_of(session: &str) -> usize {
    let token = session_token(session);
    usize::from_str_radix(token.get(..2).unwrap_or_default(), 16).unwrap_or_default() % HEAD_PAGES
}

impl Roster {
    /// Announces a page of this node's heads.
    pub async fn announce_heads(&self, page: usize, heads: &HeadPage) -> Result<(), FleetError> {
        let doing = "announce the heads of sessions";
        let identity = self.0.link.identity();
        let (node, number) = (identity.node.as_str(), page.to_string());
        let value = serde_json::to_vec(heads).map_err(|_| unreadable())?;
        let sealed = identity.seal(&identity.key, HEAD, &[node.as_bytes(), number.as_bytes()], &value)?;
        let store = self.0.link.bucket().await?;
        let key = format!("{HEAD}.{node}.{number}");
        let stored = bounded(doing, CALL_MAX, store.put(&key, sealed.clone().into())).await?;
        stored.map_err(|error| FleetError::server(doing, error))?;
        self.hear_heads(&format!("{node}.{number}"), &sealed)
    }

    /// The heads of a node's sessions, as it announced them last.
    pub fn heads_of(&self, node: &Name) -> Vec<(String, SessionHead)> {
        let state = self.0.state.lock();
        let pages = state.heads.get(node).into_iter().flat_map(HashMap::values);
        pages.flat_map(|page| &page.heads).map(|(session, head)| (session.clone(), head.clone())).collect()
    }

    /// The head of a session, as its owner announced it last.
    pub fn head(&self, node: &Name, session: &str) -> Option<SessionHead> {
        self.0.state.lock().heads.get(node)?.get(&page_of(session))?.heads.get(session).cloned()
    }

    /// Takes a page of heads from the bucket. An earlier one than the known one changes nothing.
    pub(super) fn hear_heads(&self, id: &str, value: &[u8]) -> Result<(), FleetError> {
        let (node, number) = id.split_once('.').ok_or_else(unreadable)?;
        let name = Name::new(node)?;
        if self.record(MEMBER, node).is_none() {
            self.wait_for_member(&format!("{HEAD}.{id}"), value);
            return Ok(());
        }
        // A removed node announces nothing any more.
        let Some(member) = self.member(&name) else { return Ok(()) };
        let identity = self.0.link.identity();
        let opened = identity.open(&member.key, HEAD, &[node.as_bytes(), number.as_bytes()], value)?;
        let page: HeadPage = serde_json::from_slice(&opened).map_err(|_| unreadable())?;
        let number = number.parse().ok().filter(|number| *number < HEAD_PAGES).ok_or_else(unreadable)?;
        if page.heads.len() > PAGE_HEADS_MAX {
            return Err(unreadable());
        }
        let mut state = self.0.state.lock();
        let known = state.heads.entry(name).or_default();
        let order = |page: &HeadPage| (page.started_ms, page.count);
        if known.get(&number).is_some_and(|known| order(known) >= order(&page)) {
            return Ok(());
        }
        known.insert(number, page);
        state.values.keep(&format!("{HEAD}.{id}"), value);
        Ok(())
    }
}
