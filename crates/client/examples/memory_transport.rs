//! Plays `claude` in the same process: for tests of a program, and for custom agents.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use serde_json::json;
use tidings::transport::Exit;
use tidings::transport::memory::{self, Peer};
use tidings::{Client, Kind, Options};

/// Answers the handshake, and echoes every prompt.
async fn parrot(mut peer: Peer) {
    while let Some(Ok(frame)) = peer.frame().await {
        let reply = match frame.kind() {
            Kind::ControlRequest => {
                let id = frame.request_id();
                let response = json!({ "subtype": "success", "request_id": id, "response": {} });
                json!({ "type": "control_response", "response": response })
            }
            Kind::User => {
                let text = frame.message().content_blocks()[0].as_text().unwrap_or_default().to_uppercase();
                json!({ "type": "result", "subtype": "success", "is_error": false, "result": text })
            }
            _ => continue,
        };
        peer.say(&reply.to_string()).await;
    }
    // The session has ended its input, so this "process" exits too.
    peer.exit(Exit::code(0)).await;
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let (transport, peer) = memory::pair();
    drop(tokio::spawn(parrot(peer)));
    let client = Client::connect_over(transport, Options::new()).await?;
    for prompt in ["hello", "are you there?"] {
        println!("{}", client.send(prompt).await?.finish().await?.text());
    }
    client.close().await?;
    Ok(())
}
