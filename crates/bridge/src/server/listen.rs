//! Listening on a port or a socket.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use rustls::ServerConfig;
use tidings_api::Code;
use tidings_sessions::Error;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::TlsFiles;
use super::serving::{Serving, serve_all};
use super::slots::Slots;
use crate::limits::CONNECTIONS_WAITING;

/// Addresses and TLS of the server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listen {
    /// The address and port.
    pub address: Option<SocketAddr>,
    /// The certificate, for TLS.
    pub tls: Option<TlsFiles>,
    /// Rule for an address without TLS.
    pub exposure: Exposure,
    /// A Unix socket, for processes of the same user.
    pub unix: Option<PathBuf>,
}

/// Rule for connections without TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Exposure {
    /// Only loopback addresses are allowed without TLS.
    #[default]
    Guarded,
    /// Any address is allowed; the user accepted that others can read the traffic.
    InTheClear,
}

/// Listening sockets, before the server runs.
#[derive(Debug)]
pub struct Bound {
    tcp: Option<std::net::TcpListener>,
    tls: Option<(TlsFiles, watch::Sender<Arc<ServerConfig>>)>,
    #[cfg(unix)]
    unix: Option<Socket>,
}

#[cfg(unix)]
#[derive(Debug)]
struct Socket {
    listener: std::os::unix::net::UnixListener,
    path: PathBuf,
}

impl Listen {
    /// Binds the port and the socket. Requests are answered once the server runs.
    pub fn bind(self) -> Result<Bound, Error> {
        let tls = match (self.tls, self.address) {
            (Some(files), Some(_)) => {
                let config = watch::Sender::new(files.load()?);
                Some((files, config))
            }
            (Some(_), None) => {
                return Err(Error::new(Code::Invalid, "A socket needs no TLS", "leave --tls-cert out"));
            }
            (None, _) => None,
        };
        let exposed = self.address.filter(|address| !address.ip().to_canonical().is_loopback());
        if let (Some(address), None, Exposure::Guarded) = (exposed, &tls, self.exposure) {
            let message =
                format!("Others could read the traffic on `{address}`: it is not a loopback address");
            let hint = "give it a certificate with --tls-cert and --tls-key, listen on 127.0.0.1 behind a proxy, or \
                        pass --insecure-listen";
            return Err(Error::new(Code::Invalid, message, hint));
        }
        let tcp = self.address.map(bind_tcp).transpose()?;
        #[cfg(unix)]
        let unix = self.unix.as_deref().map(bind_unix).transpose()?;
        if tcp.is_none() && self.unix.is_none() {
            return Err(Error::new(
                Code::Invalid,
                "The server has no address to listen on",
                "name an address or a socket",
            ));
        }
        Ok(Bound {
            tcp,
            tls,
            #[cfg(unix)]
            unix,
        })
    }
}

impl Bound {
    /// The bound address, with the port that was chosen if it was 0.
    pub fn address(&self) -> Option<SocketAddr> {
        self.tcp.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// True if processes of the same user have a socket of their own.
    pub(super) fn has_socket(&self) -> bool {
        #[cfg(unix)]
        let has_socket = self.unix.is_some();
        #[cfg(not(unix))]
        let has_socket = false;
        has_socket
    }
}

/// Serves until `stop` is cancelled and the open requests are answered.
pub(super) async fn serve(
    bound: Bound,
    app: Router,
    slots: Slots,
    stop: &CancellationToken,
) -> Result<(), Error> {
    let serving = Serving { app: app.with_state(()), slots, stop: stop.clone() };
    let on_port = async {
        let Some(listener) = bound.tcp else { return Ok(()) };
        let listener = tokio::net::TcpListener::from_std(listener)?;
        match bound.tls {
            None => serve_all(listener, |stream| serving.clone().tcp(stream), stop).await,
            Some((files, certificate)) => {
                let current = certificate.subscribe();
                let serve = |stream| serving.clone().tls(stream, Arc::clone(&current.borrow()));
                tokio::select! {
                    () = serve_all(listener, serve, stop) => {}
                    () = files.follow(&certificate, serving.slots.bounds.certificate_every) => {}
                }
            }
        }
        Ok(())
    };
    #[cfg(unix)]
    let on_socket = async {
        let Some(Socket { listener, path }) = bound.unix else { return Ok(()) };
        let listener = tokio::net::UnixListener::from_std(listener)?;
        serve_all(listener, |stream| serving.clone().unix(stream), stop).await;
        drop(fs_err::remove_file(path));
        Ok(())
    };
    #[cfg(not(unix))]
    let on_socket = async { Ok(()) };
    let ended: std::io::Result<((), ())> = tokio::try_join!(on_port, on_socket);
    ended.map(|_| ()).map_err(|error| Error::new(Code::Internal, error.to_string(), ""))
}

fn bind_tcp(address: SocketAddr) -> Result<std::net::TcpListener, Error> {
    let bound = std::net::TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        // The standard library sets a short queue. A connection that does not fit into it is not refused: its
        // client waits and tries again after a second.
        #[cfg(unix)]
        rustix::net::listen(&listener, CONNECTIONS_WAITING)?;
        Ok(listener)
    });
    bound.map_err(|error| {
        let message = format!("Failed to listen on `{address}`: {error}");
        Error::new(
            Code::Unavailable,
            message,
            "another server may be running; name another port with --listen",
        )
    })
}

/// Binds a socket that only its owner can connect to, in a folder that only the owner can write.
#[cfg(unix)]
fn bind_unix(path: &Path) -> Result<Socket, Error> {
    use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
    use std::os::unix::net::{UnixListener, UnixStream};
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    tidings_sessions::private::private_folder(folder)?;
    let failed = |reason: &dyn std::fmt::Display| {
        let message = format!("Failed to listen on `{}`: {reason}", path.display());
        Error::new(
            Code::Unavailable,
            message,
            "another server may be running with this data; stop it, or name another folder with --data",
        )
    };
    if let Ok(found) = std::fs::symlink_metadata(path) {
        // Only a stale socket is removed: one that refuses connections.
        if !found.file_type().is_socket() || UnixStream::connect(path).is_ok() {
            return Err(failed(&"it is in use"));
        }
        fs_err::remove_file(path).map_err(|error| failed(&error))?;
    }
    let listener = UnixListener::bind(path).map_err(|error| failed(&error))?;
    let private = std::fs::Permissions::from_mode(0o600);
    fs_err::set_permissions(path, private).map_err(|error| failed(&error))?;
    listener.set_nonblocking(true).map_err(|error| failed(&error))?;
    Ok(Socket { listener, path: path.to_owned() })
}
