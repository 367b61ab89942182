//! Those who connect to a host.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::net::UnixListener;

use super::socket::{self, Incoming, Outgoing};
use super::state::{Admitted, Host, Over, Then};
use super::wire::{FromHost, Message, Reader, Refusal, ToHost};
use super::{Start, cli, ending};
use crate::limits::{HOST_BYTES_MAX, HOST_GREETING, HOST_STRANGERS_MAX};

/// How long somebody who was displaced may take to hear it.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// Lets in whoever may come in.
pub(super) async fn accept(host: Arc<Host>, listener: UnixListener) {
    let strangers = Arc::new(AtomicUsize::new(0));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many files are open; some will be closed.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let peer = stream.peer_cred().map(|peer| peer.uid()).ok();
        if !may_enter(peer, rustix::process::geteuid().as_raw()) {
            tracing::warn!(?peer, "another user was turned away");
            continue;
        }
        if strangers.fetch_add(1, Ordering::Relaxed) >= HOST_STRANGERS_MAX {
            strangers.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (host, strangers) = (Arc::clone(&host), Arc::clone(&strangers));
        let starter = Starter::new(&host);
        drop(tokio::spawn(async move {
            let Ok((read, mut write)) = socket::split(stream) else {
                strangers.fetch_sub(1, Ordering::Relaxed);
                return;
            };
            let mut reader = Reader::new(read, HOST_BYTES_MAX);
            let greeting = greet(&host, starter, &mut reader, &mut write);
            let admitted = tokio::time::timeout(HOST_GREETING, greeting).await;
            strangers.fetch_sub(1, Ordering::Relaxed);
            let admitted = admitted.ok().flatten();
            let id = admitted.as_ref().map(|admitted| admitted.id);
            if let Some(admitted) = admitted {
                serve(&host, admitted, reader, write).await;
            }
            host.left(id);
        }));
    }
}

/// Only the user whose host it is.
fn may_enter(peer: Option<u32>, mine: u32) -> bool {
    peer == Some(mine)
}

/// Somebody who is there and may still say what to start.
///
/// A bridge that was killed right after it had said so is such a one: its words are read after its end. Whoever comes after it has
/// to wait for them, or there would be two agents.
struct Starter(Arc<Host>);

impl Starter {
    fn new(host: &Arc<Host>) -> Self {
        host.starter_came();
        Starter(Arc::clone(host))
    }
}

impl Drop for Starter {
    fn drop(&mut self) {
        self.0.starter_left();
    }
}

/// Hears what a connection wants.
async fn greet(
    host: &Arc<Host>,
    starter: Starter,
    reader: &mut Reader<Incoming>,
    write: &mut Outgoing,
) -> Option<Admitted> {
    let mut starter = Some(starter);
    loop {
        let message: Message<ToHost> = reader.next().await.ok()??;
        let answer = match message.head {
            ToHost::Start if host.is_started() => refused(Refusal::NotNow, "Something was started already"),
            ToHost::Start => match begin(host, &message.bytes).await {
                None => continue,
                Some(failed) => {
                    drop(write.write_all(&Message::new(failed).encode()).await);
                    host.finish(Over::Done);
                    return None;
                }
            },
            ToHost::Attach(attach) => {
                drop(starter.take());
                host.no_starter().await;
                match host.attach(&attach) {
                    Ok(admitted) => {
                        let greeting: Vec<u8> = admitted.greeting.iter().flat_map(Message::encode).collect();
                        // If it has gone by now, the next thing that is read is the end.
                        drop(write.write_all(&greeting).await);
                        return Some(admitted);
                    }
                    Err((reason, message)) => {
                        if reason == Refusal::NotNow {
                            // Whoever was to say what to start is gone, and somebody else has the right to the session now.
                            host.finish(Over::Done);
                        }
                        refused(reason, &message)
                    }
                }
            }
            ToHost::Unknown => continue,
            _ => refused(Refusal::NotNow, "First say who you are"),
        };
        drop(write.write_all(&Message::new(answer).encode()).await);
        return None;
    }
}

