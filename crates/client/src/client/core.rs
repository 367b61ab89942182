//! The state shared by all handles and tasks of a session.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tidings_protocol::control::{Call, ControlRequest, ControlResponse, InitializeReply, Request, Success};
use tidings_protocol::json::Raw;
use tidings_protocol::messages::{ControlCancelRequest, Message, SystemView};
use tidings_protocol::{Frame, Kind};
use tokio::sync::watch;
use tracing::Instrument as _;

use super::Client;
use super::cli_requests::CliRequests;
use super::event::{Event, TurnEnd, TurnOutcome};
use super::pending_calls::PendingCalls;
use super::stderr::StderrTail;
use super::subscribers::Subscribers;
use super::turns::Turns;
use super::writer::Writer;
use crate::agent_name::AgentName;
use crate::error::{Error, ErrorKind};
use crate::handlers::{Answer, Context, Handlers};
use crate::ids::Ids;
use crate::options::Options;
use crate::pool::ProcessPermit;
use crate::prompt::Verbatim;
use crate::transport::{Exit, Stop};

#[derive(Debug)]
pub(crate) struct Core {
    pub(super) agent: AgentName,
    pub(super) writer: Writer,
    pub(super) pending_calls: PendingCalls,
    pub(super) cli_requests: CliRequests,
    pub(super) subscribers: Subscribers,
    pub(super) turns: Mutex<Turns>,
    pub(super) handlers: Arc<Handlers>,
    pub(super) ids: Ids,
    pub(super) stop: Arc<dyn Stop>,
    pub(super) verbatim: Verbatim,
    /// True if frames that report the state of the session are delivered.
    pub(super) shows_states: bool,
    pub(super) timeouts: Timeouts,
    pub(super) info: OnceLock<InitializeReply>,
    /// The id of the conversation, as of the last turn.
    pub(super) session: Mutex<Option<String>>,
    #[cfg(feature = "otel")]
    pub(super) spans: super::spans::Spans,
    pub(super) stderr: Mutex<StderrTail>,
    /// The error text of the last result, if it was an error and no other frame followed.
    pub(super) last_error: Mutex<Option<String>>,
    /// The end of the session, once it has ended.
    pub(super) ended: watch::Sender<Option<SessionEnd>>,
    /// A counter that increases with every change of turns and requests.
    pub(super) changed: watch::Sender<u64>,
    pub(super) closing: OnceLock<()>,
    /// Set when the process was forced to exit: its exit code then carries no information.
    pub(super) forced: OnceLock<()>,
    pub(super) runtime: tokio::runtime::Handle,
    /// Set while nothing more arrives before the next prompt: the error of callers that wait for something
    /// else.
    pub(super) waiting: Mutex<Option<Error>>,
    /// The permit of a pool, until the process is gone.
    pub(super) permit: Mutex<Option<ProcessPermit>>,
}

/// The end of a session.
#[derive(Debug, Clone)]
pub(super) struct SessionEnd {
    pub(super) exit: Exit,
    pub(super) error: Option<Error>,
}

/// The timeouts of a session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timeouts {
    pub(super) initialize: Duration,
    pub(super) request: Duration,
    pub(super) close: Duration,
    pub(super) stall: Option<Duration>,
}

