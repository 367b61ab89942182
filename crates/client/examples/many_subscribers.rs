//! Several parts of a program subscribe to one session, each at its own pace.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use std::collections::BTreeMap;

use tidings::{Client, Event, Options, Subscriber};

/// Counts the kinds of frames until the session ends.
async fn count(mut events: Subscriber) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    while let Some(event) = events.next().await {
        match event {
            Event::Frame { frame, .. } => *kinds.entry(frame.name().into_owned()).or_default() += 1,
            // A subscriber that is too slow loses the oldest events, and does not delay the others.
            Event::Lagged { lost } => println!("{lost} events were lost"),
            _ => {}
        }
    }
    kinds
}

/// Prints the beginnings and ends of turns.
async fn watch(mut events: Subscriber) {
    while let Some(event) = events.next().await {
        match event {
            Event::TurnStarted { turn, prompts } => println!("turn {turn} of {} prompt", prompts.len()),
            Event::TurnEnded(end) => println!("turn ended: {:?}", end.outcome),
            Event::Ended { exit, .. } => println!("session ended {exit}"),
            _ => {}
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::connect(Options::new()).await?;
    let counting = tokio::spawn(count(client.subscribe()));
    let watching = tokio::spawn(watch(client.subscribe()));
    client.send("Hello!").await?.finish().await?;
    client.close().await?;
    watching.await?;
    let kinds = counting.await?;
    println!("answers: {}, results: {}", kinds["assistant"], kinds["result/success"]);
    Ok(())
}
