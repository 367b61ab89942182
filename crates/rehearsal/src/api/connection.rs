//! Connections that a script can close at any point.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::server::ShutdownStage;

/// Listener for connections.
#[derive(Debug)]
pub(super) struct ScriptListener {
    pub(super) listener: TcpListener,
    pub(super) phase: watch::Receiver<ShutdownStage>,
}

/// Handle that closes one connection without writing another byte.
#[derive(Debug, Clone, Default)]
pub(super) struct ConnectionCloser(Arc<AtomicBool>);

/// One connection.
pub(super) struct Connection {
    stream: TcpStream,
    closer: ConnectionCloser,
    over: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl ConnectionCloser {
    /// Closes the connection for writing; further writes fail as aborted.
    pub(super) fn close(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn check_open(&self) -> io::Result<()> {
        if self.0.load(Ordering::Acquire) { Err(io::ErrorKind::ConnectionAborted.into()) } else { Ok(()) }
    }
}

impl Listener for ScriptListener {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let (stream, addr) = Listener::accept(&mut self.listener).await;
        // Deltas must arrive one by one, as paced by the script; if this call fails, they only arrive later.
        let _unchanged = stream.set_nodelay(true);
        let mut phase = self.phase.clone();
        let over = async move {
            // An error means that the server itself is gone.
            let _gone = phase.wait_for(|phase| *phase == ShutdownStage::Over).await.map(drop);
        };
        (Connection { stream, closer: ConnectionCloser::default(), over: Some(Box::pin(over)) }, addr)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Connected<IncomingStream<'_, ScriptListener>> for ConnectionCloser {
    fn connect_info(stream: IncomingStream<'_, ScriptListener>) -> Self {
        stream.io().closer.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // The HTTP layer reads even while it responds, to detect a disconnect of the client; so the end of
        // the server is noticed here during any pause.
        if self.over.as_mut().is_some_and(|over| over.as_mut().poll(cx).is_ready()) {
            self.over = None;
            self.closer.close();
        }
        self.closer.check_open()?;
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.closer.check_open()?;
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
