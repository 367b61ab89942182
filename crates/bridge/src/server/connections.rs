//! Limits of connections: how many there may be, and for how long they may be idle or without a credential.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::future::{Ready, ready};
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Extension;
use axum::extract::Request;
use axum::middleware::{AddExtension, Next};
use axum::response::Response;
use axum_server::accept::Accept;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tower::Layer as _;

use super::Bounds;
use crate::auth::Peer;
use crate::caller::Caller;
use crate::http::Connection;
use crate::limits::SEND_BUFFER_BYTES;
use crate::process::Process;

/// Slots for connections. Handles are cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Slots {
    in_use: Arc<Mutex<SlotsInUse>>,
    pub(super) bounds: Bounds,
}

#[derive(Debug, Default)]
struct SlotsInUse {
    total: usize,
    by_address: HashMap<IpAddr, usize>,
    /// Connections that have not authenticated, by age.
    unauthenticated: BTreeMap<u64, UnauthenticatedConnection>,
    next: u64,
}

/// A connection that has not authenticated.
#[derive(Debug)]
struct UnauthenticatedConnection {
    address: IpAddr,
    /// Ends the connection.
    evict: CancellationToken,
}

impl SlotsInUse {
    /// Makes room for one more connection that has not authenticated by evicting the oldest of them. So
    /// connections that never authenticate displace each other, and clients with a credential get in.
    fn evict_unauthenticated(&mut self, address: IpAddr, bounds: &Bounds) {
        let own = self.unauthenticated.iter().filter(|(_, connection)| connection.address == address);
        let evicted = if own.clone().count() >= bounds.address_unauthenticated {
            own.map(|(id, _)| *id).next()
        } else if self.unauthenticated.len() >= bounds.unauthenticated {
            self.unauthenticated.keys().next().copied()
        } else {
            None
        };
        if let Some(connection) = evicted.and_then(|id| self.unauthenticated.remove(&id)) {
            connection.evict.cancel();
        }
    }
}

/// A slot for one connection, returned when it ends.
#[derive(Debug)]
struct Slot {
    slots: Slots,
    address: IpAddr,
    /// Its number among the connections that have not authenticated.
    id: u64,
    evicted: CancellationToken,
}

/// The connection as its requests see it. The first credential on it ends its time as an unauthenticated one.
fn connection(in_use: Arc<Mutex<SlotsInUse>>, id: u64, authenticated: Arc<AtomicBool>) -> Connection {
    Connection::new(move || {
        if !authenticated.swap(true, Ordering::Relaxed) {
            in_use.lock().unauthenticated.remove(&id);
        }
    })
}

/// Marks the connection of each authenticated request.
pub(super) async fn mark_authenticated(request: Request, next: Next) -> Response {
    let extensions = request.extensions();
    if let (Some(_), Some(connection)) = (extensions.get::<Caller>(), extensions.get::<Connection>()) {
        connection.authenticate();
    }
    next.run(request).await
}

/// An accepted connection that holds a slot.
///
/// It ends when its client reads nothing for too long. The endpoints cannot detect that alone: the HTTP layer
/// polls a stream only when the last part of it is written.
///
/// It also ends when it has not authenticated in time, or is evicted in favour of another one that has not.
pub(super) struct LimitedStream<S> {
    stream: S,
    bounds: Bounds,
    /// Runs while the client reads nothing.
    write_deadline: Option<Pin<Box<Sleep>>>,
    /// Runs until the connection has authenticated.
    unauthenticated: Option<Unauthenticated>,
    has_read: bool,
    authenticated: Arc<AtomicBool>,
    slot: Slot,
}

impl<S> fmt::Debug for LimitedStream<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitedStream").field("slot", &self.slot).finish_non_exhaustive()
    }
}

