//! Test of the example.

use std::sync::{Arc, Mutex};

use tidings::Options;
use tidings_agent::Agent;

use crate::session::LIST;
use crate::session::stand_in::StandIn;

#[path = "../../examples/typical_handler.rs"]
#[expect(dead_code, reason = "its `main` needs a real agent")]
mod typical_handler;

#[tokio::test(flavor = "multi_thread")]
async fn s3_26_a_typical_handler_takes_a_session_from_prompt_to_end() {
    let output = Arc::new(Mutex::new(String::new()));
    let collected = Arc::clone(&output);
    let agent = Agent::new(Options::new()).over(|| StandIn::playing(LIST));
    typical_handler::talk(agent, "hello", move |text| collected.lock().unwrap().push_str(text)).await;
    let output = output.lock().unwrap();
    assert_eq!(
        *output,
        "Let me look.\nRunning Bash...\nAllowed: Run `ls`\nTool complete\nThere is a README."
    );
}
