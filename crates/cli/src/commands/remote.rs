//! The server that a command talks to.
//!
//! On the same machine it is the socket in the data folder, independent of the server's port and TLS, with
//! the admin token beside it, which is accepted there only. For an address a command needs a token in the
//! environment.

use std::env;
use std::path::PathBuf;

use clap::Args;
use tidings_commands::error::CannotRun;
use tidings_remote::RemoteServer;

use super::serve;

/// File in the data folder with the folders whose sessions the server and the hooks leave alone.
pub(crate) const IGNORED_FOLDERS: &str = "ignored-folders";

/// Arguments of every command that talks to a server: the server, and the output format.
#[derive(Debug, Clone, Args)]
pub(crate) struct RemoteArgs {
    /// Data folder of a server on this machine [default: the default of `tidings serve`]
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) data: Option<PathBuf>,

    /// Address of a server; its token is read from `TIDINGS_TOKEN` [env: `TIDINGS_SERVER`]
    #[arg(long, value_name = "URL", global = true, conflicts_with = "data")]
    pub(crate) server: Option<String>,

    /// Print JSON for scripts
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

impl RemoteArgs {
    /// Address of the remote server, if one was named.
    pub(crate) fn remote_url(&self) -> Option<String> {
        self.server.clone().or_else(|| {
            let variable = env::var("TIDINGS_SERVER").ok().filter(|url| !url.is_empty());
            variable.filter(|_| self.data.is_none())
        })
    }

    /// Data folder of the server on this machine.
    pub(crate) fn data(&self) -> anyhow::Result<PathBuf> {
        self.data.clone().map_or_else(serve::configured_data, Ok)
    }

    /// Creates the client of the chosen server. Sends nothing yet.
    pub(crate) fn remote(&self) -> anyhow::Result<RemoteServer> {
        let remote = match self.remote_url() {
            Some(address) => RemoteServer::at(&address, &token()?)?,
            None => RemoteServer::local(self.data()?)?,
        };
        // A person who waits learns of a server that does not answer after one attempt.
        let mut options = remote.options().clone();
        options.patience = options.answer_max;
        Ok(remote.with(options))
    }
}

fn token() -> Result<String, CannotRun> {
    let token = env::var("TIDINGS_TOKEN").ok().filter(|token| !token.is_empty());
    token.ok_or_else(|| CannotRun {
        code: "unauthorized",
        message: "A server at an address needs a token".to_owned(),
        hint: "set TIDINGS_TOKEN; create a token with `tidings token create` on the server's machine",
    })
}