/// The deadline of a connection that has not authenticated.
struct Unauthenticated {
    deadline: Pin<Box<Sleep>>,
    evicted: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl<S> LimitedStream<S> {
    fn new(stream: S, slot: Slot) -> Self {
        let bounds = slot.slots.bounds;
        let unauthenticated = Unauthenticated {
            deadline: Box::pin(tokio::time::sleep(bounds.head_time.min(bounds.auth_time))),
            evicted: Box::pin(slot.evicted.clone().cancelled_owned()),
        };
        LimitedStream {
            stream,
            bounds,
            write_deadline: None,
            unauthenticated: Some(unauthenticated),
            has_read: false,
            authenticated: Arc::default(),
            slot,
        }
    }

    fn connection(&self) -> Connection {
        let in_use = Arc::clone(&self.slot.slots.in_use);
        connection(in_use, self.slot.id, Arc::clone(&self.authenticated))
    }

    /// Extends the deadline for another request, since the client got a response.
    fn extend(&mut self, by: Duration) {
        if let Some(unauthenticated) = &mut self.unauthenticated {
            unauthenticated.deadline.as_mut().reset(Instant::now() + by);
        }
    }

    /// Completes once the connection has to end without having authenticated.
    fn poll_unauthenticated(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        if self.authenticated.load(Ordering::Relaxed) {
            self.unauthenticated = None;
        }
        let Some(Unauthenticated { deadline, evicted }) = &mut self.unauthenticated else {
            return Poll::Pending;
        };
        if evicted.as_mut().poll(cx).is_ready() {
            return Poll::Ready(io::Error::other("evicted by newer connections without a credential"));
        }
        ready!(deadline.as_mut().poll(cx));
        Poll::Ready(io::Error::new(io::ErrorKind::TimedOut, "no credential came in time"))
    }
}

impl Slots {
    pub(super) fn new(bounds: Bounds) -> Self {
        Slots { in_use: Arc::default(), bounds }
    }

    fn acquire(&self, peer: Peer) -> io::Result<Slot> {
        let address = peer.group();
        let mut in_use = self.in_use.lock();
        let own = in_use.by_address.get(&address).copied().unwrap_or_default();
        if in_use.total >= self.bounds.connections || own >= self.bounds.address_connections {
            tracing::warn!(%peer, total = in_use.total, own, "too many connections");
            return Err(io::Error::other("too many connections"));
        }
        in_use.evict_unauthenticated(address, &self.bounds);
        let (id, evicted) = (in_use.next, CancellationToken::new());
        in_use.next += 1;
        in_use.unauthenticated.insert(id, UnauthenticatedConnection { address, evict: evicted.clone() });
        in_use.total += 1;
        in_use.by_address.insert(address, own + 1);
        Ok(Slot { slots: self.clone(), address, id, evicted })
    }

    fn admit<I, S>(
        &self,
        stream: I,
        service: S,
        peer: Peer,
        process: Option<Process>,
    ) -> io::Result<(LimitedStream<I>, ConnectedService<S>)> {
        let stream = LimitedStream::new(stream, self.acquire(peer)?);
        let connection = stream.connection().with_process(process);
        let service = Extension(connection).layer(Extension(peer).layer(service));
        Ok((stream, service))
    }
}

/// A service whose requests have their connection in their extensions.
type ConnectedService<S> = AddExtension<AddExtension<S, Peer>, Connection>;

impl Drop for Slot {
    fn drop(&mut self) {
        let mut in_use = self.slots.in_use.lock();
        in_use.total -= 1;
        in_use.unauthenticated.remove(&self.id);
        if let Some(own) = in_use.by_address.get_mut(&self.address) {
            *own -= 1;
            if *own == 0 {
                in_use.by_address.remove(&self.address);
            }
        }
    }
}

impl<S> Accept<TcpStream, S> for Slots {
    type Stream = LimitedStream<TcpStream>;
    type Service = ConnectedService<S>;
    type Future = Ready<io::Result<(Self::Stream, Self::Service)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let peer = || {
            // An event is one small write, and waiting for more would only delay it.
            stream.set_nodelay(true)?;
            // The kernel would otherwise keep megabytes for each client that does not read.
            rustix::net::sockopt::set_socket_send_buffer_size(&stream, SEND_BUFFER_BYTES)?;
            Ok::<_, io::Error>(Peer::Tcp { remote: stream.peer_addr()?, local: stream.local_addr()? })
        };
        ready(peer().and_then(|peer| self.admit(stream, service, peer, None)))
    }
}

#[cfg(unix)]
impl<S> Accept<tokio::net::UnixStream, S> for Slots {
    type Stream = LimitedStream<tokio::net::UnixStream>;
    type Service = ConnectedService<S>;
    type Future = Ready<io::Result<(Self::Stream, Self::Service)>>;

