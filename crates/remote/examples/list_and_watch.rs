//! Lists the sessions of a server, then prints what happens in all of them.

#![expect(clippy::print_stdout, reason = "an example prints")]

mod common;

use tidings_remote::api::{Notice, SessionView};
use tidings_remote::{Error, NoticeUpdate};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let server = common::server()?;
    let mut notices = server.notices();
    loop {
        match notices.next().await? {
            // Also after a lost connection: what happened meanwhile is in the list.
            NoticeUpdate::Subscribed => {
                for session in server.sessions().await? {
                    println!("{}", line(&session));
                }
            }
            NoticeUpdate::Notice(notice) => match *notice {
                Notice::Session { session } => println!("{}", line(&session)),
                Notice::Permission { permission } => {
                    println!("{}: may {} run?", permission.handle, permission.details.tool_name);
                }
                Notice::Settled { outcome, .. } => println!("the request was {outcome}"),
                Notice::TurnEnded { last_line: Some(line), .. } => println!("the turn ended: {line}"),
                _ => {}
            },
            NoticeUpdate::Lost(error) => println!("disconnected: {error}"),
            _ => {}
        }
    }
}

fn line(session: &SessionView) -> String {
    format!("{} {} {}", session.handle, session.state.as_str(), session.name().unwrap_or(&session.cwd))
}
