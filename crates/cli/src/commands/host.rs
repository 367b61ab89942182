//! `tidings host`: the agent host, a process that holds the pipes or the terminal of one `claude`. Not for
//! users.

use std::os::fd::AsFd as _;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use tidings::host::{self, HostFolder};
use tidings_bridge::server::limit_open_files;
use tidings_commands::backend;
use tidings_commands::error::Exit;
use tidings_commands::signals::catch_file_size_limit;

/// Arguments of `tidings host`.
#[derive(Debug, Args)]
pub(crate) struct HostArgs {
    /// Limit of open files for the host and its agent: the limit of the server before it raised its own
    #[arg(long, value_name = "N")]
    open_files: Option<u64>,

    /// Folder of this host; the socket to listen on is passed as standard input
    folder: PathBuf,
}

pub(crate) fn run(args: &HostArgs) -> anyhow::Result<Exit> {
    if let Some(count) = args.open_files {
        limit_open_files(count).context("Failed to reset the limit of open files")?;
    }
    let socket = std::io::stdin().as_fd().try_clone_to_owned()?;
    // A runtime with one thread is enough, and keeps the memory of a host small.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let hosted = async {
        catch_file_size_limit().context("Failed to catch SIGXFSZ")?;
        let folder = HostFolder::new(&args.folder);
        let running = host::run_with_filters(folder, UnixListener::from(socket), backend::filter);
        running.await.context("The agent host failed")
    };
    let ended = runtime.block_on(hosted);
    // A filter may still wait for a file.
    runtime.shutdown_background();
    ended?;
    Ok(Exit::Success)
}