    fn accept(&self, stream: tokio::net::UnixStream, service: S) -> Self::Future {
        let ours = stream.peer_cred().and_then(|peer| {
            let (theirs, own) = (peer.uid(), rustix::process::geteuid().as_raw());
            if theirs == own {
                // The start time is read now: the id may belong to another process when a request comes.
                return Ok(peer.pid().and_then(|pid| u32::try_from(pid).ok()).and_then(Process::with_id));
            }
            tracing::warn!(uid = theirs, "refused a connection of another user to the socket");
            Err(io::ErrorKind::PermissionDenied.into())
        });
        ready(ours.and_then(|process| self.admit(stream, service, Peer::Unix, process)))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for LimitedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        if let done @ Poll::Ready(_) = Pin::new(&mut self.stream).poll_read(cx, buf) {
            if !self.has_read && buf.filled().len() > before {
                self.has_read = true;
                let auth_time = self.bounds.auth_time;
                self.extend(auth_time);
            }
            return done;
        }
        self.poll_unauthenticated(cx).map(Err)
    }
}

impl<S: Unpin> LimitedStream<S> {
    /// Polls a write, and fails when the client has read nothing for too long.
    fn poll_write_in_time<T>(
        &mut self,
        cx: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if let done @ Poll::Ready(_) = write(Pin::new(&mut self.stream), cx) {
            self.write_deadline = None;
            let auth_time = self.bounds.auth_time;
            self.extend(auth_time);
            return done;
        }
        let write_wait = self.bounds.write_wait;
        let write_deadline =
            self.write_deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(write_wait)));
        ready!(write_deadline.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client reads nothing")))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for LimitedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_in_time(cx, |stream, cx| stream.poll_write(cx, bytes))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_write_in_time(cx, AsyncWrite::poll_flush)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_write_in_time(cx, AsyncWrite::poll_shutdown)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_in_time(cx, |stream, cx| stream.poll_write_vectored(cx, bytes))
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
        let mut acquired: Vec<Slot> = (0..3).map(|_| slots.acquire(peer(2)).unwrap()).collect();
        assert!(slots.acquire(peer(2)).is_err(), "one more from the same address");
        acquired.extend((3..5).map(|_| slots.acquire(peer(3)).unwrap()));
        assert!(slots.acquire(peer(4)).is_err(), "one more at all");
        drop(acquired);
        assert!(slots.acquire(peer(4)).is_ok());
        assert_eq!(slots.in_use.lock().by_address.len(), 0);
    }

    #[test]
    fn k7_connections_without_a_credential_make_room_for_others_and_not_those_with_one() {
        let bounds = Bounds { address_unauthenticated: 3, address_connections: 10, ..Bounds::default() };
        let slots = Slots::new(bounds);
        let peer =
            |last| Peer::Tcp { remote: ([10, 0, 0, last], 1).into(), local: ([10, 0, 0, 1], 7717).into() };
        let slot = |last| slots.acquire(peer(last)).unwrap();
        let known = slot(2);
        let connection = connection(Arc::clone(&slots.in_use), known.id, Arc::default());
        connection.authenticate();
        let other = slot(3);
        let unauthenticated: Vec<Slot> = (0..5).map(|_| slot(2)).collect();
        let evicted: Vec<bool> = unauthenticated.iter().map(|slot| slot.evicted.is_cancelled()).collect();
        assert_eq!(evicted, [true, true, false, false, false]);
        assert!(!known.evicted.is_cancelled() && !other.evicted.is_cancelled());
    }

    /// F98: a stream whose client has stopped reading does not stay open for ever.
    #[tokio::test]
    async fn f98_a_connection_ends_when_its_client_takes_nothing() {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let slots = Slots::new(Bounds { write_wait: Duration::from_millis(20), ..Bounds::default() });
        let (ours, mut theirs) = tokio::io::duplex(1 << 10);
        let (mut stream, _) = slots.admit(ours, (), Peer::Unix, None).unwrap();
        let reads = async {
            let mut read = vec![0; 8 << 10];
            theirs.read_exact(&mut read).await.unwrap();
        };
        let (written, ()) = tokio::join!(stream.write_all(&[0; 8 << 10]), reads);
        written.unwrap();
        let stuck = stream.write_all(&[0; 8 << 10]).await.unwrap_err();
        assert_eq!(stuck.kind(), io::ErrorKind::TimedOut);
        drop(theirs);
    }
}
