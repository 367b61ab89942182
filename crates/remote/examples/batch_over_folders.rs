//! Sends one prompt to a new session in each of many folders, a few at a time, and prints the answers as they
//! come. Run again with the same name of the batch, it goes on where it stopped.

#![expect(clippy::print_stdout, reason = "an example prints")]

mod common;

use std::env;

use futures_util::{StreamExt as _, stream};
use tidings_remote::api::{CreateSession, Input};
use tidings_remote::{Error, PromptResult, RemoteServer};

/// Sessions that work at the same time.
const AT_ONCE: usize = 4;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let server = common::server()?;
    let mut arguments = env::args().skip(1);
    let (Some(batch), Some(prompt)) = (arguments.next(), arguments.next()) else {
        println!("usage: batch_over_folders BATCH PROMPT FOLDER...");
        return Ok(());
    };
    let jobs = arguments.map(|folder| job(&server, &batch, &prompt, folder));
    let mut answers = stream::iter(jobs).buffer_unordered(AT_ONCE);
    while let Some((folder, answer)) = answers.next().await {
        println!("{folder}: {}", answer.unwrap_or_else(|error| format!("failed: {error}")));
    }
    Ok(())
}

/// One session: the folder, and the answer.
async fn job(
    server: &RemoteServer,
    batch: &str,
    prompt: &str,
    folder: String,
) -> (String, Result<String, Error>) {
    let answer = answer(server, batch, prompt, &folder).await;
    (folder, answer)
}

async fn answer(server: &RemoteServer, batch: &str, prompt: &str, folder: &str) -> Result<String, Error> {
    // The ids make a second run find the sessions and prompts of the first. They are unique per folder.
    let cwd = folder.to_owned();
    let new = CreateSession { cwd, client_id: Some(batch.to_owned()), ..CreateSession::default() };
    let session = server.session(server.start(&new).await?.key);
    let (content, client_id) = (prompt.to_owned(), Some(format!("{batch}-prompt")));
    let accepted = session.send(&Input { content, client_id, ..Input::default() }).await?;
    let end = session.answer_to(&accepted).await?;
    // The agent is not needed any more; its session stays.
    session.stop_if_idle().await?;
    Ok(match end {
        PromptResult::Answered(answer) => answer.text(),
        end => format!("no answer: {end:?}"),
    })
}
