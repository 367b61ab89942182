//! The server of an example.

use std::env;

use tidings_remote::{Error, RemoteServer};

/// The server at `TIDINGS_SERVER`, with the credential `TIDINGS_TOKEN`; else the one on this machine whose
/// data folder is `TIDINGS_DATA`.
pub(crate) fn server() -> Result<RemoteServer, Error> {
    match (env::var("TIDINGS_SERVER"), env::var("TIDINGS_TOKEN")) {
        (Ok(address), Ok(token)) => RemoteServer::at(&address, &token),
        _ => RemoteServer::local(env::var("TIDINGS_DATA").unwrap_or_default()),
    }
}
