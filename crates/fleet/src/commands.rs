//! Requests to other nodes, with a signed reply.
//!
//! A request names the run of its receiver and a number that its sender uses once, so that a recorded request
//! has no effect later. Clocks play no part in it.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_nats::{HeaderMap, Message, StatusCode};
use bytes::Bytes;
use futures_core::future::BoxFuture;
use futures_util::StreamExt as _;
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::error::{ErrorKind, FleetError};
use crate::limits::{
    CALL_MAX, MEMBERSHIP_WAIT, PART_BYTES_MAX, REPLY_BYTES_MAX, REQUEST_BYTES_MAX, REQUEST_WINDOW,
    REQUESTS_AT_ONCE, SENDERS_MAX,
};
use crate::link::{FleetLink, bounded};
use crate::names::{Name, requests};
use crate::roster::{FleetMember, Roster};

const FROM: &str = "Tidings-From";
const NUMBER: &str = "Tidings-Number";
const TO_RUN: &str = "Tidings-To-Run";
const PART: &str = "Tidings-Part";
const REFUSED: &str = "Tidings-Refused";
/// The word for a request to an earlier run of the receiver.
const ANOTHER_RUN: &str = "run";

/// A verified request of another node.
#[derive(Debug)]
pub struct IncomingRequest {
    /// The sender, as the fleet's admin signed it.
    pub from: FleetMember,
    /// The request.
    pub body: Vec<u8>,
}

/// Handles requests of other nodes.
pub trait Handler: Send + Sync + 'static {
    /// Returns the reply.
    fn handle(&self, request: IncomingRequest) -> BoxFuture<'static, Vec<u8>>;
}

/// Requests between nodes. Handles are cheap to clone.
#[derive(Clone)]
pub struct Commands(Arc<CommandsInner>);

struct CommandsInner {
    link: FleetLink,
    roster: Roster,
    number: AtomicU64,
    seen: Mutex<HashMap<(Name, String), SeenNumbers>>,
}

/// Numbers of one sender that were used: the highest one, and which of those below it.
struct SeenNumbers {
    highest: u64,
    window: Vec<u64>,
}

impl Commands {
    /// Requests over a connection.
    pub fn new(link: FleetLink, roster: Roster) -> Self {
        let inner = CommandsInner { link, roster, number: AtomicU64::new(1), seen: Mutex::default() };
        Commands(Arc::new(inner))
    }

    /// Sends a request to a node, and returns its reply. Without a connection to the node it fails at once; a
    /// node that stops answering is noticed by its heartbeat.
    pub async fn call(&self, to: &Name, body: &[u8], max: Duration) -> Result<Vec<u8>, FleetError> {
        let first = self.call_once(to, body, max).await;
        match first {
            // The node was started again, and has seen nothing of the request.
            Err(CallError::AnotherRun) => {
                tokio::time::sleep(crate::limits::BEAT_EVERY + Duration::from_millis(200)).await;
                self.call_once(to, body, max).await.map_err(|error| error.told(to))
            }
            result => result.map_err(|error| error.told(to)),
        }
    }

