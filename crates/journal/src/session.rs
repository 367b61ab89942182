//! Sessions: their names, their rows and the right to write them.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;

use super::{ClientId, Cursor, ErrorKind, EventDraft, JournalError, Key, Stored};
use crate::limits::{LABELS_MAX, SETTINGS_BYTES_MAX, TEXT_BYTES_MAX};

/// The number of a session, for clients that need a small id. It is never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle(u64);

impl Handle {
    /// A handle from a client.
    pub fn new(number: u64) -> Self {
        Handle(number)
    }

    /// The number.
    pub fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The right to write a session. Claiming the session invalidates every earlier fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence(u64);

impl Fence {
    /// Higher than any claimed fence, for hosts without a session.
    #[cfg(unix)]
    pub const HIGHEST: Fence = Fence(u64::MAX);

    pub(crate) fn new(number: u64) -> Self {
        Fence(number)
    }

    /// The number.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// Name of a session in a call: its handle or its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionName {
    /// The handle.
    Handle(Handle),
    /// The key.
    Key(Key),
}

/// A session to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// Its key, which must be unused.
    pub key: Key,
    /// Its working directory.
    pub cwd: String,
    /// Its title.
    pub title: Option<String>,
    /// Labels to find it by.
    pub labels: BTreeMap<String, String>,
    /// Its launch settings, as JSON that is opaque to the journal.
    pub settings: String,
    /// Its state, in one word.
    pub state: String,
    /// Time of its creation.
    pub created: Timestamp,
    /// The id of the command that creates it. The same id again returns the same session.
    pub client_id: Option<ClientId>,
}

impl NewSession {
    /// A session with only a key, a folder and a time of creation.
    pub fn new(key: Key, cwd: impl Into<String>, created: Timestamp) -> Self {
        NewSession {
            key,
            cwd: cwd.into(),
            title: None,
            labels: BTreeMap::new(),
            settings: String::new(),
            state: "idle".to_owned(),
            created,
            client_id: None,
        }
    }
}

/// A stored session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its handle.
    pub handle: Handle,
    /// Its key.
    pub key: Key,
    /// Its working directory.
    pub cwd: String,
    /// Its title.
    pub title: Option<String>,
    /// Labels to find it by.
    pub labels: BTreeMap<String, String>,
    /// Its launch settings.
    pub settings: String,
    /// Its state, in one word.
    pub state: String,
    /// The CLI's own ids for it, the oldest first: a fork, a `/clear` or a new start adds one.
    pub cli_sessions: Vec<String>,
    /// Time of its creation.
    pub created: Timestamp,
    /// Time of its last activity.
    pub active: Timestamp,
    /// The newest event.
    pub head: Cursor,
    /// The number of the oldest event that is kept.
    pub floor: u64,
    /// The weight of its events.
    pub bytes: u64,
    /// Offset up to which the spool of its host is stored.
    pub host_offset: Option<u64>,
    /// The server of the fleet that owns it; none if this one does.
    pub node: Option<String>,
}

impl Session {
    /// A session right after its creation.
    pub(crate) fn made(new: &NewSession, handle: Handle, head: Cursor) -> Self {
        let created = super::event::whole_micros(new.created);
        Session {
            handle,
            key: new.key.clone(),
            cwd: new.cwd.clone(),
            title: new.title.clone().filter(|title| !title.is_empty()),
            labels: new.labels.clone(),
            settings: new.settings.clone(),
            state: new.state.clone(),
            cli_sessions: Vec::new(),
            created,
            active: created,
            head,
            floor: 1,
            bytes: 0,
            host_offset: None,
            node: None,
        }
    }
}

/// Numbers of sessions and asks in a journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionCounts {
    /// Sessions, by their state.
    pub sessions: BTreeMap<String, u64>,
    /// Open asks.
    pub open_asks: u64,
}

/// Changes to a session. Fields that are `None` stay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionChange {
    /// New title; an empty one removes it.
    pub title: Option<String>,
    /// New labels, which replace all.
    pub labels: Option<BTreeMap<String, String>>,
    /// New settings.
    pub settings: Option<String>,
    /// New state.
    pub state: Option<String>,
    /// New CLI session id; the newest one again changes nothing.
    pub cli_session: Option<String>,
    /// New time of the last activity.
    pub active: Option<Timestamp>,
    /// The event of the change; both are stored, or neither. If its client id was seen, neither is.
    pub event: Option<EventDraft>,
}

/// A session after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The session.
    pub session: Session,
    /// The position of the event, if there was one.
    pub event: Option<Stored>,
}

impl SessionChange {
    /// Applies the changes to a session; the caller appends the event.
    pub(crate) fn apply(&self, session: &mut Session) {
        let set = |to: &mut String, from: &Option<String>| {
            if let Some(from) = from {
                to.clone_from(from);
            }
        };
        set(&mut session.settings, &self.settings);
        set(&mut session.state, &self.state);
        if let Some(title) = &self.title {
            session.title = Some(title.clone()).filter(|title| !title.is_empty());
        }
        if let Some(labels) = &self.labels {
            session.labels.clone_from(labels);
        }
        if let Some(active) = self.active {
            session.active = super::event::whole_micros(active);
        }
    }

    pub(crate) fn check(&self) -> Result<(), JournalError> {
        for text in [&self.title, &self.state, &self.cli_session].into_iter().flatten() {
            check_text(text)?;
        }
        self.settings.as_deref().map_or(Ok(()), check_settings)?;
        self.labels.as_ref().map_or(Ok(()), check_labels)?;
        super::event::check_drafts(self.event.as_slice())
    }
}

impl NewSession {
    pub(crate) fn check(&self) -> Result<(), JournalError> {
        for text in [Some(&self.cwd), self.title.as_ref(), Some(&self.state)].into_iter().flatten() {
            check_text(text)?;
        }
        check_settings(&self.settings)?;
        check_labels(&self.labels)
    }

    pub(crate) fn exists(&self) -> JournalError {
        let hint = "choose another key";
        JournalError::new(ErrorKind::Exists, format!("There is a session `{}` already", self.key), hint)
    }
}

pub(crate) fn check_text(text: &str) -> Result<(), JournalError> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(JournalError::too_large("The length of a text", TEXT_BYTES_MAX));
    }
    Ok(())
}

fn check_settings(settings: &str) -> Result<(), JournalError> {
    if settings.len() > SETTINGS_BYTES_MAX {
        return Err(JournalError::too_large("The length of the settings", SETTINGS_BYTES_MAX));
    }
    Ok(())
}

fn check_labels(labels: &BTreeMap<String, String>) -> Result<(), JournalError> {
    if labels.len() > LABELS_MAX {
        return Err(JournalError::too_large("The number of labels", LABELS_MAX));
    }
    labels.iter().try_for_each(|(name, value)| check_text(name).and(check_text(value)))
}
