//! Notices about all sessions.

use futures_core::Stream;
use tidings_api::Notice;

use crate::error::Error;
use crate::events::revoked;
use crate::server::RemoteServer;
use crate::sse::{SseMessage, SseStream, SseUpdate};

/// Path of the notices.
const PATH: &str = "/v1/events";

/// Notices about all sessions that the credential may see.
///
/// They have no cursors: they begin when the connection is made, so lists that are fetched after
/// [`NoticeUpdate::Subscribed`] are complete together with the notices that follow.
#[derive(Debug)]
pub struct Notices {
    stream: SseStream,
    /// True until the first message of a connection.
    is_new: bool,
    /// A notice that came as the first message.
    held: Option<Notice>,
}

/// An update of [`Notices`].
#[derive(Debug)]
#[non_exhaustive]
pub enum NoticeUpdate {
    /// A connection was made, for the first time or again. Fetch lists now: notices before this may be
    /// missing.
    Subscribed,
    /// A notice.
    Notice(Box<Notice>),
    /// The connection was lost, or could not be made. It is made again.
    Lost(Error),
}

impl Notices {
    pub(crate) fn new(server: &RemoteServer) -> Self {
        Notices { stream: SseStream::new(server), is_new: true, held: None }
    }

    /// The next update. Cancel safe.
    ///
    /// Only what no later attempt changes is an error, such as a credential that was revoked.
    pub async fn next(&mut self) -> Result<NoticeUpdate, Error> {
        loop {
            if let Some(held) = self.held.take() {
                return Ok(NoticeUpdate::Notice(Box::new(held)));
            }
            match self.stream.next(|| PATH.to_owned()).await? {
                SseUpdate::Connected => self.is_new = true,
                SseUpdate::Lost(error) => return Ok(NoticeUpdate::Lost(error)),
                SseUpdate::Message(message) => {
                    self.held = self.decode(&message)?;
                    if self.held.is_some() {
                        self.succeeded();
                    }
                    // The first message is a comment, which says that notices follow.
                    if std::mem::take(&mut self.is_new) {
                        return Ok(NoticeUpdate::Subscribed);
                    }
                }
            }
        }
    }

    /// The updates as a stream, which ends after an error.
    pub fn into_stream(self) -> impl Stream<Item = Result<NoticeUpdate, Error>> + Send {
        futures_util::stream::unfold(Some(self), async |notices| {
            let mut notices = notices?;
            match notices.next().await {
                Ok(update) => Some((Ok(update), Some(notices))),
                Err(error) => Some((Err(error), None)),
            }
        })
    }

    /// Makes the connection again, so that [`NoticeUpdate::Subscribed`] follows.
    pub(crate) fn reconnect(&mut self) {
        self.stream.reconnect();
    }

    /// Notes that the connection brought something.
    pub(crate) fn succeeded(&mut self) {
        self.stream.succeeded();
    }

    fn decode(&mut self, message: &SseMessage) -> Result<Option<Notice>, Error> {
        match message.name.as_str() {
            "" => Ok(None),
            "revoked" => Err(revoked()),
            // The server has dropped notices. The connection stands, and lists are to be fetched again.
            "resync" => {
                self.is_new = true;
                Ok(None)
            }
            // Notices that only later versions know are skipped.
            _ => Ok(serde_json::from_str(&message.data).ok()),
        }
    }
}
