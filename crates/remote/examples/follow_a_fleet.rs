//! Prints one line for each server of a fleet whenever something changes there. Any server of the fleet knows
//! them all; a server that is in no fleet is the only one.

#![expect(clippy::print_stdout, reason = "an example prints")]

mod common;

use std::collections::BTreeMap;

use tidings_remote::api::{FleetStatus, Notice, ServerPhase, SessionView};
use tidings_remote::{Error, NoticeUpdate, RemoteServer};

/// Sessions of all servers, by key.
type Sessions = BTreeMap<String, SessionView>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let server = common::server()?;
    let (mut notices, mut sessions) = (server.notices(), Sessions::new());
    let (mut fleet, mut shown) = (None, Vec::new());
    loop {
        match notices.next().await? {
            NoticeUpdate::Subscribed => {
                fleet = status(&server).await?;
                let all = server.sessions().await?;
                sessions = all.into_iter().map(|session| (session.key.clone(), session)).collect();
            }
            NoticeUpdate::Notice(notice) => match *notice {
                Notice::Session { session } => drop(sessions.insert(session.key.clone(), *session)),
                Notice::Deleted { key, .. } => drop(sessions.remove(&key)),
                _ => continue,
            },
            NoticeUpdate::Lost(error) => println!("disconnected: {error}"),
            _ => {}
        }
        let lines = lines(fleet.as_ref(), &sessions);
        for line in lines.iter().filter(|line| !shown.contains(*line)) {
            println!("{line}");
        }
        shown = lines;
    }
}

/// The fleet; none if the server is in none.
async fn status(server: &RemoteServer) -> Result<Option<FleetStatus>, Error> {
    match server.fleet().await {
        Ok(fleet) => Ok(Some(fleet)),
        Err(error) if error.is_gone() => Ok(None),
        Err(error) => Err(error),
    }
}

fn lines(fleet: Option<&FleetStatus>, sessions: &Sessions) -> Vec<String> {
    let here = fleet.map_or("here", |fleet| fleet.node.as_str());
    let mut nodes: BTreeMap<&str, (usize, usize)> = BTreeMap::from([(here, (0, 0))]);
    for node in fleet.iter().flat_map(|fleet| &fleet.nodes) {
        nodes.entry(&node.name).or_default();
    }
    for session in sessions.values() {
        let (running, waiting) = nodes.entry(session.node.as_deref().unwrap_or(here)).or_default();
        *running += usize::from(session.state == ServerPhase::Running);
        *waiting += usize::from(session.state == ServerPhase::NeedsYou);
    }
    let nodes = nodes.into_iter();
    nodes.map(|(node, (running, waiting))| format!("{node}: {running} running, {waiting} waiting")).collect()
}
