//! The session itself: its turn, its queue, its name.

use crate::json::{object, open_string};

open_string! {
    /// Who gave a session its title.
    pub struct RenameSource {
        HOST = "host",
        REMOTE = "remote",
    }
}

object! {
    /// Stops the turn.
    pub struct Interrupt {
        /// Whether messages that wait their turn are dropped too.
        opt cancel_queued: bool,
    }

    /// The answer to an [`Interrupt`]; it comes before the result of the turn.
    pub struct InterruptReceipt {
        /// Messages that will run next by themselves, by uuid.
        def still_queued: Vec<String>,
        /// Messages that were dropped, by uuid.
        opt cancelled: Vec<String>,
    }

    /// Takes back a message that waits its turn.
    pub struct CancelAsyncMessage {
        req message_uuid: String,
    }

    /// The answer to a [`CancelAsyncMessage`].
    pub struct CancelAsyncMessageReply {
        /// Whether the message was still waiting.
        def cancelled: bool,
    }

    /// Gives the session a title.
    pub struct RenameSession {
        req title: String,
        opt source: RenameSource,
        opt session_id: String,
    }

    /// Gives the session a colour.
    pub struct SetColor {
        req color: String,
    }

    /// Tells whether anybody watches.
    pub struct SetHasSubscribers {
        /// Nothing when it is not known.
        req has_subscribers: Option<bool>,
    }

    /// Which CLI is this?
    pub struct GetBinaryVersion {}

    /// Which CLI it is.
    pub struct BinaryVersion {
        req version: String,
        opt build_time: String as "buildTime",
    }
}

impl Interrupt {
    /// Stops the turn and drops what waits behind it.
    pub fn and_cancel_queued() -> Self {
        Interrupt { cancel_queued: Some(true), ..Interrupt::default() }
    }
}

impl CancelAsyncMessage {
    /// Takes back the message with this uuid.
    pub fn new(message_uuid: impl Into<String>) -> Self {
        CancelAsyncMessage { message_uuid: message_uuid.into(), ..CancelAsyncMessage::default() }
    }
}

impl RenameSession {
    /// Gives the session this title.
    pub fn new(title: impl Into<String>) -> Self {
        RenameSession { title: title.into(), ..RenameSession::default() }
    }
}

impl SetColor {
    /// Gives the session this colour.
    pub fn new(color: impl Into<String>) -> Self {
        SetColor { color: color.into(), ..SetColor::default() }
    }
}

impl SetHasSubscribers {
    /// Somebody watches, nobody does, or it is not known.
    pub fn new(has_subscribers: Option<bool>) -> Self {
        SetHasSubscribers { has_subscribers, ..SetHasSubscribers::default() }
    }
}
