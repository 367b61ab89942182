//! Admission to a host: of bridges, one at a time, and the better right wins; and of the viewers of a
//! terminal.

#[cfg(feature = "terminal")]
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{BridgeAbsence, BridgeConnection, Host, HostSession};
#[cfg(feature = "terminal")]
use crate::host::terminal::{self, Terminal};
#[cfg(feature = "terminal")]
use crate::host::wire::View;
use crate::host::wire::{Attach, FromHost, Hello, Message, Refusal, VERSION};

/// An admitted bridge.
#[derive(Debug)]
pub(in crate::host) struct Admitted {
    pub(in crate::host) id: u64,
    pub(in crate::host) after: u64,
    pub(in crate::host) closed: CancellationToken,
    /// The first messages to it.
    pub(in crate::host) greeting: Vec<Message<FromHost>>,
}

impl Host {
    /// Admits or refuses a bridge. The rules are in the documentation of [`host`](crate::host).
    pub(in crate::host) fn attach(&self, attach: &Attach) -> Result<Admitted, (Refusal, String)> {
        let refuse = |reason, message: &str| Err((reason, message.to_owned()));
        self.check_secret(&attach.secret)?;
        if self.record.terminal.is_some() {
            return refuse(Refusal::Taken, "This host holds a terminal");
        }
        let mut state = self.state.lock();
        let current = state.connection.as_ref().map(|connection| connection.owner.clone());
        match refusal_for(current.as_deref(), state.fence, attach) {
            Some(Refusal::Outdated) => {
                return refuse(Refusal::Outdated, "A newer bridge has taken over this session");
            }
            Some(reason) => {
                let owner = current.unwrap_or_default();
                return Err((reason, format!("This session belongs to another bridge, `{owner}`")));
            }
            None => {}
        }
        let Some(session) = &state.session else {
            return refuse(Refusal::NotNow, "No agent was started here");
        };
        if attach.after.is_some_and(|after| after > session.spool.next()) {
            return refuse(Refusal::NoSuchOffset, "The agent has not written up to this offset");
        }
        if let Some(lease) = attach.lease_ms {
            self.absence.send_modify(|absence| absence.lease = Duration::from_millis(lease));
        }
        let after = attach.after.unwrap_or_default().max(session.spool.first());
        let greeting = session.greeting(self.hello(session, after, attach.version));
        state.fence = attach.fence;
        state.connections += 1;
        let (id, closed) = (state.connections, CancellationToken::new());
        let (owner, closing) = (attach.owner.clone(), closed.clone());
        let connection = BridgeConnection { id, owner, closed: closing, ..BridgeConnection::default() };
        if let Some(former) = state.connection.replace(connection) {
            former.displace(&attach.owner);
        }
        drop(state);
        self.absence.send_modify(|absence| absence.since = None);
        self.touch();
        Ok(Admitted { id, after, closed, greeting })
    }

    /// Admits or refuses a viewer of the terminal. Any number may look, and what runs in the terminal may
    /// not.
    #[cfg(feature = "terminal")]
    pub(in crate::host) fn view(
        &self,
        view: &View,
        peer: Option<i32>,
    ) -> Result<Arc<Terminal>, (Refusal, String)> {
        self.check_secret(&view.secret)?;
        if terminal::is_below(peer) {
            return Err((Refusal::Stranger, "What runs in a terminal cannot attach to it".to_owned()));
        }
        let none = || (Refusal::NotNow, "No terminal was started here".to_owned());
        self.terminal().cloned().ok_or_else(none)
    }

    /// Checks that the peer has read the record, which only the same user can.
    fn check_secret(&self, secret: &str) -> Result<(), (Refusal, String)> {
        if constant_time_eq(secret, &self.record.secret) {
            return Ok(());
        }
        Err((Refusal::Stranger, "The secret is wrong".to_owned()))
    }

