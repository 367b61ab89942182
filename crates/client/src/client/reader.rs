//! The one task that reads. It waits for the other side, and for those who must not lose anything.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use tidings_protocol::json::Raw;
use tidings_protocol::messages::Message;
use tidings_protocol::{Frame, Kind};
use tokio::sync::mpsc;
use tokio::time::error::Elapsed;

use super::core::{Core, EndsIt, lock};
use super::event::Event;
use crate::error::Error;
use crate::options::StderrHandler;
use crate::transport::{Exit, Incoming};

pub(super) async fn run(
    core: Arc<Core>,
    mut incoming: mpsc::Receiver<Incoming>,
    hear: Option<StderrHandler>,
) {
    let _ends_it = EndsIt(Arc::clone(&core));
    let mut told = false;
    let mut place = None;
    loop {
        core.subscribers.room().await;
        let Ok(next) = within(core.limits.stall.filter(|_| !told), incoming.recv()).await else {
            told = tell_stalled(&core);
            continue;
        };
        told = false;
        match next {
            Some(Incoming::Place(end)) => place = Some(end),
            Some(Incoming::Frame(frame)) => dispatch(&core, frame, place.take()),
            Some(Incoming::Noise { text, error }) => {
                tracing::debug!(text, ?error, "a line that is no frame");
                let is_broken = error.is_some();
                core.subscribers.tell(&Event::Noise { text: text.clone() }, &[]);
                if is_broken {
                    core.lost_line(&text, &Error::result_lost());
                }
            }
            Some(Incoming::Oversized { bytes, head }) => {
                tracing::warn!(bytes, "a line was too long to keep");
                core.subscribers.tell(&Event::Oversized { bytes, head: head.clone() }, &[]);
                core.lost_line(&head, &Error::result_lost());
            }
            Some(Incoming::Stderr(line)) => {
                tracing::debug!(line, "Claude Code complains");
                lock(&core.stderr).push(&line);
                if let Some(hear) = &hear {
                    call(hear, &line);
                }
            }
            Some(Incoming::Exit(exit)) => return core.end(exit),
            // The carrier is gone without a word.
            None => return core.end(Exit::default()),
        }
    }
}

/// A panic of somebody else's must not end the task that everybody waits for.
fn call(hear: &StderrHandler, line: &str) {
    if catch_unwind(AssertUnwindSafe(|| hear(line))).is_err() {
        tracing::error!("the handler of the error output panicked");
    }
}

async fn within<T>(limit: Option<Duration>, next: impl Future<Output = T>) -> Result<T, Elapsed> {
    match limit {
        Some(limit) => tokio::time::timeout(limit, next).await,
        None => Ok(next.await),
    }
}

/// Nothing has come for a while. That is odd only if the model should be at work.
fn tell_stalled(core: &Core) -> bool {
    let working = {
        let turns = core.turns();
        turns.is_running() && !turns.runs_tools()
    };
    let stalled = working && core.asks.is_empty();
    if let Some(quiet) = core.limits.stall.filter(|_| stalled) {
        core.subscribers.tell(&Event::Stalled { quiet }, &[]);
    }
    stalled
}

/// Control frames are settled here; everything else is conversation.
fn dispatch(core: &Arc<Core>, frame: Frame, end: Option<u64>) {
    match frame.kind() {
        Kind::ControlResponse => {
            if let Message::ControlResponse { request_id, response } = frame.message()
                && !core.pending.settle(&request_id, response.outcome)
            {
                tracing::trace!(request_id, "an answer that nobody waits for");
            }
        }
        Kind::ControlRequest => match frame.message() {
            Message::ControlRequest { request_id, request } => core.asked(request_id, request.call),
            _ => unreadable(core, &frame),
        },
        Kind::ControlCancelRequest => {
            if let Some(id) = frame.request_id() {
                core.asks.take_back(&id);
                core.touch();
            }
        }
        Kind::KeepAlive => {}
        _ => core.frame(frame, end),
    }
}

/// A question that cannot be read is answered all the same: the CLI would wait for ever.
fn unreadable(core: &Arc<Core>, frame: &Frame) {
    use tidings_protocol::control::{Call, UnknownCall};
    let Some(id) = frame.request_id() else { return };
    let subtype = frame.subtype().unwrap_or_default();
    let body = frame.get("request").map(Raw::to_json).unwrap_or_default();
    core.asked(id.into_owned(), Call::Unknown(UnknownCall::new(subtype, body)));
}
