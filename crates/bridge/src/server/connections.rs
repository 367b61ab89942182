//! Connections: who is at their other end, and how many there may be.

use std::collections::HashMap;
use std::future::{Ready, ready};
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::Extension;
use axum::middleware::AddExtension;
use axum_server::accept::Accept;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tower::Layer as _;

use crate::guard::Peer;
use crate::limits::{ADDRESS_CONNECTIONS_MAX, CONNECTIONS_MAX};

/// Room for connections. Handles are cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Slots(Arc<Mutex<Taken>>);

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
#[derive(Debug)]
pub(super) struct Held<S> {
    stream: S,
    _slot: Slot,
}

impl Slots {
    fn take(&self, peer: Peer) -> io::Result<Slot> {
        let address = peer.group();
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = taken.by_address.get(&address).copied().unwrap_or_default();
        if taken.total >= CONNECTIONS_MAX || own >= ADDRESS_CONNECTIONS_MAX {
            tracing::warn!(%peer, total = taken.total, own, "no room for a connection");
            return Err(io::Error::other("no room"));
        }
        taken.total += 1;
        taken.by_address.insert(address, own + 1);
        Ok(Slot { slots: self.clone(), address })
    }

    fn admit<I, S>(&self, stream: I, service: S, peer: Peer) -> io::Result<(Held<I>, AddExtension<S, Peer>)> {
        let slot = self.take(peer)?;
        Ok((Held { stream, _slot: slot }, Extension(peer).layer(service)))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut taken = self.slots.0.lock().unwrap_or_else(PoisonError::into_inner);
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

impl<S: AsyncWrite + Unpin> AsyncWrite for Held<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bytes)
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
        let slots = Slots::default();
        let peer =
            |last| Peer::Tcp { remote: ([10, 0, 0, last], 1).into(), local: ([10, 0, 0, 1], 7717).into() };
        let mut held: Vec<Slot> =
            (0..ADDRESS_CONNECTIONS_MAX).map(|_| slots.take(peer(2)).unwrap()).collect();
        assert!(slots.take(peer(2)).is_err(), "one more from the same address");
        held.extend((ADDRESS_CONNECTIONS_MAX..CONNECTIONS_MAX).map(|_| slots.take(peer(3)).unwrap()));
        assert!(slots.take(peer(4)).is_err(), "one more at all");
        drop(held);
        assert!(slots.take(peer(4)).is_ok());
        assert_eq!(slots.0.lock().unwrap().by_address.len(), 0);
    }
}
