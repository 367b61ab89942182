//! A proxy that cuts connections.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tidings_remote::{RemoteOptions, RemoteServer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::test_server::TestServer;

/// A proxy before a server.
pub(crate) struct Proxy {
    address: SocketAddr,
    route: Arc<watch::Sender<Upstream>>,
}

/// The server behind a proxy, and the number of bytes that it may still send.
#[derive(Clone, Copy)]
struct Upstream {
    server: SocketAddr,
    bytes: usize,
}

/// Bytes before the next cut, if no cut was ordered.
const ENDLESS: usize = usize::MAX;

impl Proxy {
    pub(crate) async fn before(server: &TestServer) -> Proxy {
        Proxy::to(server.address).await
    }

    /// A proxy before whatever listens at an address.
    pub(crate) async fn to(server: SocketAddr) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let upstream = Upstream { server, bytes: ENDLESS };
        let route = Arc::new(watch::Sender::new(upstream));
        let shared = Arc::clone(&route);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, Arc::clone(&shared)));
            }
        });
        Proxy { address, route }
    }

    /// A client that does not wait long between its attempts.
    pub(crate) fn client(&self) -> RemoteServer {
        let mut options = RemoteOptions::default();
        options.pause_first = Duration::from_millis(1);
        options.pause_max = Duration::from_millis(50);
        RemoteServer::at(&format!("http://{}", self.address), "admin").unwrap().with(options)
    }

    /// Cuts the connection after so many bytes of the server. Later connections are whole.
    pub(crate) fn cut_after(&self, bytes: usize) {
        self.route.send_modify(|upstream| upstream.bytes = bytes);
    }

    /// Passes on to another server, and cuts all connections to the one before.
    pub(crate) fn change_to(&self, server: &TestServer) {
        self.route.send_modify(|upstream| upstream.server = server.address);
    }
}

async fn pass(client: TcpStream, route: Arc<watch::Sender<Upstream>>) {
    let mut changes = route.subscribe();
    let first = changes.borrow_and_update().server;
    let Ok(server) = TcpStream::connect(first).await else { return };
    // A part that is held back until the one before is acknowledged costs forty milliseconds each time.
    client.set_nodelay(true).unwrap();
    server.set_nodelay(true).unwrap();
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let up = tokio::spawn(async move {
        drop(tokio::io::copy(&mut from_client, &mut to_server).await);
    });
    let mut buffer = vec![0; 4096];
    loop {
        let read = tokio::select! {
            read = from_server.read(&mut buffer) => read.unwrap_or(0),
            () = async { drop(changes.wait_for(|upstream| upstream.server != first).await) } => break,
        };
        let mut sent = 0;
        route.send_modify(|upstream| {
            sent = read.min(upstream.bytes);
            if upstream.bytes != ENDLESS {
                upstream.bytes =
                    if sent < read || sent == upstream.bytes { ENDLESS } else { upstream.bytes - sent };
            }
        });
        let is_cut = sent < read;
        if read == 0 || to_client.write_all(buffer.get(..sent).unwrap()).await.is_err() || is_cut {
            break;
        }
    }
    up.abort();
}
