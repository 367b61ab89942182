//! The connections of a listener: each is a task, until it ends or the server stops.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
#[cfg(unix)]
use tidings_sessions::process::Process;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::Service;

use super::slots::Slots;
#[cfg(unix)]
use crate::auth::Peer;
use crate::limits::{ACCEPT_AGAIN, DRAIN_REQUESTS_MAX, HEAD_BYTES_MAX, TLS_HANDSHAKE_MAX};

/// What each connection of a listener needs.
#[derive(Clone)]
pub(super) struct Serving {
    pub(super) app: Router,
    pub(super) slots: Slots,
    pub(super) stop: CancellationToken,
}

/// A port or a socket.
pub(super) trait Listener {
    type Stream;

    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Self::Stream>>;
}

impl Listener for TcpListener {
    type Stream = TcpStream;

    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<TcpStream>> {
        self.poll_accept(cx).map_ok(|(stream, _)| stream)
    }
}

#[cfg(unix)]
impl Listener for UnixListener {
    type Stream = UnixStream;

    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<UnixStream>> {
        self.poll_accept(cx).map_ok(|(stream, _)| stream)
    }
}

/// Accepts connections and serves each in a task. Once `stop` is cancelled no more are accepted, and those
/// that have not answered their request in time are closed.
pub(super) async fn serve_all<On: Listener, Served: Future<Output = io::Result<()>> + Send + 'static>(
    listener: On,
    serve: impl Fn(On::Stream) -> Served,
    stop: &CancellationToken,
) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = poll_fn(|cx| listener.poll_accept(cx)) => accepted,
            Some(_) = connections.join_next() => continue,
            () = stop.cancelled() => break,
        };
        match accepted {
            Ok(stream) => drop(connections.spawn(serve(stream))),
            // The process has too many open files, or the client has gone.
            Err(error) => {
                tracing::debug!(%error, "a connection was not accepted");
                tokio::time::sleep(ACCEPT_AGAIN).await;
            }
        }
    }
    drop(listener);
    let all = async { while connections.join_next().await.is_some() {} };
    drop(tokio::time::timeout(DRAIN_REQUESTS_MAX, all).await);
}

impl Serving {
    pub(super) async fn tcp(self, stream: TcpStream) -> io::Result<()> {
        let (stream, service) = self.slots.admit_tcp(stream, self.app)?;
        http(stream, service, self.slots.bounds.head_time, self.stop).await
    }

    pub(super) async fn tls(self, stream: TcpStream, config: Arc<ServerConfig>) -> io::Result<()> {
        let (stream, service) = self.slots.admit_tcp(stream, self.app)?;
        let handshake = TlsAcceptor::from(config).accept(stream);
        let stream = tokio::time::timeout(TLS_HANDSHAKE_MAX, handshake).await??;
        http(stream, service, self.slots.bounds.head_time, self.stop).await
    }

    #[cfg(unix)]
    pub(super) async fn unix(self, stream: UnixStream) -> io::Result<()> {
        let (peer, process) = peer_of(&stream)?;
        let (stream, service) = self.slots.admit(stream, self.app, peer, process);
        http(stream, service, self.slots.bounds.head_time, self.stop).await
    }
}

/// The program at the other end of a socket. Programs of other users are refused.
#[cfg(unix)]
fn peer_of(stream: &UnixStream) -> io::Result<(Peer, Option<Process>)> {
    let peer = stream.peer_cred()?;
    let (theirs, own) = (peer.uid(), rustix::process::geteuid().as_raw());
    if theirs != own {
        tracing::warn!(uid = theirs, "refused a connection of another user to the socket");
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    // The start time is read now: the id may belong to another process when a request comes.
    let process = peer.pid().and_then(|pid| u32::try_from(pid).ok()).and_then(Process::with_id);
    Ok((Peer::Unix, process))
}

/// HTTP/1.1, with limits on the time and the length of the head of a request.
async fn http<Stream, App>(
    stream: Stream,
    service: App,
    head_time: Duration,
    stop: CancellationToken,
) -> io::Result<()>
where
    Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    App: Service<Request<Incoming>, Response = Response, Error = std::convert::Infallible>
        + Clone
        + Send
        + 'static,
    App::Future: Send,
{
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_time)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service))
        .with_upgrades();
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    ended.map_err(io::Error::other)
}
