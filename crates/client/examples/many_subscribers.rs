//! Several parts of a program watch one session, each at its own pace.

#![expect(clippy::print_stdout, reason = "an example that prints is the point of it")]

use std::collections::BTreeMap;

use tidings::{Client, Event, Options, Subscriber};

/// Counts the kinds of frames until the session ends.
async fn count(mut events: Subscriber) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    while let Some(event) = events.next().await {
        match event {
            Event::Frame { frame, .. } => *kinds.entry(frame.name().into_owned()).or_default() += 1,
            // Whoever is too slow loses the oldest events, is told so, and holds up nobody.
            Event::Lagged { lost } => println!("{lost} events were lost"),
            _ => {}
        }
    }
    kinds
}

/// Tells when turns begin and end.
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
