//! Prompts from a channel: the session ends when the channel is closed and all prompts are answered.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use futures_util::stream;
use tidings::messages::Message;
use tidings::{Options, Prompt, query_stream};
use tokio::sync::mpsc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let (sender, receiver) = mpsc::channel::<Prompt>(8);
    let prompts = stream::unfold(receiver, |mut receiver| async { Some((receiver.recv().await?, receiver)) });
    let mut answers = query_stream(prompts, Options::new());

    let mut sender = Some(sender);
    if let Some(sender) = &sender {
        drop(sender.send(Prompt::from("Count to three.")).await);
    }
    while let Some(message) = answers.next().await {
        match message? {
            Message::Assistant(assistant) => println!("{}", assistant.message.content.joined_text()),
            // After the first answer: one more prompt, and then the end of the stream.
            Message::Result(_) => {
                if let Some(sender) = sender.take() {
                    drop(sender.send(Prompt::from("And backwards?")).await);
                }
            }
            _ => {}
        }
    }
    Ok(())
}