fn refused(reason: Refusal, message: &str) -> FromHost {
    FromHost::Refused { reason, message: message.to_owned() }
}

/// Starts what is asked for. What went wrong is told to whoever asked.
async fn begin(host: &Arc<Host>, start: &[u8]) -> Option<FromHost> {
    let start: Start = match serde_json::from_slice(start) {
        Ok(start) => start,
        Err(error) => {
            let message = format!("What is to be started cannot be read: {error}");
            return Some(FromHost::Failed { message, hint: String::new() });
        }
    };
    let error = cli::start(host, start).await.err()?;
    let cause = std::error::Error::source(&error).map(|source| format!(": {source}")).unwrap_or_default();
    Some(FromHost::Failed { message: format!("{error}{cause}"), hint: error.hint().to_owned() })
}

/// Serves the bridge until it leaves or is displaced.
async fn serve(host: &Arc<Host>, admitted: Admitted, mut reader: Reader<Incoming>, write: Outgoing) {
    let (id, closed) = (admitted.id, admitted.closed.clone());
    let mut writing = tokio::spawn(send(Arc::clone(host), admitted, write));
    loop {
        let message = tokio::select! {
            message = reader.next::<ToHost>() => message,
            // Whoever takes nothing any more is not heard any more.
            _ = &mut writing => return,
        };
        let Ok(Some(message)) = message else { break };
        // What a bridge says that was displaced meanwhile is said too late.
        if !host.is_served_by(id) {
            break;
        }
        hear(host, message);
    }
    closed.cancel();
    drop(tokio::time::timeout(LAST_WORDS, writing).await);
}

fn hear(host: &Host, message: Message<ToHost>) {
    match message.head {
        ToHost::In { id } => {
            if let Some(reply) = host.write(id, message.bytes) {
                host.reply(reply);
            }
        }
        ToHost::Ack { offset } => host.forget(offset),
        ToHost::EndInput => host.end_input(),
        ToHost::Terminate => host.cli().iter().for_each(cli::Cli::terminate),
        ToHost::Kill => {
            if let Some(cli) = host.cli() {
                ending::kill(&cli);
            }
        }
        ToHost::Pids => {
            let pids = host.cli().map(|cli| ending::pids(&cli)).unwrap_or_default();
            host.reply(FromHost::Pids { pids });
        }
        ToHost::Ping => {
            if let Some(cli) = host.cli() {
                host.reply(FromHost::Pong { cli: cli.state() });
            }
        }
        ToHost::Bye => host.finish(Over::Done),
        ToHost::Start | ToHost::Attach(_) | ToHost::Unknown => {}
    }
}

/// Sends what there is to send, from the spool and nowhere else: what happens now takes the way of what was missed.
async fn send(host: Arc<Host>, admitted: Admitted, mut write: Outgoing) {
    let Admitted { id, after: mut sent, closed, .. } = admitted;
    let mut changed = host.changes();
    let mut out = Vec::new();
    loop {
        changed.borrow_and_update();
        out.clear();
        match host.next_for(id, &mut sent, &mut out) {
            Ok(Then::Wait) => {
                drop(changed.changed().await);
                continue;
            }
            Ok(Then::Send) => {}
            Ok(Then::Last) => {
                // Whoever was displaced is told if it listens, and not waited for.
                drop(tokio::time::timeout(LAST_WORDS, write.write_all(&out)).await);
                return;
            }
            Err(error) => {
                tracing::error!(%error, "the spool cannot be read");
                return;
            }
        }
        let written = tokio::select! {
            written = write.write_all(&out) => written,
            () = closed.cancelled() => return,
        };
        if written.is_err() {
            return;
        }
        out.shrink_to(64 << 10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T8: the socket lets in its own user and nobody else, root neither, and nobody whose user is not known.
    #[test]
    fn only_the_same_user_may_enter() {
        for (peer, mine, expected) in
            [(Some(1000), 1000, true), (Some(0), 1000, false), (Some(1001), 1000, false), (None, 0, false)]
        {
            assert_eq!(may_enter(peer, mine), expected, "{peer:?} {mine}");
        }
    }
}
