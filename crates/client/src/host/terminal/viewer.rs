//! The connection of one viewer.

use std::sync::Arc;

use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::shared::Terminal;
use crate::host::socket::{ReadHalf, WriteHalf};
use crate::host::wire::{FromHost, Message, Reader, TerminalRole, ToHost, View};
use crate::limits::VIEWER_WRITE_WAIT;

/// Serves a viewer until its connection or the program ends.
pub(in crate::host) async fn serve(
    terminal: Arc<Terminal>,
    view: View,
    mut reader: Reader<ReadHalf>,
    write: WriteHalf,
) {
    // It is never closed.
    let Ok(_seat) = terminal.seats.acquire().await else { return };
    let View { role, size, .. } = view;
    if role == TerminalRole::Steer {
        return steer(&terminal, reader, write).await;
    }
    let viewer = terminal.enter(size);
    // A person who returns to a suspended program wants it to go on.
    if role == TerminalRole::Keys {
        terminal.resume();
    }
    let over = CancellationToken::new();
    let showing = tokio::spawn(show(Arc::clone(&terminal), write, over.clone()));
    tokio::select! {
        () = receive(&terminal, viewer, role, &mut reader) => {}
        () = over.cancelled() => {}
    }
    terminal.leave(viewer);
    showing.abort();
}

/// Takes the messages of a viewer.
async fn receive(terminal: &Terminal, viewer: u64, role: TerminalRole, reader: &mut Reader<ReadHalf>) {
    while let Ok(Some(Message { head, bytes })) = reader.next().await {
        match head {
            _ if role != TerminalRole::Keys => {}
            ToHost::Keys => terminal.press(bytes).await,
            ToHost::Resize { size } => terminal.set_size(viewer, size),
            ToHost::Continue => terminal.resume(),
            _ => {}
        }
    }
}

/// Types prompts and interrupts, and reports what became of each.
async fn steer(terminal: &Terminal, mut reader: Reader<ReadHalf>, mut write: WriteHalf) {
    while let Ok(Some(Message { head, bytes })) = reader.next().await {
        let outcome = match head {
            ToHost::Prompt => {
                let Ok(text) = String::from_utf8(bytes) else { return };
                terminal.prompt(&text).await
            }
            ToHost::Interrupt => terminal.interrupt(),
            _ => continue,
        };
        if send(&mut write, &Message::new(FromHost::Typed { outcome }).encode()).await.is_none() {
            return;
        }
    }
}

/// Sends the screen and what follows. A viewer that is too far behind gets the screen again.
async fn show(terminal: Arc<Terminal>, mut write: WriteHalf, over: CancellationToken) {
    let _over = over.drop_guard();
    loop {
        let (begin, mut output) = terminal.begin();
        if send(&mut write, &begin).await.is_none() {
            return;
        }
        // The exit is the last message.
        while !(terminal.has_ended() && output.is_empty()) {
            match output.recv().await {
                Ok(message) => {
                    if send(&mut write, &message).await.is_none() {
                        return;
                    }
                }
                Err(RecvError::Lagged(_)) => break,
                Err(RecvError::Closed) => return,
            }
        }
        if terminal.has_ended() && output.is_empty() {
            return;
        }
    }
}

/// Writes a message. A viewer that takes nothing for long is given up.
async fn send(write: &mut WriteHalf, message: &[u8]) -> Option<()> {
    timeout(VIEWER_WRITE_WAIT, write.write_all(message)).await.ok()?.ok()
}
