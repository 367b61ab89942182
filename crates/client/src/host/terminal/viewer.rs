//! The connection of one viewer.

use std::sync::Arc;

use tokio::io::AsyncWrite;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::peer;
use super::shared::{Beginning, Terminal};
use super::wire::{self, FromTerminal, TerminalRole, ToTerminal};
use crate::limits::{HOST_GREETING, VIEWER_WRITE_WAIT};

/// Serves a viewer until its connection or the program ends.
pub(super) async fn serve(terminal: Arc<Terminal>, stream: UnixStream) {
    if !peer::is_allowed(&stream) {
        tracing::warn!("refused a connection from a process of the terminal");
        return;
    }
    let (mut read, write) = stream.into_split();
    let Ok(Ok(Some(ToTerminal::Hello(role, size)))) =
        timeout(HOST_GREETING, ToTerminal::read(&mut read)).await
    else {
        return;
    };
    if role == TerminalRole::Steer {
        return steer(&terminal, read, write).await;
    }
    let viewer = terminal.enter(size);
    // A person who returns to a suspended program wants it to go on.
    if role == TerminalRole::Keys {
        terminal.resume();
    }
    let over = CancellationToken::new();
    let showing = tokio::spawn(show(Arc::clone(&terminal), write, over.clone()));
    tokio::select! {
        () = receive(&terminal, viewer, role, &mut read) => {}
        () = over.cancelled() => {}
    }
    terminal.leave(viewer);
    showing.abort();
}

/// Takes the messages of a viewer.
async fn receive(terminal: &Terminal, viewer: u64, role: TerminalRole, read: &mut OwnedReadHalf) {
    while let Ok(Some(message)) = ToTerminal::read(read).await {
        match message {
            _ if role != TerminalRole::Keys => {}
            ToTerminal::Keys(keys) => terminal.press(keys).await,
            ToTerminal::Size(size) => terminal.set_size(viewer, size),
            ToTerminal::Continue => terminal.resume(),
            ToTerminal::Hello(..) | ToTerminal::Prompt(_) | ToTerminal::Interrupt => {}
        }
    }
}

/// Types prompts and interrupts, and reports what became of each.
async fn steer(terminal: &Terminal, mut read: OwnedReadHalf, mut write: OwnedWriteHalf) {
    while let Ok(Some(message)) = ToTerminal::read(&mut read).await {
        let outcome = match message {
            ToTerminal::Prompt(text) => terminal.prompt(&text).await,
            ToTerminal::Interrupt => terminal.interrupt(),
            _ => continue,
        };
        if send(&mut write, &FromTerminal::Outcome(outcome).encode()).await.is_none() {
            return;
        }
    }
}

/// Sends the screen and what follows. A viewer that is too far behind gets the screen again.
async fn show(terminal: Arc<Terminal>, mut write: OwnedWriteHalf, over: CancellationToken) {
    let _over = over.drop_guard();
    loop {
        let Beginning { size, redraw, mut output, exit } = terminal.begin();
        let begin = [FromTerminal::Size(size), FromTerminal::Redraw(redraw)];
        for message in begin.into_iter().chain(exit.map(FromTerminal::Exited)) {
            if send(&mut write, &message.encode()).await.is_none() {
                return;
            }
        }
        if exit.is_some() {
            return;
        }
        loop {
            match output.recv().await {
                Ok(message) => {
                    if send(&mut write, &message).await.is_none() || message.first() == Some(&b'x') {
                        return;
                    }
                }
                Err(RecvError::Lagged(_)) => break,
                Err(RecvError::Closed) => return,
            }
        }
    }
}

/// Writes a message. A viewer that takes nothing for long is given up.
async fn send(write: &mut (impl AsyncWrite + Unpin), message: &[u8]) -> Option<()> {
    timeout(VIEWER_WRITE_WAIT, wire::write(write, message)).await.ok()?.ok()
}