impl Core {
    pub(super) fn new(options: &Options, writer: Writer, stop: Arc<dyn Stop>) -> Self {
        let process = &options.process;
        let verbatim = if options.takes_prompts_verbatim() { Verbatim::Always } else { Verbatim::AsMarked };
        Core {
            agent: process.agent_name.clone(),
            writer,
            pending_calls: PendingCalls::new(process.agent_name.clone()),
            cli_requests: CliRequests::default(),
            subscribers: Subscribers::default(),
            turns: Mutex::new(Turns::new(options)),
            handlers: Arc::new(options.handlers.for_session()),
            ids: options.ids.clone(),
            stop,
            verbatim,
            shows_states: process.shows_states(),
            timeouts: Timeouts {
                initialize: process.initialize_timeout,
                request: process.request_timeout,
                close: process.close_grace,
                stall: process.stall_after,
            },
            info: OnceLock::new(),
            session: Mutex::default(),
            #[cfg(feature = "otel")]
            spans: super::spans::Spans::default(),
            stderr: Mutex::default(),
            last_error: Mutex::default(),
            ended: watch::Sender::new(None),
            changed: watch::Sender::new(0),
            closing: OnceLock::new(),
            forced: OnceLock::new(),
            runtime: tokio::runtime::Handle::current(),
            waiting: Mutex::default(),
            permit: Mutex::default(),
        }
    }

