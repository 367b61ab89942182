//! A paced body, which may be cut off.

use std::collections::VecDeque;
use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Bytes;
use futures_core::Stream;
use tokio::time::{Sleep, sleep};

use super::limits::CUT_WAIT_MS;

/// A part of a body, and the delay before it.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) wait_ms: u64,
    pub(super) bytes: Bytes,
}

impl Step {
    /// A part without a delay.
    pub(super) fn now(text: String) -> Self {
        Step { wait_ms: 0, bytes: Bytes::from(text) }
    }
}

/// A paced body that may be cut off.
#[derive(Debug)]
pub(super) struct Paced {
    steps: VecDeque<Step>,
    end: End,
    waiting: Option<Pin<Box<Sleep>>>,
}

/// End of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Whole,
    /// The connection closes, and the client can detect the missing part.
    BreaksOff,
    /// Nothing more is sent; the connection stays open until the client closes it, or the server ends.
    Held,
    Reached,
}

impl Paced {
    /// A body of these parts, or its first `cut_after` bytes.
    pub(super) fn new(steps: Vec<Step>, end: End, cut_after: Option<usize>) -> Self {
        let Some(mut left) = cut_after else {
            return Paced { steps: steps.into(), end, waiting: None };
        };
        let mut kept = VecDeque::new();
        for step in steps {
            if left == 0 {
                break;
            }
            let bytes = step.bytes.slice(..step.bytes.len().min(left));
            left -= bytes.len();
            kept.push_back(Step { bytes, ..step });
        }
        kept.push_back(Step { wait_ms: CUT_WAIT_MS, bytes: Bytes::new() });
        Paced { steps: kept, end: End::BreaksOff, waiting: None }
    }
}

impl Stream for Paced {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(waiting) = &mut self.waiting {
                ready!(waiting.as_mut().poll(cx));
                self.waiting = None;
            }
            let Some(step) = self.steps.front_mut() else {
                if self.end == End::Held {
                    return Poll::Pending;
                }
                let end = std::mem::replace(&mut self.end, End::Reached);
                let broken =
                    io::Error::new(io::ErrorKind::ConnectionAborted, "the script cuts the answer here");
                return Poll::Ready((end == End::BreaksOff).then_some(Err(broken)));
            };
            let wait_ms = std::mem::take(&mut step.wait_ms);
            if wait_ms > 0 {
                self.waiting = Some(Box::pin(sleep(Duration::from_millis(wait_ms))));
                continue;
            }
            let step = self.steps.pop_front();
            // Empty parts exist only for their delay.
            if let Some(step) = step.filter(|step| !step.bytes.is_empty()) {
                return Poll::Ready(Some(Ok(step.bytes)));
            }
        }
    }
}
