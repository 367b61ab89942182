//! An agent host as a separate program: `agent_host FOLDER`, with the socket to listen on as standard input.
//!
//! A `SocketTransport` starts it, with the folder and the socket. `tidings host` is the same.

use std::os::fd::AsFd as _;
use std::os::unix::net::UnixListener;

use tidings::host::{self, HostFolder};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).ok_or("no folder")?;
    let socket = std::io::stdin().as_fd().try_clone_to_owned()?;
    host::run(HostFolder::new(folder), UnixListener::from(socket)).await?;
    Ok(())
}
