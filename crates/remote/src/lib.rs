#![doc = include_str!("../README.md")]

mod answers;
mod devices;
mod error;
mod events;
mod fleet;
mod history;
mod inbox;
pub mod local;
mod notices;
mod requests;
mod route;
mod server;
mod sessions;
#[cfg(feature = "terminal")]
mod socket;
mod sse;
#[cfg(feature = "terminal")]
mod terminal;
#[cfg(feature = "tls")]
mod tls;
mod transcripts;
mod turn;

pub use answers::Answered;
pub use error::{Error, ErrorKind, Retry};
pub use events::{Answering, SessionEvent, SessionEvents, SessionUpdate};
pub use history::{PastEvent, PastEvents};
pub use inbox::{InboxQuery, InboxState};
pub use notices::{NoticeUpdate, Notices};
pub use requests::{RequestStream, RequestUpdate, SessionRequest};
pub use route::segment;
pub use server::{RemoteBody, RemoteOptions, RemoteServer, client_id};
pub use sessions::RemoteSession;
#[cfg(feature = "terminal")]
pub use socket::{RemoteSocket, SocketData};
#[cfg(feature = "terminal")]
pub use terminal::{RemoteTerminal, ScreenSize, TerminalUpdate};
pub use transcripts::{CostQuery, TranscriptPart, TranscriptQuery, TranscriptSearch};
pub use turn::{PromptResult, TurnAnswer};

/// Bodies of requests and responses.
pub use tidings_api as api;
/// Events of a session, in the module `ui`.
pub use tidings_protocol as protocol;
