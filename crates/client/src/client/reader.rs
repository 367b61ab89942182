//! The task that reads from the transport, from a host without another task between. It waits for lossless
//! subscribers only.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;

use tidings_protocol::json::Raw;
use tidings_protocol::messages::Message;
use tidings_protocol::{Frame, Kind};
use tokio::time::Instant;

use super::core::{Core, EndOnDrop};
use super::event::Event;
use crate::error::Error;
use crate::options::StderrHandler;
use crate::transport::{Exit, Incoming, IncomingEvents};

pub(super) async fn run(core: Arc<Core>, mut incoming: IncomingEvents, on_stderr: Option<StderrHandler>) {
    let _end_on_drop = EndOnDrop(Arc::clone(&core));
    let stall = core.timeouts.stall;
    // One timer for all waits: setting it later again costs almost nothing.
    let mut silence = pin!(tokio::time::sleep(stall.unwrap_or_default()));
    loop {
        core.subscribers.wait_for_room().await;
        if let Some(stall) = stall {
            silence.as_mut().reset(Instant::now() + stall);
        }
        let mut next = pin!(incoming.recv());
        let mut reported = false;
        let next = loop {
            tokio::select! {
                biased;
                next = &mut next => break next,
                () = &mut silence, if stall.is_some() && !reported => {
                    reported = publish_if_stalled(&core);
                    silence.as_mut().reset(Instant::now() + stall.unwrap_or_default());
                }
            }
        };
        match next {
            Some(Incoming::Frame { frame, end }) => dispatch(&core, frame, end),
            Some(Incoming::Noise { text, error }) => {
                tracing::debug!(text, ?error, "received a line that is not a JSON object");
                let is_broken = error.is_some();
                core.subscribers.publish(&Event::Noise { text: text.clone() }, &[]);
                if is_broken {
                    core.lost_line(&text, &Error::result_lost());
                }
            }
            Some(Incoming::Oversized { bytes, head }) => {
                tracing::warn!(bytes, "dropped a line that was too long");
                core.subscribers.publish(&Event::Oversized { bytes, head: head.clone() }, &[]);
                core.lost_line(&head, &Error::result_lost());
            }
            Some(Incoming::Stderr(line)) => {
                tracing::debug!(line, "stderr of the agent");
                core.stderr.lock().push(&line);
                if let Some(on_stderr) = &on_stderr {
                    call(on_stderr, &line);
                }
            }
            Some(Incoming::Waiting(error)) => core.wait_for_prompt(error),
            Some(Incoming::Failed(error)) => return core.fail(error),
            Some(Incoming::Exit(exit)) => return core.end(exit),
            // The transport ended without an exit status.
            None => return core.end(Exit::default()),
        }
    }
}

/// Calls the handler, and keeps a panic of it from ending the reader task.
fn call(on_stderr: &StderrHandler, line: &str) {
    if catch_unwind(AssertUnwindSafe(|| on_stderr(line))).is_err() {
        tracing::error!("the stderr handler panicked");
    }
}

/// Sends `Stalled` after a silence, but only if the model should be at work.
fn publish_if_stalled(core: &Core) -> bool {
    let working = {
        let turns = core.turns();
        turns.is_running() && !turns.runs_tools()
    };
    let stalled = working && core.cli_requests.is_empty();
    if let Some(quiet) = core.timeouts.stall.filter(|_| stalled) {
        core.subscribers.publish(&Event::Stalled { quiet }, &[]);
    }
    stalled
}

/// Routes a frame: control frames are handled here, all others belong to the conversation.
fn dispatch(core: &Arc<Core>, frame: Frame, end: Option<u64>) {
    match frame.kind() {
        Kind::ControlResponse => {
            if let Message::ControlResponse { request_id, response } = frame.message()
                && !core.pending_calls.settle(&request_id, response.outcome)
            {
                tracing::trace!(request_id, "received a reply to a request that is not pending");
            }
        }
        Kind::ControlRequest => match frame.message() {
            Message::ControlRequest { request_id, request } => core.handle_request(request_id, request.call),
            _ => unreadable(core, &frame),
        },
        Kind::ControlCancelRequest => {
            if let Some(id) = frame.request_id() {
                core.cli_requests.cancel(&id);
                core.touch();
            }
        }
        Kind::KeepAlive => {}
        _ => core.frame(frame, end),
    }
}

/// Passes on a request that cannot be decoded, so that it is answered: the CLI would wait for ever.
fn unreadable(core: &Arc<Core>, frame: &Frame) {
    use tidings_protocol::control::{Call, UnknownCall};
    let Some(id) = frame.request_id() else { return };
    let subtype = frame.subtype().unwrap_or_default();
    let body = frame.get("request").map(Raw::to_json).unwrap_or_default();
    core.handle_request(id.into_owned(), Call::Unknown(UnknownCall::new(subtype, body)));
}
