//! Waiting: input of the host is handled during every wait.

use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::frames::{Frame, text};
use super::input::{Input, parse};
use super::session::Session;
use super::stop::{Flow, Stop};
use super::world::Signal;
use crate::script::FaultKind;

/// Polling interval in milliseconds of a run that ignores the end of stdin; no more input can arrive.
const DEAF_PAUSE_MS: u64 = 50;

/// Outcome of a request to the host.
#[derive(Debug, Clone)]
pub(super) enum Reply {
    /// The response.
    Success(Value),
    /// The host responded with an error.
    Error(String),
    /// No response in time.
    Late,
    /// Stdin was closed.
    Closed,
}

impl Session {
    /// Waits for one input, at most until the deadline; false when none arrived.
    pub(super) fn pump(&mut self, deadline: Option<Instant>) -> Flow<bool> {
        let received = match deadline {
            None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(deadline) => self.inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())),
        };
        match received {
            Ok(input) => self.take(input).map(|()| true),
            Err(RecvTimeoutError::Timeout) => Ok(false),
            Err(RecvTimeoutError::Disconnected) => {
                self.stdin_ended = true;
                let left = deadline.map_or(Duration::from_millis(DEAF_PAUSE_MS), |deadline| {
                    deadline.saturating_duration_since(Instant::now())
                });
                if deadline.is_some() || self.out.faults.lasts(FaultKind::IgnoreEof) {
                    std::thread::sleep(left);
                }
                Ok(false)
            }
        }
    }

    /// Waits for a time and handles input of the host meanwhile.
    pub(super) fn pause(&mut self, ms: u64) -> Flow {
        while let Ok(input) = self.inbox.try_recv() {
            self.take(input)?;
        }
        let deadline = Instant::now() + Duration::from_millis(ms);
        while Instant::now() < deadline {
            self.pump(Some(deadline))?;
        }
        Ok(())
    }

    /// Sends a request to the host; returns its id.
    pub(super) fn request(&mut self, request: Value) -> Flow<String> {
        let id = self.ids.uuid();
        let frame = Frame::new("control_request").with("request_id", id.as_str()).with("request", request);
        self.out.frame(frame)?;
        self.open.push(id.clone());
        Ok(id)
    }

    /// Waits for the response to a request.
    pub(super) fn reply(&mut self, id: &str, timeout: Option<Duration>) -> Flow<Reply> {
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        loop {
            if let Some(reply) = self.fetch(id) {
                return Ok(reply);
            }
            if self.stdin_ended {
                self.open.retain(|open| open != id);
                return Ok(Reply::Closed);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                self.cancel(id)?;
                return Ok(Reply::Late);
            }
            self.pump(deadline)?;
        }
    }

    /// Response to a request, if it has arrived.
    pub(super) fn fetch(&mut self, id: &str) -> Option<Reply> {
        let at = self.replies.iter().position(|reply| text(reply, "request_id") == id)?;
        let reply = self.replies.remove(at);
        self.open.retain(|open| open != id);
        Some(match text(&reply, "subtype") {
            "error" => Reply::Error(text(&reply, "error").to_owned()),
            _ => Reply::Success(reply.get("response").cloned().unwrap_or_default()),
        })
    }

    /// Withdraws a request; a late response is ignored.
    pub(super) fn cancel(&mut self, id: &str) -> Flow {
        self.open.retain(|open| open != id);
        self.out.frame(Frame::new("control_cancel_request").with("request_id", id))
    }

    fn take(&mut self, input: Input) -> Flow {
        match input {
            Input::Line(line) => self.take_line(&line),
            Input::End => {
                self.stdin_ended = true;
                Ok(())
            }
            Input::Signal(Signal::Terminate) if self.out.faults.lasts(FaultKind::IgnoreTerm) => Ok(()),
            Input::Signal(Signal::Terminate) => Err(Stop::Exit(143)),
            Input::Signal(Signal::Interrupt) => {
                self.leaving = true;
                if self.turn.is_some() { Err(Stop::Interrupted) } else { Ok(()) }
            }
        }
    }

    fn take_line(&mut self, line: &str) -> Flow {
        let frame = match parse(line) {
            Ok(Some(frame)) => frame,
            Ok(None) => return Ok(()),
            Err(error_line) => {
                self.print_error(&error_line);
                return Err(Stop::Exit(1));
            }
        };
        self.expect.line(&frame);
        self.first_must_be_initialize(&frame)?;
        match text(&frame, "type") {
            "user" => self.take_user(&frame),
            "control_request" => match frame.get("request") {
                Some(request) if request.is_object() => self.control(frame.get("request_id"), request),
                _ => {
                    self.print_error("Error: Missing request on control_request");
                    Err(Stop::Exit(1))
                }
            },
            "control_response" => self.take_response(&frame),
            // `keep_alive`, withdrawn requests and unknown types are valid and have no effect here.
            _ => Ok(()),
        }
    }

    fn take_response(&mut self, frame: &Value) -> Flow {
        let response = &frame["response"];
        if self.open.iter().any(|open| open == text(response, "request_id")) {
            self.replies.push(response.clone());
        }
        if self.args.has("replay-user-messages") {
            self.out.frame(Frame::new("control_response").with("response", response.clone()))?;
        }
        Ok(())
    }

    /// With `--await-initialize` the first message must be `initialize`.
    fn first_must_be_initialize(&mut self, frame: &Value) -> Flow {
        if self.initialized
            || !self.args.has("await-initialize")
            || text(&frame["request"], "subtype") == "initialize"
        {
            return Ok(());
        }
        let reason = json!("initialize_not_first");
        self.startup_failure("The first message must be an initialize request", Some(reason))
    }
}
