//! A conversation with Claude Code: one process, many turns.

mod cli_requests;
mod closing;
mod connect;
mod core;
mod event;
mod interrupt;
mod pending_calls;
mod reader;
#[cfg(feature = "otel")]
mod spans;
mod stderr;
mod subscribers;
mod turn;
mod turns;
mod writer;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tidings_protocol::control::{Call, ControlResponse, InitializeReply, Request, Success, UnknownCall};
use tidings_protocol::json::Json;
use tidings_protocol::messages::Message;
use tracing::Instrument as _;

pub use closing::StoppedBy;
pub(crate) use connect::check_runtime;
pub(crate) use event::OUTPUT_MISSING;
pub use event::{Event, TurnEnd, TurnId, TurnOutcome};
pub use interrupt::Interrupted;
pub use subscribers::Subscriber;
pub use turn::Turn;
pub(crate) use turn::lagged;
pub(crate) use turns::outcome;

use self::core::Core;
use crate::error::{Error, ErrorKind};
use crate::handlers::{Decision, PermissionAsk};
use crate::pool::ProcessPermit;
use crate::prompt::Prompt;
use crate::transport::Exit;

/// A conversation with Claude Code: one process, many turns.
///
/// Handles are cheap to clone. When the last one is dropped the session closes, as by [`Client::close`].
///
/// ```no_run
/// use tidings::{Client, Options};
///
/// # async fn run() -> Result<(), tidings::Error> {
/// let client = Client::connect(Options::new()).await?;
/// let end = client.send("What is the capital of France?").await?.finish().await?;
/// println!("{}", end.text());
/// client.close().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    core: Arc<Core>,
    /// Closes the session when the last clone is dropped. `None` for handles that are given to handlers.
    _guard: Option<Arc<SessionGuard>>,
}

/// A guard that lives as long as any client handle.
pub(crate) struct SessionGuard(std::sync::OnceLock<Arc<Core>>);

impl Client {
    pub(crate) fn new(core: Arc<Core>, guard: Option<Arc<SessionGuard>>) -> Self {
        Client { core, _guard: guard }
    }

    /// Sends a prompt. The returned turn can be followed, awaited or dropped.
    ///
    /// A prompt may be sent while another is being answered: it is queued, or answered together with others.
    pub async fn send(&self, prompt: impl Into<Prompt>) -> Result<Turn, Error> {
        let span = tracing::debug_span!("send");
        async move {
            let core = &self.core;
            let (uuid, line) = prompt.into().into_line(&core.ids, core.verbatim);
            if let Some(ended) = core.ended.borrow().as_ref() {
                return Err(ended.error.clone().unwrap_or_else(Error::closed));
            }
            if core.closing.get().is_some() {
                return Err(Error::closed());
            }
            let subscriber = core.subscribers.add(Some(uuid.clone()));
            if !core.turns().sent(&uuid) {
                return Err(Error::new(
                    ErrorKind::Invalid,
                    "Too many prompts are unanswered",
                    "wait for some of them to finish",
                ));
            }
            #[cfg(feature = "otel")]
            core.spans.sent(&uuid);
            drop(core.waiting.lock().take());
            core.touch();
            let mut unsent = Unsent { core, uuid: &uuid, armed: true };
            if let Err(error) = core.writer.data(line).await {
                return Err(core.explain_closed(error).await);
            }
            unsent.armed = false;
            drop(unsent);
            Ok(Turn::new(uuid, subscriber))
        }
        .instrument(span)
        .await
    }

    /// Subscribes to all events from now on. Any number of subscribers is allowed.
    pub fn subscribe(&self) -> Subscriber {
        self.end_if_closed(self.core.subscribers.add(None))
    }

    /// Subscribes without loss: when the subscriber falls far behind, the session waits for it.
    ///
    /// The caller must keep reading or drop the subscriber: answers to requests wait behind the frames as
    /// well.
    pub fn follow(&self) -> Subscriber {
        self.end_if_closed(self.core.subscribers.add_lossless())
    }

    fn end_if_closed(&self, subscriber: Subscriber) -> Subscriber {
        if let Some(ended) = self.core.ended.borrow().as_ref() {
            self.core.subscribers.end(&ended.error.clone().unwrap_or_else(Error::closed));
        }
        subscriber
    }

    /// The CLI's reply to the handshake: its version, models, commands and agents.
    pub fn info(&self) -> InitializeReply {
        self.core.info.get().cloned().unwrap_or_default()
    }

    /// The id of the conversation, by which it can be resumed; `None` before its first turn.
    pub fn session_id(&self) -> Option<String> {
        self.core.session.lock().clone()
    }

    /// Sends a control request and returns its typed reply.
    ///
    /// If the future is dropped, or the reply does not arrive in time, the request is cancelled.
    pub async fn request<R: Request>(&self, request: R) -> Result<R::Reply, Error> {
        self.core.request(request, self.core.timeouts.request).await
    }

    /// Sends a control request with another timeout.
    pub async fn request_within<R: Request>(&self, request: R, limit: Duration) -> Result<R::Reply, Error> {
        self.core.request(request, limit).await
    }

    /// Sends a control request that has no type in this crate, and returns the body of the reply.
    pub async fn request_untyped(&self, subtype: &str, body: Json) -> Result<Json, Error> {
        let call = Call::Unknown(UnknownCall::new(subtype, body));
        let Success { response, .. } = self.core.call(call, self.core.timeouts.request).await?;
        Ok(response.unwrap_or_default())
    }

    /// Sends any message unchanged. Control frames in the flat style are refused when they would crash the
    /// CLI.
    pub async fn send_message(&self, message: &Message) -> Result<(), Error> {
        self.core.writer.data(message.to_line()).await
    }

