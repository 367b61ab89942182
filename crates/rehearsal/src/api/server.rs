//! The server of the stand-in for the Messages API: address, start and stop.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::answer::header;
use super::connection::{ConnectionCloser, ScriptListener};
use super::limits::STOP_WAIT_MS;
use super::log::Entry;
use super::report::Report;
use super::routes::{Shared, router};
use super::state::PlayState;
use crate::script::Script;

/// A Messages API that answers from a script.
///
/// Dropping it stops it at once; [`Server::stop`] lets responses finish and returns the report.
pub struct Server {
    addr: SocketAddr,
    shared: Shared,
    phase: watch::Sender<ShutdownStage>,
    serving: JoinHandle<io::Result<()>>,
}

/// Address, access and logging of a [`Server`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// Address to listen on; port 0 selects a free port.
    pub listen: SocketAddr,
    /// Network access.
    pub reach: Reach,
    /// Logging of request bodies.
    pub bodies: Bodies,
    /// Seed of the generated ids; sessions that are resumed in a second run need ids of another seed.
    pub seed: u64,
}

/// Network access to a [`Server`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// This machine only: other addresses are refused.
    Loopback,
    /// Any machine that can reach the address; prompts arrive unencrypted.
    Anywhere,
}

/// Logging of request bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bodies {
    /// Only their shape is logged.
    LeftOut,
    /// They are logged completely, prompts and files included.
    Kept,
}

/// Reason why a [`Server`] did not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// The address is reachable from other machines, which the settings do not allow.
    NotLoopback(SocketAddr),
    /// A turn (from 0) has an invalid HTTP header.
    Header {
        /// Index of the turn.
        turn: usize,
        /// Name of the header.
        name: String,
    },
    /// Binding the address failed.
    Listen(SocketAddr, io::Error),
}

/// Phase of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShutdownStage {
    Open,
    /// New requests are refused; responses may finish.
    Closing,
    /// All connections are closed.
    Over,
}

impl Settings {
    /// Settings for an address of this machine, without bodies in the log.
    pub fn new(listen: SocketAddr) -> Self {
        Settings { listen, reach: Reach::Loopback, bodies: Bodies::LeftOut, seed: 0 }
    }
}

impl Server {
    /// Starts the server; `log` is called for every request.
    pub async fn start(
        script: &Script,
        settings: Settings,
        log: impl FnMut(&Entry) + Send + 'static,
    ) -> Result<Server, StartError> {
        let listen = settings.listen;
        if settings.reach == Reach::Loopback && !listen.ip().is_loopback() {
            return Err(StartError::NotLoopback(listen));
        }
        check_headers(script)?;
        let failed = |error| StartError::Listen(listen, error);
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let addr = listener.local_addr().map_err(failed)?;

        let state = PlayState::new(script, settings.seed, Box::new(log));
        let shared = Shared { state: Arc::new(Mutex::new(state)), bodies: settings.bodies };
        let (phase, mut watched) = watch::channel(ShutdownStage::Open);
        let listener = ScriptListener { listener, phase: watched.clone() };
        let service = router(shared.clone()).into_make_service_with_connect_info::<ConnectionCloser>();
        let closing = async move {
            // An error means that the server was dropped, which closes it too.
            let _gone = watched.wait_for(|phase| *phase != ShutdownStage::Open).await.map(drop);
        };
        let serving = axum::serve(listener, service).with_graceful_shutdown(closing);
        Ok(Server { addr, shared, phase, serving: tokio::spawn(serving.into_future()) })
    }

    /// Address that it listens on.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Base URL for a client (`ANTHROPIC_BASE_URL`).
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Report so far.
    pub fn report(&self) -> Report {
        self.shared.state().report()
    }

    /// Refuses new requests, gives responses half a second to finish, and returns the report.
    pub async fn stop(mut self) -> Report {
        self.phase.send_replace(ShutdownStage::Closing);
        let wait = Duration::from_millis(STOP_WAIT_MS);
        if timeout(wait, &mut self.serving).await.is_err() {
            self.phase.send_replace(ShutdownStage::Over);
            // Connections end by themselves now; a connection that hangs does not delay the stop.
            let _late = timeout(wait, &mut self.serving).await.map(drop);
        }
        self.report()
    }
}

fn check_headers(script: &Script) -> Result<(), StartError> {
    let headers = script
        .turns
        .iter()
        .enumerate()
        .flat_map(|(index, turn)| turn.headers.iter().map(move |pair| (index, pair)));
    for (turn, (name, value)) in headers {
        if header(name, value).is_none() {
            return Err(StartError::Header { turn, name: name.clone() });
        }
    }
    Ok(())
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("addr", &self.addr).finish_non_exhaustive()
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::NotLoopback(addr) => {
                write!(f, "Refused to listen on an address that other machines can reach: `{addr}`")
            }
            StartError::Header { turn, name } => {
                write!(f, "Turn {} has a header that HTTP does not allow: `{name}`", turn + 1)
            }
            StartError::Listen(addr, _) => write!(f, "Failed to listen on `{addr}`"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StartError::Listen(_, error) => Some(error),
            StartError::NotLoopback(_) | StartError::Header { .. } => None,
        }
    }
}
