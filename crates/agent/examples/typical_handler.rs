//! A typical event handler of a server: it matches on the kind of event, and answers permission requests.
#![expect(clippy::print_stdout, reason = "an example that prints is the point of it")]

use tidings::Options;
use tidings_agent::permissions::{Answer, Response};
use tidings_agent::{Agent, AskKey, ChannelEventSink, ChannelInputSource, Clock, ControllerInputPayload};
use tidings_agent::{TurnId, UiMessage, policy::Interactive, run_with_frontend};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    talk(Agent::new(Options::new()), "What is in this folder?", |text| print!("{text}")).await;
}

pub(crate) async fn talk(agent: Agent, prompt: &str, mut show: impl FnMut(&str)) {
    let (sink, mut events) = ChannelEventSink::new(100);
    let (input, source) = ChannelInputSource::new(8);
    let permissions = agent.permissions().clone();
    let running = tokio::spawn(run_with_frontend(agent, sink, source, Interactive));
    drop(input.send(ControllerInputPayload::data(1, prompt, TurnId::new_user_turn(1))).await);
    while let Some(event) = events.recv().await {
        match event {
            UiMessage::TextChunk { text, .. } => show(&text),
            UiMessage::ToolExecuting { tool_name, .. } => show(&format!("\nRunning {tool_name}...\n")),
            UiMessage::ToolCompleted { .. } => show("Tool complete\n"),
            UiMessage::PermissionRequired { tool_use_id, request, session_id } => {
                show(&format!("Allowed: {}\n", request.description));
                let (key, now) = (AskKey::new(session_id, tool_use_id), Clock::system().now());
                drop(permissions.respond_to_request(&key, Response::person("me", Answer::allow()), now));
            }
            UiMessage::Error { message, .. } => show(&format!("Agent error: {message}\n")),
            UiMessage::Complete { .. } => break,
            _ => {}
        }
    }
    drop((input, events));
    drop(running.await);
}