    async fn call_once(&self, to: &Name, body: &[u8], max: Duration) -> Result<Vec<u8>, CallError> {
        let CommandsInner { link, roster, number, .. } = &*self.0;
        if body.len() > REQUEST_BYTES_MAX {
            let message = format!("A request to another node is limited to {REQUEST_BYTES_MAX} bytes");
            let hint = "send it to the node of the session";
            return Err(FleetError::new(ErrorKind::TooLarge, message, hint).into());
        }
        link.check()?;
        let identity = link.identity();
        let member = roster.member(to).ok_or(CallError::NoNode)?;
        let alive = roster.liveness(to).filter(|alive| alive.is_reachable).ok_or(CallError::NoNode)?;
        let number = format!("{}:{}", roster.run_name(), number.fetch_add(1, Ordering::Relaxed));
        let names = [identity.node.as_str().as_bytes(), to.as_str().as_bytes()];
        let fields = [names[0], names[1], alive.beat.run.as_bytes(), number.as_bytes()];
        let sealed = identity.seal(&identity.key, "request", &fields, body)?;
        let mut headers = HeaderMap::new();
        headers.insert(FROM, identity.node.as_str());
        headers.insert(NUMBER, number.as_str());
        headers.insert(TO_RUN, alive.beat.run.as_str());
        let doing = "send a request to another node";
        let inbox = link.client().new_inbox();
        let replies = bounded(doing, CALL_MAX, link.client().subscribe(inbox.clone())).await?;
        let mut replies = replies.map_err(|error| FleetError::server(doing, error))?;
        let subject = requests(&identity.fleet, to);
        let sent = link.client().publish_with_reply_and_headers(subject, inbox, headers, sealed.into());
        bounded(doing, CALL_MAX, sent).await?.map_err(|error| FleetError::server(doing, error))?;
        let deadline = Instant::now() + max;
        let mut reply = Vec::new();
        let mut next_part = 0;
        loop {
            let tick = Instant::now() + Duration::from_millis(500);
            let message = match tokio::time::timeout_at(tick.min(deadline), replies.next()).await {
                Ok(message) => message.ok_or_else(FleetError::disconnected)?,
                Err(_) if Instant::now() >= deadline => return Err(CallError::NoAnswer),
                Err(_) if !roster.liveness(to).is_some_and(|alive| alive.is_reachable) => {
                    return Err(CallError::NoAnswer);
                }
                Err(_) => {
                    link.check()?;
                    continue;
                }
            };
            if message.status == Some(StatusCode::NO_RESPONDERS) {
                return Err(CallError::NoNode);
            }
            if let Some(refused) = header(&message, REFUSED) {
                if refused == ANOTHER_RUN {
                    return Err(CallError::AnotherRun);
                }
                let message = format!("The node `{to}` refused the request: {refused}");
                return Err(
                    FleetError::new(ErrorKind::Refused, message, "check `tidings fleet status`").into()
                );
            }
            let part = header(&message, PART).unwrap_or_default();
            let fields = [names[1], names[0], number.as_bytes(), part.as_bytes()];
            let opened = identity.open(&member.key, "reply", &fields, &message.payload)?;
            let (at, parts) = part.split_once('/').unwrap_or_default();
            let (at, parts) = (at.parse().unwrap_or(usize::MAX), parts.parse().unwrap_or(0_usize));
            if at != next_part || reply.len() + opened.len() > REPLY_BYTES_MAX {
                let message = format!("A reply of the node `{to}` is incomplete");
                return Err(FleetError::new(ErrorKind::Timeout, message, "try again").into());
            }
            reply.extend_from_slice(&opened);
            next_part += 1;
            if next_part >= parts {
                return Ok(reply);
            }
        }
    }

