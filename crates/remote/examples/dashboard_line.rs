//! Prints one line about a server, for the bar of a desktop or the prompt of a shell.

#![expect(clippy::print_stdout, reason = "an example prints")]

mod common;

use tidings_remote::api::ServerPhase;
use tidings_remote::{Error, ErrorKind, InboxQuery, InboxState, RemoteServer};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let line = match common::server() {
        Ok(server) => line(&server).await,
        Err(error) => Err(error),
    };
    match line {
        Ok(line) => println!("{line}"),
        Err(error) if matches!(error.kind(), ErrorKind::NotRunning | ErrorKind::Unreachable) => {
            println!("off");
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

async fn line(server: &RemoteServer) -> Result<String, Error> {
    let sessions = server.sessions().await?;
    let running = sessions.iter().filter(|session| session.state == ServerPhase::Running).count();
    let query = InboxQuery { items_max: Some(1), ..InboxQuery::new(InboxState::Waiting) };
    let (waiting, counts) = server.inbox(&query).await?;
    let first = waiting.first().and_then(|item| item.line.as_deref()).unwrap_or("nothing");
    Ok(format!("{running} running, {} unread, {} waiting: {first}", counts.unread, counts.waiting))
}
