//! Connections: who is at their other end, and how many there may be.

use std::collections::HashMap;
use std::future::{Ready, ready};
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Extension;
use axum::middleware::AddExtension;
use axum_server::accept::Accept;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;
use tower::Layer as _;

use super::Bounds;
use crate::guard::Peer;
use crate::limits::SEND_BUFFER_BYTES;

/// Room for connections. Handles are cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Slots {
    taken: Arc<Mutex<Taken>>,
    pub(super) bounds: Bounds,
}

#[derive(Debug, Default)]
struct Taken {
    total: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// Room for one connection, given back when it ends.
#[derive(Debug)]
struct Slot {
    slots: Slots,
    address: IpAddr,
}

/// A connection that has found room.
///
/// It ends when its client takes nothing for too long. The doors cannot see to that alone: what is above them asks for
/// the next piece of a stream only when the last one is gone.
#[derive(Debug)]
pub(super) struct Held<S> {
    stream: S,
    write_wait: Duration,
    /// Runs while the client takes nothing.
    patience: Option<Pin<Box<Sleep>>>,
    _slot: Slot,
}

impl Slots {
    pub(super) fn new(bounds: Bounds) -> Self {
        Slots { taken: Arc::default(), bounds }
    }

    fn take(&self, peer: Peer) -> io::Result<Slot> {
        let address = peer.group();
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let own = taken.by_address.get(&address).copied().unwrap_or_default();
        if taken.total >= self.bounds.connections || own >= self.bounds.address_connections {
            tracing::warn!(%peer, total = taken.total, own, "no room for a connection");
            return Err(io::Error::other("no room"));
        }
        taken.total += 1;
        taken.by_address.insert(address, own + 1);
        Ok(Slot { slots: self.clone(), address })
    }

    fn admit<I, S>(&self, stream: I, service: S, peer: Peer) -> io::Result<(Held<I>, AddExtension<S, Peer>)> {
        let write_wait = self.bounds.write_wait;
        let held = Held { stream, write_wait, patience: None, _slot: self.take(peer)? };
        Ok((held, Extension(peer).layer(service)))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut taken = self.slots.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.total -= 1;
        if let Some(own) = taken.by_address.get_mut(&self.address) {
            *own -= 1;
            if *own == 0 {
                taken.by_address.remove(&self.address);
            }
        }
    }
}

impl<S> Accept<TcpStream, S> for Slots {
    type Stream = Held<TcpStream>;
    type Service = AddExtension<S, Peer>;
    type Future = Ready<io::Result<(Self::Stream, Self::Service)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let peer = || {
            // An event is one small piece, and waiting for more of them would only delay it.
            stream.set_nodelay(true)?;
            // The kernel would keep megabytes for each client that does not read.
            rustix::net::sockopt::set_socket_send_buffer_size(&stream, SEND_BUFFER_BYTES)?;
            Ok::<_, io::Error>(Peer::Tcp { remote: stream.peer_addr()?, local: stream.local_addr()? })
        };
        ready(peer().and_then(|peer| self.admit(stream, service, peer)))
    }
}

#[cfg(unix)]
impl<S> Accept<tokio::net::UnixStream, S> for Slots {
    type Stream = Held<tokio::net::UnixStream>;
    type Service = AddExtension<S, Peer>;
    type Future = Ready<io::Result<(Self::Stream, Self::Service)>>;

    fn accept(&self, stream: tokio::net::UnixStream, service: S) -> Self::Future {
        let ours = stream.peer_cred().and_then(|peer| {
            let (theirs, own) = (peer.uid(), rustix::process::geteuid().as_raw());
            if theirs == own {
                return Ok(());
            }
            tracing::warn!(uid = theirs, "somebody else has come to the socket");
            Err(io::ErrorKind::PermissionDenied.into())
        });
        ready(ours.and_then(|()| self.admit(stream, service, Peer::Unix)))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Held<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<S: Unpin> Held<S> {
    /// Does something that waits for the client, for as long as that may take.
    fn in_time<T>(
        &mut self,
        cx: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if let done @ Poll::Ready(_) = write(Pin::new(&mut self.stream), cx) {
            self.patience = None;
            return done;
        }
        let write_wait = self.write_wait;
        let patience = self.patience.get_or_insert_with(|| Box::pin(tokio::time::sleep(write_wait)));
        ready!(patience.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client takes nothing")))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Held<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.in_time(cx, |stream, cx| stream.poll_write(cx, bytes))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.in_time(cx, AsyncWrite::poll_flush)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.in_time(cx, AsyncWrite::poll_shutdown)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.in_time(cx, |stream, cx| stream.poll_write_vectored(cx, bytes))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t12_one_address_does_not_take_all_the_room() {
        let bounds = Bounds { connections: 5, address_connections: 3, ..Bounds::default() };
        let slots = Slots::new(bounds);
        let peer =
            |last| Peer::Tcp { remote: ([10, 0, 0, last], 1).into(), local: ([10, 0, 0, 1], 7717).into() };
        let mut held: Vec<Slot> = (0..3).map(|_| slots.take(peer(2)).unwrap()).collect();
        assert!(slots.take(peer(2)).is_err(), "one more from the same address");
        held.extend((3..5).map(|_| slots.take(peer(3)).unwrap()));
        assert!(slots.take(peer(4)).is_err(), "one more at all");
        drop(held);
        assert!(slots.take(peer(4)).is_ok());
        assert_eq!(slots.taken.lock().unwrap().by_address.len(), 0);
    }

    /// F98: a stream whose client has stopped reading does not stay for ever.
    #[tokio::test]
    async fn f98_a_connection_ends_when_its_client_takes_nothing() {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let slots = Slots::new(Bounds { write_wait: Duration::from_millis(20), ..Bounds::default() });
        let (ours, mut theirs) = tokio::io::duplex(1 << 10);
        let (mut held, _) = slots.admit(ours, (), Peer::Unix).unwrap();
        let reads = async {
            let mut taken = vec![0; 8 << 10];
            theirs.read_exact(&mut taken).await.unwrap();
        };
        let (written, ()) = tokio::join!(held.write_all(&[0; 8 << 10]), reads);
        written.unwrap();
        let stuck = held.write_all(&[0; 8 << 10]).await.unwrap_err();
        assert_eq!(stuck.kind(), io::ErrorKind::TimedOut);
        drop(theirs);
    }
}
