//! The admin token of the data folder, and the connections on which it is accepted.
//!
//! Every program of the user can read the file, an agent included. So the token is not accepted on the
//! address that devices use: what an agent reads and shows to a device is of no use there.

use std::net::SocketAddr;
use std::path::Path;

use tidings_api::Code;
use tidings_sessions::secret::{self, Random, Secret};
use tidings_sessions::{Error, private};

use super::peer::Peer;
use super::{Auth, peer_user};

/// The name of the file in the data folder.
const FILE: &str = "token";

/// The admin token in a data folder, for programs of the same user.
pub fn read_admin_token(data: &Path) -> Result<Option<Secret>, Error> {
    let path = data.join(FILE);
    let Some(text) = private::read(&path)? else { return Ok(None) };
    let token = text.trim();
    if secret::is_token(token) {
        return Ok(Some(Secret::new(token)));
    }
    // A short or well-known secret would be worse than no secret (F118).
    let message = format!("Not a token of this program: `{}`", path.display());
    Err(Error::new(Code::Internal, message, "remove the file; the next start creates a new one"))
}

/// Reads the admin token, and creates it on the first start.
pub(super) fn open(data: &Path, random: &Random) -> Result<Secret, Error> {
    if let Some(token) = read_admin_token(data)? {
        return Ok(token);
    }
    let token = random.token()?;
    let made = private::create(&data.join(FILE), format!("{}\n", token.reveal()).as_bytes());
    made.map_err(|error| Error::new(Code::Internal, error.to_string(), "check the free disk space"))?;
    Ok(token)
}

impl Auth {
    /// Accepts the admin token from processes of the same user over loopback too. For a server without a
    /// socket only.
    pub(crate) fn accept_admin_on_loopback(&self) {
        // A second call changes nothing.
        let _ = self.0.loopback_admin.set(());
    }

    /// Checks that the admin token may be used on a connection.
    pub(super) fn check_admin_peer(&self, peer: Peer) -> Result<(), Error> {
        let is_accepted = match peer {
            Peer::Unix => true,
            Peer::Tcp { remote, local } => self.is_own_loopback(remote, local),
            Peer::Unknown => false,
        };
        if is_accepted { Ok(()) } else { Err(refused()) }
    }

    /// True if the server has no socket, and the client is a process of the same user on this machine.
    fn is_own_loopback(&self, remote: SocketAddr, local: SocketAddr) -> bool {
        let is_loopback = |address: SocketAddr| address.ip().to_canonical().is_loopback();
        self.0.loopback_admin.get().is_some()
            // Behind a public URL, a proxy of the same user passes on requests of devices.
            && !self.settings().names.has_public_url()
            && is_loopback(remote)
            && is_loopback(local)
            && peer_user::is_own(remote, local)
    }
}

fn refused() -> Error {
    let hint = "create a credential with `tidings token create`, and set TIDINGS_TOKEN";
    Error::new(Code::Unauthorized, "The admin token is accepted on the local socket only", hint)
}