    /// Answers a permission request that its handler left open with [`Decision::Later`].
    ///
    /// The first answer counts; a later one fails with [`ErrorKind::Settled`].
    pub async fn decide(&self, request_id: &str, decision: Decision) -> Result<(), Error> {
        let Some(Call::CanUseTool(asked)) = self.core.cli_requests.get(request_id) else {
            return self.core.cli_requests.claim(request_id).map(drop);
        };
        let Some(result) = decision.into_result(&asked) else {
            return Ok(());
        };
        self.core.cli_requests.claim(request_id)?;
        self.core.answer(request_id, ControlResponse::success(&result)).await;
        Ok(())
    }

    /// The open permission requests, with their ids for [`Client::decide`].
    pub fn open_permissions(&self) -> Vec<(String, tidings_protocol::control::CanUseTool)> {
        let cli_requests = self.core.cli_requests.list().into_iter();
        cli_requests
            .filter_map(|(id, call)| match call {
                Call::CanUseTool(call) => Some((id, *call)),
                _ => None,
            })
            .collect()
    }

    /// A handle that does not keep the session open: the session closes when the other handles are dropped.
    #[must_use]
    pub fn guest(&self) -> Self {
        Client::new(Arc::clone(&self.core), None)
    }

    /// The process id of the CLI, if the transport is a running process.
    pub fn pid(&self) -> Option<u32> {
        self.core.stop.pid()
    }

    /// True if the session has ended.
    pub fn is_closed(&self) -> bool {
        self.core.ended.borrow().is_some()
    }

    /// The last part of the CLI's stderr.
    pub fn stderr(&self) -> String {
        self.core.stderr.lock().text()
    }

    /// Closes the session: a running turn is interrupted, then the CLI gets the end of its input, then
    /// SIGTERM, then it is killed.
    ///
    /// Turns and requests that are awaited fail with [`ErrorKind::Closed`] at once; [`Client::finish`] lets
    /// them finish first. Dropping the last handle and a [token](crate::Options::cancel_with) close the
    /// session in the same way. This may be called any number of times, on any handle. The error says why the
    /// CLI exited abnormally.
    pub async fn close(&self) -> Result<Exit, Error> {
        self.core.close().await
    }

    /// Ends the input: the CLI finishes its work and exits, however long that takes.
    pub fn end_input(&self) {
        self.core.writer.end();
    }

    /// Waits until the session has ended by itself.
    pub async fn ended(&self) -> Result<Exit, Error> {
        let mut ended = self.core.ended.subscribe();
        let ended = ended.wait_for(Option::is_some).await.map_err(|_| Error::closed())?;
        match ended.as_ref().and_then(|ended| ended.error.clone()) {
            Some(error) => Err(error),
            None => Ok(ended.as_ref().map(|ended| ended.exit).unwrap_or_default()),
        }
    }

    /// Waits until no turn runs, no prompt is queued, and no background work will begin a turn.
    ///
    /// A [replayed](crate::transport::Replay) session fails if its recording goes on with another prompt, or
    /// has ended.
    pub async fn settled(&self) -> Result<(), Error> {
        let mut changed = self.core.changed.subscribe();
        loop {
            if let Some(ended) = self.core.ended.borrow().as_ref() {
                return ended.error.clone().map_or(Ok(()), Err);
            }
            if self.core.closing.get().is_some() {
                return Err(Error::closed());
            }
            if self.core.turns().is_settled() {
                return Ok(());
            }
            if let Some(error) = self.core.stuck() {
                return Err(error);
            }
            changed.changed().await.map_err(|_| Error::closed())?;
        }
    }

    /// Waits until the session is closing or has ended.
    pub(crate) async fn closing(&self) {
        let mut changed = self.core.changed.subscribe();
        while !self.is_closed() && self.core.closing.get().is_none() {
            if changed.changed().await.is_err() {
                return;
            }
        }
    }

    /// True if a turn runs or a prompt is queued.
    pub fn is_busy(&self) -> bool {
        self.core.turns().is_busy()
    }
}

/// Access for a pool, which may park the session.
impl Client {
    /// True if no turn runs, nothing runs in the background, and no request is open.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.core.turns().is_done() && self.core.cli_requests.is_empty()
    }

    /// A counter that increases with every change of the session.
    pub(crate) fn changes(&self) -> tokio::sync::watch::Receiver<u64> {
        self.core.changed.subscribe()
    }

    /// Keeps a permit until the process is gone.
    pub(crate) fn hold(&self, permit: ProcessPermit) {
        *self.core.permit.lock() = Some(permit);
        if self.is_closed() {
            drop(self.core.permit.lock().take());
        }
    }

    /// Counts as a change of the session.
    pub(crate) fn touch(&self) {
        self.core.touch();
    }
}

/// Withdraws a prompt that could not be written.
struct Unsent<'a> {
    core: &'a Core,
    uuid: &'a str,
    armed: bool,
}

impl Drop for Unsent<'_> {
    fn drop(&mut self) {
        if self.armed {
            self.core.turns().unsent(self.uuid);
            #[cfg(feature = "otel")]
            self.core.spans.unsent(self.uuid);
        }
    }
}

impl SessionGuard {
    pub(crate) fn new() -> Self {
        SessionGuard(std::sync::OnceLock::new())
    }
}

impl Drop for SessionGuard {
    fn drop(&mut self) {
        if let Some(core) = self.0.get() {
            core.begin_close();
        }
    }
}

impl fmt::Debug for SessionGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionGuard")
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("pid", &self.pid())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

impl PermissionAsk {
    /// The session that sent the request.
    pub fn client(&self) -> &Client {
        self.context.client()
    }
}
