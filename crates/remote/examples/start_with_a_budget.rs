//! Starts a session that may work for one turn, and shows what becomes of a second prompt.

#![expect(clippy::print_stdout, reason = "an example prints")]

mod common;

use std::env;

use tidings_remote::api::{Budget, Code, CreateSession, PatchSession};
use tidings_remote::{Error, ErrorKind};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let server = common::server()?;
    let cwd = env::args().nth(1).unwrap_or_else(|| "~".to_owned());
    let new = CreateSession { cwd, max_turns: Some(1), ..CreateSession::default() };
    let session = server.session(server.start(&new).await?.key);
    println!("{}", session.ask("hello").await?.text());
    match session.prompt("and again").await {
        Err(error) if error.kind() == ErrorKind::Refused(Code::BudgetExhausted) => {
            println!("refused: {error}");
        }
        Err(error) => return Err(error),
        Ok(_) => println!("accepted"),
    }
    // More budget needs a credential with the scope `admin`.
    let budget = Some(Budget { max_turns: Some(2), ..Budget::default() });
    session.set(&PatchSession { budget, ..PatchSession::default() }).await?;
    println!("{}", session.ask("and again").await?.text());
    Ok(())
}