    /// Handles requests of other nodes until it is stopped.
    pub async fn serve(&self, handler: Arc<dyn Handler>, stop: CancellationToken) {
        let serve = async {
            loop {
                self.0.link.connected().await;
                if let Err(error) = self.serve_once(&handler).await {
                    tracing::debug!(%error, "handling requests of other nodes is interrupted");
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        tokio::select! {
            () = serve => {}
            () = stop.cancelled() => {}
        }
    }

    async fn serve_once(&self, handler: &Arc<dyn Handler>) -> Result<(), FleetError> {
        let doing = "receive requests of other nodes";
        let link = &self.0.link;
        let identity = link.identity();
        let subject = requests(&identity.fleet, &identity.node);
        let incoming = bounded(doing, CALL_MAX, link.client().subscribe(subject)).await?;
        let mut incoming = incoming.map_err(|error| FleetError::server(doing, error))?;
        let room = Arc::new(Semaphore::new(REQUESTS_AT_ONCE));
        while let Some(message) = incoming.next().await {
            let Ok(permit) = Arc::clone(&room).acquire_owned().await else { break };
            let (commands, handler) = (self.clone(), Arc::clone(handler));
            drop(tokio::spawn(async move {
                commands.answer(&message, &*handler).await;
                drop(permit);
            }));
        }
        Err(FleetError::disconnected())
    }

    async fn answer(&self, message: &Message, handler: &dyn Handler) {
        let Some(inbox) = message.reply.clone() else { return };
        let link = &self.0.link;
        let sent = match self.verify(message).await {
            Ok((incoming, number)) => {
                let from = incoming.from.node.clone();
                let reply = handler.handle(incoming).await;
                self.reply(inbox.as_str(), &from, &number, reply).await
            }
            Err(error) => {
                link.counters().refused.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(%error, "a request of another node is refused");
                let mut headers = HeaderMap::new();
                let is_another_run = error.kind() == ErrorKind::NoNode;
                headers
                    .insert(REFUSED, if is_another_run { ANOTHER_RUN.to_owned() } else { error.to_string() });
                link.send(inbox.to_string(), headers, Bytes::new()).await
            }
        };
        if let Err(error) = sent {
            tracing::debug!(%error, "failed to answer another node");
        }
    }

    async fn reply(&self, inbox: &str, to: &Name, number: &str, reply: Vec<u8>) -> Result<(), FleetError> {
        let link = &self.0.link;
        let identity = link.identity();
        let parts = reply.len().div_ceil(PART_BYTES_MAX).max(1);
        for at in 0..parts {
            let part = format!("{at}/{parts}");
            let body = &reply[at * PART_BYTES_MAX..reply.len().min((at + 1) * PART_BYTES_MAX)];
            let names = [identity.node.as_str().as_bytes(), to.as_str().as_bytes()];
            let fields = [names[0], names[1], number.as_bytes(), part.as_bytes()];
            let sealed = identity.seal(&identity.key, "reply", &fields, body)?;
            let mut headers = HeaderMap::new();
            headers.insert(PART, part);
            link.send(inbox.to_owned(), headers, sealed.into()).await?;
        }
        Ok(())
    }

    /// Checks who sent a request, that it is for this run, and that it is not a repetition.
    async fn verify(&self, message: &Message) -> Result<(IncomingRequest, String), FleetError> {
        let refused = |why: &str| FleetError::new(ErrorKind::Refused, why, "");
        let CommandsInner { link, roster, seen, .. } = &*self.0;
        let identity = link.identity();
        let text = |name: &str| header(message, name).ok_or_else(|| refused("a header is missing"));
        let (from, number, to_run) = (Name::new(&text(FROM)?)?, text(NUMBER)?, text(TO_RUN)?);
        // This node may have just started: the sender tries again if the membership cannot be read.
        let not_yet = |_| FleetError::new(ErrorKind::NoNode, "the shared state is not read yet", "");
        roster.key_of(&from, MEMBERSHIP_WAIT).await.map_err(not_yet)?;
        let from = roster.member(&from).ok_or_else(|| refused("the sender is not a member of the fleet"))?;
        let names = [from.node.as_str().as_bytes(), identity.node.as_str().as_bytes()];
        let fields = [names[0], names[1], to_run.as_bytes(), number.as_bytes()];
        let body = identity.open(&from.key, "request", &fields, &message.payload)?;
        if to_run != roster.run_name() {
            return Err(FleetError::new(ErrorKind::NoNode, "it is for an earlier run", ""));
        }
        let (run, count) = number.split_once(':').ok_or_else(|| refused("its number cannot be read"))?;
        let count: u64 = count.parse().map_err(|_| refused("its number cannot be read"))?;
        let mut seen = seen.lock();
        let sender = (from.node.clone(), run.to_owned());
        if seen.len() >= SENDERS_MAX && !seen.contains_key(&sender) {
            return Err(refused("too many senders"));
        }
        if !seen.entry(sender).or_insert_with(SeenNumbers::new).take(count) {
            return Err(refused("it was sent before"));
        }
        Ok((IncomingRequest { from, body }, number))
    }
}

impl SeenNumbers {
    fn new() -> Self {
        let words = usize::try_from(REQUEST_WINDOW / 64).unwrap_or_default();
        SeenNumbers { highest: 0, window: vec![0; words] }
    }

    /// Takes a number; false if it was taken before, or is too old to know.
    fn take(&mut self, number: u64) -> bool {
        if number + REQUEST_WINDOW <= self.highest {
            return false;
        }
        if number > self.highest {
            for passed in (self.highest + 1..=number).rev().take(usize::try_from(REQUEST_WINDOW).unwrap_or(0))
            {
                self.set(passed, false);
            }
            self.highest = number;
        } else if self.get(number) {
            return false;
        }
        self.set(number, true);
        true
    }

    fn place(number: u64) -> (usize, u64) {
        let at = number % REQUEST_WINDOW;
        (usize::try_from(at / 64).unwrap_or_default(), 1 << (at % 64))
    }

    fn get(&self, number: u64) -> bool {
        let (word, bit) = SeenNumbers::place(number);
        self.window[word] & bit != 0
    }

    fn set(&mut self, number: u64, is_taken: bool) {
        let (word, bit) = SeenNumbers::place(number);
        if is_taken {
            self.window[word] |= bit;
        } else {
            self.window[word] &= !bit;
        }
    }
}

/// Result of one attempt.
enum CallError {
    NoNode,
    AnotherRun,
    NoAnswer,
    Other(FleetError),
}

impl From<FleetError> for CallError {
    fn from(error: FleetError) -> Self {
        CallError::Other(error)
    }
}

impl CallError {
    fn told(self, to: &Name) -> FleetError {
        match self {
            CallError::NoNode | CallError::AnotherRun => {
                let hint = "try again when it is connected";
                FleetError::new(
                    ErrorKind::NoNode,
                    format!("The node `{to}` is not connected to the fleet"),
                    hint,
                )
            }
            CallError::NoAnswer => {
                let message = format!("The node `{to}` did not answer in time");
                let hint = "it may have done it; repeat it with the same idempotency key";
                FleetError::new(ErrorKind::Timeout, message, hint)
            }
            CallError::Other(error) => error,
        }
    }
}

fn header(message: &Message, name: &str) -> Option<String> {
    message.headers.as_ref().and_then(|headers| headers.get(name)).map(|value| value.as_str().to_owned())
}

impl fmt::Debug for Commands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Commands").field("link", &self.0.link).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_taken_once() {
        let mut seen = SeenNumbers::new();
        for number in [1, 3, 2, 10, 5000, 4999, 904 + 1] {
            assert!(seen.take(number), "{number}");
            assert!(!seen.take(number), "{number} again");
        }
        assert!(!seen.take(904), "too old to know");
        assert!(seen.take(5000 + REQUEST_WINDOW * 3));
        assert!(!seen.take(5000));
    }
}
