//! Connections to a host.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::socket::{self, ReadHalf, Waiter, WriteHalf};
use super::state::{Admitted, Host, HostEnd, Sent};
#[cfg(feature = "terminal")]
use super::terminal::{self, Terminal};
#[cfg(feature = "terminal")]
use super::wire::View;
use super::wire::{FromHost, Message, Reader, Refusal, StartFailure, ToHost};
use super::{Start, cli, ending};
#[cfg(not(feature = "terminal"))]
use crate::error::Error;
use crate::error::ErrorKind;
use crate::limits::{HOST_BYTES_MAX, HOST_GREETING, HOST_GREETINGS_MAX};

/// Time for a displaced bridge to receive the message that says so.
const SUPERSEDED_TIMEOUT: Duration = Duration::from_millis(100);

/// Accepts connections of the same user.
pub(super) async fn accept(host: Arc<Host>, listener: UnixListener) {
    let greetings = Arc::new(Semaphore::new(HOST_GREETINGS_MAX));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files; some will be closed.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let peer = stream.peer_cred().ok();
        if !is_same_user(peer.map(|peer| peer.uid()), rustix::process::geteuid().as_raw()) {
            tracing::warn!(?peer, "refused a connection of another user");
            continue;
        }
        let Ok(permit) = Arc::clone(&greetings).try_acquire_owned() else { continue };
        let host = Arc::clone(&host);
        let starter = Starter::new(&host);
        drop(tokio::spawn(async move {
            let Ok((read, mut write)) = socket::split(stream) else { return };
            let mut reader = Reader::new(read, HOST_BYTES_MAX);
            let process = peer.and_then(|peer| peer.pid());
            let greeting = greet(&host, starter, process, &mut reader, &mut write);
            let admitted = tokio::time::timeout(HOST_GREETING, greeting).await;
            drop(permit);
            let id = match admitted.ok().flatten() {
                Some(Peer::Bridge(admitted)) => {
                    let id = admitted.id;
                    serve(&host, admitted, reader, write).await;
                    Some(id)
                }
                #[cfg(feature = "terminal")]
                Some(Peer::Viewer(terminal, view)) => {
                    return terminal::serve(terminal, view, reader, write).await;
                }
                None => None,
            };
            host.disconnected(id);
        }));
    }
}

/// True if the peer is the user of this host.
fn is_same_user(peer: Option<u32>, mine: u32) -> bool {
    peer == Some(mine)
}

/// A connection that may still send the launch request.
///
/// This includes a bridge that was killed right after it had sent the request, which is read after its end.
/// Later connections have to wait for it, or there would be two agents.
struct Starter(Arc<Host>);

impl Starter {
    fn new(host: &Arc<Host>) -> Self {
        host.add_starter();
        Starter(Arc::clone(host))
    }
}

impl Drop for Starter {
    fn drop(&mut self) {
        self.0.remove_starter();
    }
}

/// The role of an admitted connection.
enum Peer {
    Bridge(Admitted),
    #[cfg(feature = "terminal")]
    Viewer(Arc<Terminal>, View),
}

/// Reads the greeting of a connection.
#[cfg_attr(
    not(feature = "terminal"),
    expect(unused_variables, reason = "only viewers are known by their process")
)]
async fn greet(
    host: &Arc<Host>,
    starter: Starter,
    process: Option<i32>,
    reader: &mut Reader<ReadHalf>,
    write: &mut WriteHalf,
) -> Option<Peer> {
    let mut starter = Some(starter);
    loop {
        let message: Message<ToHost> = reader.next().await.ok()??;
        let answer = match message.head {
            ToHost::Start if host.is_started() => refused(Refusal::NotNow, "An agent was already started"),
            ToHost::Start => match start_agent(host, &message.bytes).await {
                None => continue,
                Some(failed) => {
                    drop(write.write_all(&Message::new(failed).encode()).await);
                    host.finish(HostEnd::Done);
                    return None;
                }
            },
            ToHost::Attach(attach) => {
                drop(starter.take());
                host.wait_for_starters().await;
                match host.attach(&attach) {
                    Ok(admitted) => {
                        let greeting: Vec<u8> = admitted.greeting.iter().flat_map(Message::encode).collect();
                        // If the peer has gone, the next read returns the end.
                        drop(write.write_all(&greeting).await);
                        return Some(Peer::Bridge(admitted));
                    }
                    Err((reason, message)) => {
                        if reason == Refusal::NotNow {
                            // The sender of the launch request is gone, and another bridge owns the session
                            // now.
                            host.finish(HostEnd::Done);
                        }
                        refused(reason, &message)
                    }
                }
            }
            #[cfg(feature = "terminal")]
            ToHost::View(view) => {
                drop(starter.take());
                host.wait_for_starters().await;
                match host.view(&view, process) {
                    Ok(terminal) => return Some(Peer::Viewer(terminal, view)),
                    Err((reason, message)) => refused(reason, &message),
                }
            }
            ToHost::Unknown => continue,
            _ => refused(Refusal::NotNow, "Send `attach` or `view` first"),
        };
        drop(write.write_all(&Message::new(answer).encode()).await);
        return None;
    }
}

