//! The two directions of a connection, each woken only by what it waits for.
//!
//! Whoever reads from a socket makes room in it, and the other side is told that it could write again, for each piece of text. A host
//! has nothing to write then: it would wake up for nothing as often as for something.

use std::io::{self, ErrorKind, Write as _};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as Socket;

use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
// What these do is right for every file that can be waited for, and each waits for one thing alone.
use tokio::net::unix::pipe::{Receiver, Sender};

/// What the other side says.
pub(super) type Incoming = Receiver;

/// The way to the other side, which hears that nothing more comes when this is dropped.
#[derive(Debug)]
pub(super) struct Outgoing(Socket);

pub(super) fn split(stream: UnixStream) -> io::Result<(Incoming, Outgoing)> {
    let socket = stream.into_std()?;
    let incoming = Receiver::from_owned_fd_unchecked(OwnedFd::from(socket.try_clone()?))?;
    Ok((incoming, Outgoing(socket)))
}

impl Outgoing {
    /// Writes all of it, and waits for room only if there is none.
    pub(super) async fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.0.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let mut waiting = Sender::from_owned_fd_unchecked(OwnedFd::from(self.0.try_clone()?))?;
                    return waiting.write_all(bytes).await;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        // Whoever has gone needs no telling.
        drop(self.0.shutdown(Shutdown::Write));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt as _;

    /// More than a socket holds comes through whole, both ways at once, and then the end.
    #[tokio::test]
    async fn a_connection_carries_more_than_it_holds() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let (mut incoming, mut outgoing) = split(ours).unwrap();
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|at| u8::try_from(at % 251).unwrap()).collect();
        let (sent, expected) = (bytes.clone(), bytes.clone());
        let writing = tokio::spawn(async move { outgoing.write_all(&sent).await });
        let reading = tokio::spawn(async move {
            let mut all = Vec::new();
            incoming.read_to_end(&mut all).await.map(|_| all)
        });
        let (mut read, mut write) = theirs.split();
        let both = async {
            let mut all = Vec::new();
            let read = read.read_to_end(&mut all);
            let write = async {
                write.write_all(&bytes).await?;
                write.shutdown().await
            };
            let (read, write) = tokio::join!(read, write);
            write.and(read).map(|_| all)
        };
        assert!(both.await.unwrap() == expected);
        assert!(reading.await.unwrap().unwrap() == expected);
        writing.await.unwrap().unwrap();
    }
}
