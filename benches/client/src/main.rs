//! Opens sessions, requests a story in each, reads it as it streams in, and keeps the sessions open until its
//! input ends: `tidings-client-bench CLAUDE SESSIONS`. `host.py` and `host.mjs` do the same with the official
//! SDKs.

#![expect(clippy::print_stdout, reason = "`run.py` reads its output")]

use anyhow::{Context as _, Result};
use futures_util::future::try_join_all;
use tidings::messages::Message;
use tidings::stream::{Delta, Event};
use tidings::{Client, Options};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let program = arguments.next().context("no program was given")?;
    let sessions: usize = arguments.next().context("no number of sessions was given")?.parse()?;
    let options = Options::new().program(program).include_partial_messages();
    let clients = try_join_all((0..sessions).map(|_| Client::connect(options.clone()))).await?;
    let stories =
        try_join_all(clients.iter().enumerate().map(|(number, client)| read(client, number))).await?;
    let (deltas, letters) = stories.iter().fold((0, 0), |sum, story| (sum.0 + story.0, sum.1 + story.1));
    println!("done {deltas} {letters}");
    // `run.py` measures now, while all sessions are open.
    std::io::stdin().read_line(&mut String::new())?;
    for client in clients {
        client.close().await?;
    }
    Ok(())
}

/// The number of deltas of a story, and of its letters.
async fn read(client: &Client, number: usize) -> Result<(u64, usize)> {
    let mut turn = client.send("go").await?;
    let (mut messages, mut deltas, mut letters) = (0_u64, 0, 0);
    while let Some(message) = turn.next().await {
        messages += 1;
        if messages == 1 && number == 0 {
            println!("first");
        }
        if let Message::StreamEvent(partial) = message?
            && let Event::ContentBlockDelta(block) = partial.event
            && let Delta::Text(delta) = block.delta
        {
            deltas += 1;
            letters += delta.text.len();
        }
    }
    Ok((deltas, letters))
}
