//! Starts a session in the current folder, sends a prompt, and prints the answer: the program of
//! `docs/programs.md`.

#![expect(clippy::print_stdout, reason = "an example prints")]

use std::env;

use tidings_remote::RemoteServer;
use tidings_remote::api::CreateSession;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = RemoteServer::at(&env::var("TIDINGS_SERVER")?, &env::var("TIDINGS_TOKEN")?)?;
    let cwd = env::current_dir()?.display().to_string();
    let started = server.start(&CreateSession { cwd, ..CreateSession::default() }).await?;
    let answer = server.session(started.key).ask("Say hello").await?;
    println!("{}", answer.text());
    Ok(())
}
