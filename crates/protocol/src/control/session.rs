//! The session: its turn, its queue and its name.

use crate::json::{object, open_string};

open_string! {
    /// Origin of a session's title.
    pub struct RenameSource {
        HOST = "host",
        REMOTE = "remote",
    }
}

object! {
    /// Interrupts the turn.
    pub struct Interrupt {
        /// True if queued messages are dropped too.
        opt cancel_queued: bool,
    }

    /// Reply to an [`Interrupt`]; it comes before the result of the turn.
    pub struct InterruptReceipt {
        /// Messages that will run next without another request, by uuid. Absent if the CLI does not report
        /// them.
        opt still_queued: Vec<String>,
        /// Messages that were dropped, by uuid.
        opt cancelled: Vec<String>,
    }

    /// Cancels a queued message.
    pub struct CancelAsyncMessage {
        req message_uuid: String,
    }

    /// The answer to a [`CancelAsyncMessage`].
    pub struct CancelAsyncMessageReply {
        /// True if the message was still queued.
        def cancelled: bool,
    }

    /// Sets the title of the session.
    pub struct RenameSession {
        req title: String,
        opt source: RenameSource,
        opt session_id: String,
    }

    /// Sets the colour of the session.
    pub struct SetColor {
        req color: String,
    }

    /// Reports whether there are subscribers.
    pub struct SetHasSubscribers {
        /// Absent when unknown.
        req has_subscribers: Option<bool>,
    }

    /// Request for the version of the CLI.
    pub struct GetBinaryVersion {}

    /// Version of the CLI.
    pub struct BinaryVersion {
        req version: String,
        opt build_time: String as "buildTime",
        /// The oldest official SDK that a desktop application may use with it.
        opt oldest_desktop_sdk: String as "oldestDesktopSdk",
    }
}

impl Interrupt {
    /// Interrupts the turn and drops the queued messages.
    pub fn and_cancel_queued() -> Self {
        Interrupt { cancel_queued: Some(true), ..Interrupt::default() }
    }
}

impl CancelAsyncMessage {
    /// Cancels the message with this uuid.
    pub fn new(message_uuid: impl Into<String>) -> Self {
        CancelAsyncMessage { message_uuid: message_uuid.into(), ..CancelAsyncMessage::default() }
    }
}

impl RenameSession {
    /// Sets this title.
    pub fn new(title: impl Into<String>) -> Self {
        RenameSession { title: title.into(), ..RenameSession::default() }
    }
}

impl SetColor {
    /// Sets this colour.
    pub fn new(color: impl Into<String>) -> Self {
        SetColor { color: color.into(), ..SetColor::default() }
    }
}

impl SetHasSubscribers {
    /// There are subscribers, there are none, or it is unknown.
    pub fn new(has_subscribers: Option<bool>) -> Self {
        SetHasSubscribers { has_subscribers, ..SetHasSubscribers::default() }
    }
}
