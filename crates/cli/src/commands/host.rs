//! `tidings host`: the process between the server and one `claude`. People have no use for it.

use std::os::fd::AsFd as _;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use tidings::host::{self, HostFolder};
use tidings_bridge::server::limit_open_files;

use crate::error::Exit;

/// Arguments of `tidings host`.
#[derive(Debug, Args)]
pub(crate) struct HostArgs {
    /// How many files it and its agent may have open: as many as the server had before it took more for itself
    #[arg(long, value_name = "N")]
    open_files: Option<u64>,

    /// The folder of this host; the socket to listen on is the standard input
    folder: PathBuf,
}

pub(crate) fn run(args: &HostArgs) -> anyhow::Result<Exit> {
    if let Some(count) = args.open_files {
        limit_open_files(count).context("The limit of open files could not be set back")?;
    }
    let socket = std::io::stdin().as_fd().try_clone_to_owned()?;
    // One thread is enough, and a host is to be small.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime
        .block_on(host::run(HostFolder::new(&args.folder), UnixListener::from(socket)))
        .context("The host of a session has ended badly")?;
    Ok(Exit::Fine)
}