    pub(super) fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock()
    }

    /// Sends a request and waits for its answer.
    pub(super) async fn request<R: Request>(
        self: &Arc<Self>,
        request: R,
        limit: Duration,
    ) -> Result<R::Reply, Error> {
        self.call(request.into(), limit).await.and_then(|success| self.reply::<R>(&success))
    }

    /// Sends a request and returns the whole reply. The request is cancelled if the future is dropped or
    /// times out.
    pub(super) async fn call(self: &Arc<Self>, call: Call, limit: Duration) -> Result<Success, Error> {
        let span = tracing::debug_span!("call", subtype = call.subtype());
        async move {
            let subtype = call.subtype().to_owned();
            let id = self.ids.next();
            let answer = self.pending_calls.open(&id, &subtype)?;
            let mut unanswered = CancelOnDrop { core: self, id: &id, sent: false };
            let line = Message::ControlRequest { request_id: id.clone(), request: ControlRequest::new(call) }
                .to_line();
            unanswered.sent = true;
            if let Err(error) = self.writer.control(line).await {
                // The exit of the process explains more than its closed input.
                return Err(self.explain_closed(error).await);
            }
            match tokio::time::timeout(limit, answer).await {
                Ok(Ok(result)) => {
                    unanswered.sent = false;
                    result
                }
                Ok(Err(_)) => Err(Error::closed()),
                Err(_) => Err(Error::timeout(&self.agent, &subtype, limit)),
            }
        }
        .instrument(span)
        .await
    }

    /// Replaces an error that only says that the session is closed by the reason of the end, if there is one.
    pub(super) async fn explain_closed(&self, error: Error) -> Error {
        if error.kind() != ErrorKind::Closed {
            return error;
        }
        let mut ended = self.ended.subscribe();
        let known = tokio::time::timeout(crate::limits::DRAIN, ended.wait_for(Option::is_some)).await;
        let reason = known.ok().and_then(Result::ok).and_then(|ended| ended.as_ref()?.error.clone());
        reason.unwrap_or(error)
    }

    /// Answers a control request of the CLI in a task of its own.
    pub(super) fn handle_request(self: &Arc<Self>, id: String, call: Call) {
        let cancel = match self.cli_requests.open(&id, call.clone()) {
            Ok(cancel) => cancel,
            Err(super::cli_requests::RequestRefusal::Repeated) => return,
            Err(super::cli_requests::RequestRefusal::TooMany) => {
                self.writer
                    .control_if_room(answer_line(&id, ControlResponse::error("Too many requests are open")));
                return;
            }
        };
        self.touch();
        let client = Client::new(Arc::clone(self), None);
        let context = Context::new(id.clone(), client, cancel.clone());
        let core = Arc::clone(self);
        let handlers = Arc::clone(&self.handlers);
        let request_call = call.clone();
        // A separate task, so that a panic in a handler ends nothing else.
        let mut answering = tokio::spawn(async move { handlers.answer(request_call, context).await });
        let supervise = async move {
            let answered = tokio::select! {
                biased;
                () = cancel.cancelled() => {
                    answering.abort();
                    return;
                }
                answered = &mut answering => answered,
            };
            let response = match answered {
                Ok(Answer::Now(response)) => response,
                Err(error) if error.is_panic() => {
                    tracing::error!(subtype = call.subtype(), "a handler panicked");
                    Handlers::answer_to_panic(&call)
                }
                Ok(Answer::Later) | Err(_) => return,
            };
            if core.cli_requests.claim(&id).is_ok() {
                core.answer(&id, response).await;
            }
        };
        drop(tokio::spawn(supervise));
    }

    /// Writes an answer. The caller has claimed the request.
    pub(super) async fn answer(&self, id: &str, response: ControlResponse) {
        self.touch();
        if let Err(error) = self.writer.control(answer_line(id, response)).await {
            tracing::debug!(%error, "failed to send an answer");
        }
    }

    /// Processes a frame of the conversation. `end` is the offset of its end in the CLI's output, if the
    /// transport counts bytes.
    pub(super) fn frame(&self, frame: Frame, end: Option<u64>) {
        drop(self.waiting.lock().take());
        self.note_error(&frame);
        self.note_session(&frame);
        // Only system frames can be for the host only, and few frames are system frames. Early versions do
        // not mark them.
        let hidden = frame.kind() == Kind::System
            && (frame.get("sdk_host_only").and_then(Raw::bool) == Some(true)
                || !self.shows_states && matches!(frame.system(), SystemView::SessionStateChanged(_)));
        let update = self.turns().observe(&frame);
        // Waiters do not depend on deltas, and deltas are frequent.
        let changes = frame.kind() != Kind::StreamEvent || update.started.is_some();
        #[cfg(feature = "otel")]
        self.spans.observe(&frame, &update);
        if let Some((turn, prompts)) = update.started {
            tracing::debug!(%turn, "turn started");
            self.subscribers.publish(&Event::TurnStarted { turn, prompts: prompts.clone() }, &prompts);
        }
        if !hidden {
            self.subscribers.publish(&Event::Frame { turn: update.turn, frame, end }, &update.prompts);
        }
        let (lost, ended): (Vec<_>, Vec<_>) =
            update.ended.into_iter().partition(|end| end.outcome == TurnOutcome::ResultLost);
        self.end_lost(lost, &Error::result_lost());
        for end in ended {
            tracing::debug!(outcome = ?end.outcome, "turn ended");
            self.subscribers.publish(&Event::TurnEnded(Arc::clone(&end)), &end.prompts);
            self.subscribers.end_turn(&end, &end.prompts);
        }
        if changes {
            self.touch();
        }
    }

    /// Handles a line that was dropped or unreadable: if it was the result of a turn, the turn ends without
    /// one.
    pub(super) fn lost_line(&self, head: &str, error: &Error) {
        let update = self.turns().lost_line(head);
        self.end_lost(update.ended, error);
    }

    fn end_lost(&self, ended: Vec<Arc<TurnEnd>>, error: &Error) {
        for end in ended {
            self.subscribers.publish(&Event::TurnEnded(Arc::clone(&end)), &end.prompts);
            self.subscribers.fail_turn(error, &end.prompts);
            self.touch();
        }
    }

    /// Updates the session id, which can change, as by `/clear`. Every turn names it at its beginning and at
    /// its end.
    pub(super) fn note_session(&self, frame: &Frame) {
        let names_it = match frame.kind() {
            Kind::System => matches!(frame.system(), SystemView::Init(_)),
            kind => kind == Kind::Result,
        };
        if let Some(id) = frame.session_id().filter(|id| names_it && !id.is_empty()) {
            *self.session.lock() = Some(id.into_owned());
        }
    }

    /// Remembers the text of an error result until another frame follows: it explains an exit code best.
    fn note_error(&self, frame: &Frame) {
        let trailing = match frame.kind() {
            Kind::System => frame.system().may_follow_an_error(),
            Kind::Unknown => frame.type_name().as_deref() == Some("command_lifecycle"),
            _ => false,
        };
        if !trailing {
            *self.last_error.lock() = frame.error_text();
        }
    }

    /// Notes that nothing more arrives before the next prompt.
    pub(super) fn wait_for_prompt(&self, error: Error) {
        *self.waiting.lock() = Some(error);
        self.touch();
    }

    /// The error of a caller that waits for something that will not arrive before the next prompt.
    pub(super) fn stuck(&self) -> Option<Error> {
        self.waiting.lock().clone().filter(|_| !self.turns().is_busy())
    }

    /// Ends the session, whose transport cannot go on. A session that is being closed ends well.
    pub(super) fn fail(&self, error: Error) {
        let closing = self.closing.get().is_some() || self.forced.get().is_some();
        self.end_with(Exit::default(), (!closing).then_some(error));
    }

    /// Ends the session after the other side has exited: all waiters get the reason.
    pub(super) fn end(&self, exit: Exit) {
        if self.ended.borrow().is_none() {
            self.end_with(exit, self.reason(exit));
        }
    }

    fn end_with(&self, exit: Exit, error: Option<Error>) {
        if self.ended.borrow().is_some() {
            return;
        }
        tracing::debug!(%exit, "the agent has ended");
        let reason = error.clone().unwrap_or_else(Error::closed);
        self.pending_calls.end(&reason);
        self.subscribers.publish(&Event::Ended { exit, error: error.clone() }, &[]);
        self.subscribers.end(&reason);
        #[cfg(feature = "otel")]
        self.spans.end();
        self.writer.end();
        drop(self.permit.lock().take());
        self.ended.send_if_modified(|ended| {
            let first = ended.is_none();
            ended.get_or_insert(SessionEnd { exit, error });
            first
        });
        // Handlers are cancelled last: they see that the session has ended, and that the CLI did not
        // cancel the request.
        self.cli_requests.end();
        self.touch();
    }

    /// The reason of the end, if it was unexpected.
    fn reason(&self, exit: Exit) -> Option<Error> {
        let text = self.last_error.lock().take();
        let meant = self.writer.has_ended() || self.closing.get().is_some();
        // After an error result the exit code only repeats it.
        let fine = if meant {
            exit.is_success() || text.is_some()
        } else {
            // A program that ends before the handshake is over is none that can be used.
            exit.is_success() && !self.turns().is_busy() && self.info.get().is_some()
        };
        if fine || self.forced.get().is_some() {
            return None;
        }
        Some(Error::exited(&self.agent, exit, text.as_deref(), &self.stderr.lock().text()))
    }

    /// The reply to a request, typed.
    pub(super) fn reply<R: Request>(&self, success: &Success) -> Result<R::Reply, Error> {
        success.reply::<R>().map_err(|misfit| {
            let message = format!("{} answered `{}` with an unexpected reply", self.agent, R::SUBTYPE);
            Error::new(ErrorKind::Decode, message, "update this crate, or send the request as an unknown one")
                .caused_by(misfit)
        })
    }

    /// Wakes all tasks that wait for a change.
    pub(super) fn touch(&self) {
        self.changed.send_modify(|count| *count = count.wrapping_add(1));
    }
}

/// Ends the session when the reader task is gone, even by a panic, so that no caller waits for ever.
pub(super) struct EndOnDrop(pub(super) Arc<Core>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.end(Exit::default());
    }
}

/// Cancels a request when its caller has given up.
struct CancelOnDrop<'a> {
    core: &'a Core,
    id: &'a str,
    sent: bool,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        self.core.pending_calls.forget(self.id);
        if self.sent && self.core.ended.borrow().is_none() {
            let mut cancel = ControlCancelRequest::default();
            self.id.clone_into(&mut cancel.request_id);
            self.core.writer.control_if_room(Message::ControlCancelRequest(cancel).to_line());
        }
    }
}

fn answer_line(id: &str, response: ControlResponse) -> String {
    Message::ControlResponse { request_id: id.to_owned(), response }.to_line()
}