fn refused(reason: Refusal, message: &str) -> FromHost {
    FromHost::Refused { reason, message: message.to_owned() }
}

/// Starts the agent of a launch request. Returns the error for the sender, if any.
async fn start_agent(host: &Arc<Host>, start: &[u8]) -> Option<FromHost> {
    let start: Start = match serde_json::from_slice(start) {
        Ok(start) => start,
        Err(error) => {
            let message = format!("The launch request cannot be decoded: {error}");
            let cause = StartFailure::Spawn;
            return Some(FromHost::Failed { message, hint: String::new(), cause });
        }
    };
    let started = match start.terminal {
        None => cli::start(host, start).await,
        #[cfg(feature = "terminal")]
        Some(size) => terminal::start(host, start, size).await,
        #[cfg(not(feature = "terminal"))]
        Some(_) => Err(Error::new(ErrorKind::Spawn, "This program was built without terminals", "")),
    };
    let error = started.err()?;
    let source = std::error::Error::source(&error).map(|source| format!(": {source}")).unwrap_or_default();
    let cause = match error.kind() {
        ErrorKind::Taken => StartFailure::Taken,
        _ => StartFailure::Spawn,
    };
    Some(FromHost::Failed { message: format!("{error}{source}"), hint: error.hint().to_owned(), cause })
}

/// Serves the bridge until it disconnects or is displaced.
async fn serve(host: &Arc<Host>, admitted: Admitted, mut reader: Reader<ReadHalf>, write: WriteHalf) {
    let Admitted { id, after, closed, .. } = admitted;
    let Ok(waiter) = write.waiter() else { return };
    if let Err((mut write, owner)) = host.open_output(id, write, after) {
        let message = Message::new(FromHost::Superseded { owner }).encode();
        // It gets the message if it reads, and is not waited for.
        drop(tokio::time::timeout(SUPERSEDED_TIMEOUT, write.write_all(&message)).await);
        return;
    }
    let mut sending = tokio::spawn(send(Arc::clone(host), id, closed, waiter));
    loop {
        let message = tokio::select! {
            message = reader.next::<ToHost>() => message,
            // A bridge that no longer reads is disconnected.
            _ = &mut sending => return,
        };
        let Ok(Some(message)) = message else { break };
        // Messages of a bridge that was displaced meanwhile come too late.
        if !host.is_served_by(id) {
            break;
        }
        handle_message(host, message);
    }
    sending.abort();
}

fn handle_message(host: &Host, message: Message<ToHost>) {
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
        ToHost::Bye => host.finish(HostEnd::Done),
        _ => {}
    }
}

/// Sends what the thread that reads the output does not send: replies, stderr, the exit status, and output
/// that was missed or did not fit into the socket.
async fn send(host: Arc<Host>, id: u64, closed: CancellationToken, waiter: Waiter) {
    let mut changed = host.changes();
    loop {
        changed.borrow_and_update();
        match host.send(id) {
            Ok(Sent::All) => drop(changed.changed().await),
            Ok(Sent::More) => tokio::task::yield_now().await,
            Ok(Sent::Full) => {
                let ready = tokio::select! {
                    ready = waiter.has_room() => ready,
                    () = closed.cancelled() => return,
                };
                if ready.is_err() {
                    return;
                }
            }
            Ok(Sent::Displaced) => return,
            Err(error) => {
                tracing::debug!(%error, "the connection ends");
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T8: the socket accepts its own user only, not root either, and no peer without a known user.
    #[test]
    fn only_the_same_user_may_enter() {
        for (peer, mine, expected) in
            [(Some(1000), 1000, true), (Some(0), 1000, false), (Some(1001), 1000, false), (None, 0, false)]
        {
            assert_eq!(is_same_user(peer, mine), expected, "{peer:?} {mine}");
        }
    }
}
