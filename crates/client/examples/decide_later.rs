//! The handler defers the decision, and another part of the program makes it: a web page, a phone, a queue.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use tidings::{Client, Decision, ErrorKind, Options, PermissionAsk};
use tokio::sync::mpsc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let (sender, mut questions) = mpsc::channel(16);
    let options = Options::new().on_permission(move |ask: PermissionAsk| {
        let sender = sender.clone();
        async move {
            let id = ask.context.request_id().to_owned();
            match sender.send((id, ask.call.tool_name)).await {
                Ok(()) => Decision::Later,
                Err(_) => Decision::deny("No user is connected"),
            }
        }
    });
    let client = Client::connect(options).await?;
    let turn = client.send("What is in this folder?").await?;

    if let Some((id, tool)) = questions.recv().await {
        println!("{tool} waits; open requests: {}", client.open_permissions().len());
        client.decide(&id, Decision::allow()).await?;
        // The first decision counts. A second one is an error.
        let late = client.decide(&id, Decision::deny("too late")).await;
        let settled = late.is_err_and(|error| error.kind() == ErrorKind::Settled);
        println!("the second answer came too late: {settled}");
    }
    println!("{}", turn.finish().await?.text());
    client.close().await?;
    Ok(())
}
