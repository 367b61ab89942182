//! Asks an agent for its past sessions, prints them as one line, and ends the agent.

use std::time::Duration;

use tidings_acp::adapter::{
    LIST_CURSOR_FLAG, LIST_FOLDER_FLAG, LIST_SESSIONS_FLAG, Listing, ListingSettings,
};

use super::agent_process::{AgentEvent, AgentProcess};
use super::{AgentCommand, Bridge};
use crate::input::json;

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

pub(super) async fn run(
    settings: ListingSettings,
    mut bridge: Bridge,
    started: anyhow::Result<&mut AgentProcess>,
) -> anyhow::Result<u8> {
    let mut listing = Listing::new(settings);
    match started {
        Ok(process) => relay(&mut listing, process, &mut bridge).await?,
        Err(error) => listing.fail(&format!("{error:#}")),
    }
    if let Some(result) = listing.result() {
        bridge.write(format!("{}\n", serde_json::to_string(result)?).as_bytes()).await?;
    }
    Ok(0)
}

/// Passes lines until there is a result, or the server has left.
async fn relay(listing: &mut Listing, process: &mut AgentProcess, bridge: &mut Bridge) -> anyhow::Result<()> {
    let deadline = tokio::time::sleep(LIST_LIMIT);
    tokio::pin!(deadline);
    while listing.result().is_none() {
        for line in listing.lines() {
            process.send(line);
        }
        tokio::select! {
            events = process.next() => events.into_iter().for_each(|event| match event {
                AgentEvent::Line(line) => listing.from_agent(&line),
                AgentEvent::TooLong(_, bytes) => listing.fail(&format!("It sent a line of {bytes} bytes")),
                AgentEvent::Ended(how, _) => listing.agent_ended(&how),
            }),
            // The server sends nothing, and closes its end when it stops.
            lines = bridge.lines.next(json) => if lines?.is_none() { return Ok(()) },
            () = &mut deadline => listing.fail("It did not list its sessions in time"),
        }
    }
    Ok(())
}