    fn hello(&self, session: &HostSession, after: u64, version: u32) -> Hello {
        Hello {
            version: version.min(VERSION),
            host: self.record.id.clone(),
            session: self.record.session.clone(),
            host_pid: std::process::id(),
            pid: session.cli.pid().filter(|_| session.exit.is_none()),
            started: self.record.started.clone(),
            first: session.spool.first(),
            next: session.spool.next(),
            after,
            lease_ms: u64::try_from(self.absence.borrow().lease.as_millis()).unwrap_or(u64::MAX),
            forgotten: session.conversation.forgotten(),
        }
    }

    /// Handles the end of a connection, which need not be the bridge's.
    pub(in crate::host) fn disconnected(&self, id: Option<u64>) {
        let mut state = self.state.lock();
        if id.is_some() && state.connection.as_ref().map(|connection| connection.id) == id {
            state.connection = None;
        }
        if state.connection.is_none() && state.session.is_some() {
            self.absence.send_modify(|absence| {
                absence.since.get_or_insert_with(Instant::now);
            });
        }
        drop(state);
        self.touch();
    }

    /// Returns when no bridge was connected for the duration of the lease.
    pub(in crate::host) async fn lease_expired(&self) {
        let mut absence = self.absence.subscribe();
        loop {
            let BridgeAbsence { since, lease } = *absence.borrow_and_update();
            let Some(since) = since else {
                drop(absence.changed().await);
                continue;
            };
            tokio::select! {
                () = tokio::time::sleep_until(since + lease) => return,
                _ = absence.changed() => {}
            }
        }
    }
}

impl HostSession {
    fn greeting(&self, hello: Hello) -> Vec<Message<FromHost>> {
        let kept = &self.conversation;
        let mut all = vec![Message::new(FromHost::Hello(hello))];
        all.extend(kept.initialize.as_deref().map(|line| Message::with(FromHost::Initialize, line)));
        all.extend(kept.init.as_deref().map(|line| Message::with(FromHost::Init, line)));
        all.extend(kept.open().map(|(line, end)| Message::with(FromHost::Open { end }, line)));
        all.push(Message::new(FromHost::Ready));
        all
    }
}

/// The reason to refuse a bridge, given the connected one and the highest fence so far.
fn refusal_for(current: Option<&str>, best: u64, attach: &Attach) -> Option<Refusal> {
    if attach.fence < best {
        return Some(Refusal::Outdated);
    }
    // The connected bridge has presented the highest fence so far.
    let taken = current.is_some_and(|owner| owner != attach.owner && attach.fence == best);
    taken.then_some(Refusal::Taken)
}

/// Compares in constant time.
fn constant_time_eq(one: &str, other: &str) -> bool {
    let differences = one.bytes().zip(other.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F80: admission of a bridge, by the connected bridge, the highest fence so far, and the presented
    /// fence.
    #[test]
    fn f80_one_bridge_at_a_time_and_the_better_right_wins() {
        let attach = |owner: &str, fence| Attach {
            version: 1,
            secret: String::new(),
            owner: owner.to_owned(),
            fence,
            after: None,
            lease_ms: None,
        };
        for (current, best, owner, fence, expected) in [
            (None, 0, "a", 0, None),
            (None, 7, "b", 7, None),
            (None, 7, "b", 6, Some(Refusal::Outdated)),
            (Some("a"), 7, "b", 7, Some(Refusal::Taken)),
            (Some("a"), 7, "b", 8, None),
            (Some("a"), 7, "a", 7, None),
            (Some("a"), 7, "a", 6, Some(Refusal::Outdated)),
        ] {
            assert_eq!(
                refusal_for(current, best, &attach(owner, fence)),
                expected,
                "{current:?} {best} {owner} {fence}"
            );
        }
    }

    #[test]
    fn secrets_are_compared_whole() {
        for (one, other, expected) in [("abc", "abc", true), ("abc", "abd", false), ("abc", "ab", false)] {
            assert_eq!(constant_time_eq(one, other), expected, "{one} {other}");
        }
    }
}
