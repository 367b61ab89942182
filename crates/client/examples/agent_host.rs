//! An agent host as a separate program: `agent_host FOLDER`, with the socket to listen on as standard input.
//!
//! A `SocketTransport` starts it, with the folder and the socket. `tidings host` is the same. An agent whose
//! arguments contain `--filtered` gets a filter before it, as one that speaks another protocol would.

use std::os::fd::AsFd as _;
use std::os::unix::net::UnixListener;
use std::process::Command;

use tidings::host::{self, FilterEnds, HostFolder, Translate};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::runtime::Handle;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).ok_or("no folder")?;
    let socket = std::io::stdin().as_fd().try_clone_to_owned()?;
    host::run_with_filters(HostFolder::new(folder), UnixListener::from(socket), filter).await?;
    Ok(())
}

/// The filter of an agent. A real one would change the command, too.
fn filter(command: &mut Command) -> Option<Translate> {
    let is_filtered = command.get_args().any(|arg| arg == "--filtered");
    is_filtered
        .then(|| -> Translate { Box::new(|ends| Handle::current().block_on(translate(ends)).unwrap_or(1)) })
}

/// Numbers the lines of the agent, and passes on those of the bridge. An agent that ends by itself has
/// failed.
async fn translate(mut ends: FilterEnds) -> std::io::Result<u8> {
    let (mut stdin, stdout, _stderr) = ends.agent;
    let (mut said, mut asked) = (BufReader::new(stdout).lines(), BufReader::new(ends.input).lines());
    for number in 1_u64.. {
        let line = loop {
            tokio::select! {
                line = said.next_line() => match line? {
                    Some(line) => break line,
                    None => return Ok(7),
                },
                line = asked.next_line() => match line? {
                    Some(line) => stdin.write_all(format!("{line}\n").as_bytes()).await?,
                    None => return Ok(0),
                },
                () = ends.stopped.cancelled() => return Ok(0),
            }
        };
        let line = format!("{{\"number\":{number},\"line\":{line}}}\n");
        ends.output.write_all(line.as_bytes()).await?;
    }
    Ok(0)
}
