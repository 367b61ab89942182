//! Starts a session, sends it a prompt, and prints the answer. The program may be stopped and started again
//! with the same name of the job: the session and the prompt are not sent twice.

#![expect(clippy::print_stdout, reason = "an example prints")]

mod common;

use std::env;

use tidings_remote::api::{CreateSession, Input};
use tidings_remote::{Error, PromptResult};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let server = common::server()?;
    let mut arguments = env::args().skip(1);
    let (Some(job), Some(cwd), Some(prompt)) = (arguments.next(), arguments.next(), arguments.next()) else {
        println!("usage: wait_for_a_result JOB FOLDER PROMPT");
        return Ok(());
    };
    let new = CreateSession { cwd, client_id: Some(format!("{job}-session")), ..CreateSession::default() };
    let session = server.session(server.start(&new).await?.key);
    let input = Input { content: prompt, client_id: Some(format!("{job}-prompt")), ..Input::default() };
    let accepted = session.send(&input).await?;
    match session.answer_to(&accepted).await? {
        PromptResult::Answered(answer) => {
            println!("{}", answer.text());
            let cost = answer.result.and_then(|result| result.turn_cost_usd);
            println!("cost: {}", cost.map_or_else(|| "unknown".to_owned(), |cost| format!("${cost:.2}")));
        }
        end => println!("no answer: {end:?}"),
    }
    Ok(())
}
