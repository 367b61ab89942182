//! The two directions of a connection, each woken only by its own readiness.
//!
//! Reading from a socket frees space in it, and the other side is notified that it can write again, for each
//! delta. A host has nothing to write then: it would wake up for nothing as often as for something.

use std::io::{self, ErrorKind, Write as _};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as Socket;

use tokio::net::UnixStream;
// These types work for every pollable file descriptor, and each waits for one direction only.
use tokio::net::unix::pipe::{Receiver, Sender};

/// The reading half.
pub(super) type ReadHalf = Receiver;

/// The writing half. Dropping it ends the stream for the other side.
#[derive(Debug)]
pub(super) struct WriteHalf(Socket);

pub(super) fn split(stream: UnixStream) -> io::Result<(ReadHalf, WriteHalf)> {
    let socket = stream.into_std()?;
    let incoming = Receiver::from_owned_fd_unchecked(OwnedFd::from(socket.try_clone()?))?;
    Ok((incoming, WriteHalf(socket)))
}

impl WriteHalf {
    /// Writes as many bytes as the socket has room for.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = 0;
        while written < bytes.len() {
            match self.0.write(&bytes[written..]) {
                Ok(count) => written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(written)
    }

    /// Writes all bytes, and waits only while the socket is full.
    pub(super) async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut written = self.write(bytes)?;
        while written < bytes.len() {
            self.waiter()?.has_room().await?;
            written += self.write(&bytes[written..])?;
        }
        Ok(())
    }

    /// A handle to wait for room in the socket.
    pub(super) fn waiter(&self) -> io::Result<Waiter> {
        self.0.try_clone().map(Waiter)
    }
}

/// Waits for room in a socket.
#[derive(Debug)]
pub(super) struct Waiter(Socket);

impl Waiter {
    /// Returns when the socket may have room.
    pub(super) async fn has_room(&self) -> io::Result<()> {
        Sender::from_owned_fd_unchecked(OwnedFd::from(self.0.try_clone()?))?.writable().await
    }
}

impl Drop for WriteHalf {
    fn drop(&mut self) {
        // A closed peer needs no shutdown.
        drop(self.0.shutdown(Shutdown::Write));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    /// More data than a socket buffers arrives whole, in both directions at once, and then the end.
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
