//! Asks an agent for its past sessions, prints them as one line, and ends the agent.

use std::time::Duration;

use tidings_acp::adapter::{
    LIST_CURSOR_FLAG, LIST_FOLDER_FLAG, LIST_SESSIONS_FLAG, Listing, ListingSettings,
};

use super::agent_process::{AgentEvent, AgentProcess};
use super::{AgentCommand, Host, write_out};
use crate::signals::Signals;

/// Time for an agent to start and to list its sessions.
const LIST_LIMIT: Duration = Duration::from_secs(20);

/// The settings of a listing, if the arguments ask for one.
pub(super) fn settings(agent: &AgentCommand, args: &[String]) -> Option<ListingSettings> {
    let value = |name: &str| {
        let mut values = args.iter().filter_map(|arg| arg.strip_prefix(name)?.strip_prefix('='));
        values.next().map(str::to_owned)
    };
    Some(ListingSettings {
        name: agent.name.clone(),
        authenticate: agent.authenticate.clone(),
        limit: value(LIST_SESSIONS_FLAG)?.parse().ok()?,
        cursor: value(LIST_CURSOR_FLAG),
        folder: value(LIST_FOLDER_FLAG),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

pub(super) async fn run(agent: &AgentCommand, settings: ListingSettings) -> anyhow::Result<u8> {
    let mut listing = Listing::new(settings);
    let mut process = match AgentProcess::start(agent) {
        Ok(process) => Some(process),
        Err(error) => {
            listing.fail(&format!("`{}` could not be started: {error}", agent.command.display()));
            None
        }
    };
    if let Some(process) = &mut process {
        relay(&mut listing, process).await?;
    }
    if let Some(result) = listing.result() {
        write_out(format!("{}\n", serde_json::to_string(result)?).as_bytes()).await?;
    }
    if let Some(process) = &mut process {
        process.end().await;
    }
    Ok(0)
}

/// Passes lines until there is a result, or the server has left.
async fn relay(listing: &mut Listing, process: &mut AgentProcess) -> anyhow::Result<()> {
    let mut host = Host::new();
    let mut signals = Signals::catch()?;
    let deadline = tokio::time::sleep(LIST_LIMIT);
    tokio::pin!(deadline);
    while listing.result().is_none() {
        for line in listing.lines() {
            process.send(line);
        }
        tokio::select! {
            event = process.next() => match event {
                AgentEvent::Line(line) => listing.from_agent(&line),
                AgentEvent::TooLong(_, bytes) => listing.fail(&format!("It sent a line of {bytes} bytes")),
                AgentEvent::Ended(how, _) => listing.agent_ended(&how),
            },
            // The server sends nothing, and closes its end when it stops.
            lines = host.read() => if lines?.is_none() { return Ok(()) },
            () = &mut deadline => listing.fail("It did not list its sessions in time"),
            _ = signals.next() => return Ok(()),
        }
    }
    Ok(())
}
