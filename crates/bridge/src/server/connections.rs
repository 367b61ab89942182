//! Limits of connections: how many there may be, and for how long they may be idle or without a credential.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use std::{fmt, io};

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::{AddExtension, Next};
use axum::response::{IntoResponse as _, Response};
use tidings::Ids;
use tidings_api::Code;
use tidings_sessions::process::Process;
use tidings_sessions::{Caller, Error};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::WaitForCancellationFutureOwned;
use tower::Layer as _;

use super::Bounds;
use super::slots::{Slot, Slots};
use crate::api::stream_lifetime::retry_ms;
use crate::auth::Peer;
use crate::http::Connection;
use crate::limits::SEND_BUFFER_BYTES;

/// Marks the connection of each authenticated request.
pub(super) async fn mark_authenticated(request: Request, next: Next) -> Response {
    let extensions = request.extensions();
    if let (Some(_), Some(connection)) = (extensions.get::<Caller>(), extensions.get::<Connection>()) {
        connection.authenticate();
    }
    next.run(request).await
}

/// Answers each request on a connection that was refused with the time after which to come again. It is
/// answered as HTTP, and not closed at once, so that clients can tell a busy server from a broken one.
pub(super) async fn answer_refused(State(ids): State<Ids>, request: Request, next: Next) -> Response {
    let is_refused = request.extensions().get::<Connection>().is_some_and(Connection::is_refused);
    if !is_refused {
        return next.run(request).await;
    }
    let message = "The server has too many connections";
    let error = Error::new(Code::Unavailable, message, "connect again after the time in `Retry-After`");
    let mut response = error.retry_after_ms(retry_ms(&ids)).into_response();
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// An accepted connection that holds a slot.
///
/// It ends when its client reads nothing for too long. The endpoints cannot detect that alone: the HTTP layer
/// polls a stream only when the last part of it is written.
///
/// It also ends when it has not authenticated in time, or when too many others were refused after it.
pub(super) struct LimitedStream<S> {
    stream: S,
    bounds: Bounds,
    /// Runs while the client reads nothing.
    write_deadline: Option<Pin<Box<Sleep>>>,
    /// Runs until the connection has authenticated.
    unauthenticated: Option<Unauthenticated>,
    has_read: bool,
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
    closed: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl<S> LimitedStream<S> {
    fn new(stream: S, slot: Slot) -> Self {
        let bounds = slot.bounds();
        let unauthenticated = Unauthenticated {
            deadline: Box::pin(tokio::time::sleep(bounds.head_time.min(bounds.auth_time))),
            closed: Box::pin(slot.closed().cancelled_owned()),
        };
        LimitedStream {
            stream,
            bounds,
            write_deadline: None,
            unauthenticated: Some(unauthenticated),
            has_read: false,
            slot,
        }
    }

    /// Extends the deadline for another request, since the client got a response.
    fn extend(&mut self, by: Duration) {
        if let Some(unauthenticated) = &mut self.unauthenticated {
            unauthenticated.deadline.as_mut().reset(Instant::now() + by);
        }
    }

    /// Completes once the connection has to end without having authenticated.
    fn poll_unauthenticated(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        if self.slot.is_authenticated() {
            self.unauthenticated = None;
        }
        let Some(Unauthenticated { deadline, closed }) = &mut self.unauthenticated else {
            return Poll::Pending;
        };
        if closed.as_mut().poll(cx).is_ready() {
            return Poll::Ready(io::Error::other("too many connections were refused after this one"));
        }
        ready!(deadline.as_mut().poll(cx));
        Poll::Ready(io::Error::new(io::ErrorKind::TimedOut, "no credential came in time"))
    }
}

impl Slots {
    pub(super) fn admit<I, S>(
        &self,
        stream: I,
        service: S,
        peer: Peer,
        process: Option<Process>,
    ) -> (LimitedStream<I>, ConnectedService<S>) {
        let stream = LimitedStream::new(stream, self.acquire(peer));
        let connection = stream.slot.connection().with_process(process);
        let service = Extension(connection).layer(Extension(peer).layer(service));
        (stream, service)
    }
}

/// A service whose requests have their connection in their extensions.
pub(super) type ConnectedService<S> = AddExtension<AddExtension<S, Peer>, Connection>;

impl Slots {
    pub(super) fn admit_tcp<S>(
        &self,
        stream: TcpStream,
        service: S,
    ) -> io::Result<(LimitedStream<TcpStream>, ConnectedService<S>)> {
        // An event is one small write, and waiting for more would only delay it.
        stream.set_nodelay(true)?;
        // The kernel would otherwise keep megabytes for each client that does not read.
        rustix::net::sockopt::set_socket_send_buffer_size(&stream, SEND_BUFFER_BYTES)?;
        let peer = Peer::Tcp { remote: stream.peer_addr()?, local: stream.local_addr()? };
        Ok(self.admit(stream, service, peer, None))
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

    /// F98: a stream whose client has stopped reading does not stay open for ever.
    #[tokio::test]
    async fn f98_a_connection_ends_when_its_client_takes_nothing() {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let slots = Slots::new(Bounds { write_wait: Duration::from_millis(20), ..Bounds::default() });
        let (ours, mut theirs) = tokio::io::duplex(1 << 10);
        let (mut stream, _) = slots.admit(ours, (), Peer::Unix, None);
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
