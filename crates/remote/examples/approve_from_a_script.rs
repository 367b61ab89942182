//! Answers the pending requests of all sessions by a rule of the program: low risks are allowed, high ones
//! are denied, and the rest is left to people.

#![expect(clippy::print_stdout, reason = "an example prints")]

mod common;

use tidings_remote::api::PendingPermission;
use tidings_remote::protocol::mobile::RiskLevel;
use tidings_remote::{Answered, Error, RemoteServer, RequestUpdate, SessionRequest};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let server = common::server()?;
    let mut requests = server.requests();
    loop {
        match requests.next().await? {
            RequestUpdate::Opened(SessionRequest::Permission(request)) => answer(&server, &request).await?,
            RequestUpdate::Opened(_) => println!("a question is left to a person"),
            RequestUpdate::Settled { tool_use_id, outcome, .. } => {
                let outcome =
                    outcome.unwrap_or_else(|| "settled while this program was disconnected".to_owned());
                println!("{tool_use_id} was {outcome}");
            }
            RequestUpdate::UpToDate => println!("up to date"),
            RequestUpdate::Lost(error) => println!("disconnected: {error}"),
            _ => {}
        }
    }
}

async fn answer(server: &RemoteServer, request: &PendingPermission) -> Result<(), Error> {
    let tool = &request.details.tool_name;
    let answered = match request.details.risk {
        RiskLevel::Low => server.approve(request).await,
        RiskLevel::High => server.deny(request, Some("This script allows no high risks")).await,
        RiskLevel::Medium => {
            println!("{tool} is left to a person");
            return Ok(());
        }
    };
    match answered {
        Ok(Answered::First(result)) => println!("{tool}: {}", result.outcome),
        Ok(Answered::Before(result)) => {
            let who = result.by.unwrap_or_else(|| "the agent".to_owned());
            println!("{tool}: {} by {who} before", result.outcome);
        }
        // The agent has withdrawn it.
        Err(error) if error.is_gone() => println!("{tool}: gone"),
        Err(error) => return Err(error),
    }
    Ok(())
}
