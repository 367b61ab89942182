//! What people see of recorded sessions.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod support;

use support::{fixtures, live, readable};

#[test]
fn recorded_sessions_give_the_same_events_as_when_they_were_last_read() {
    for (name, _) in fixtures() {
        insta::assert_snapshot!(name.as_str(), readable(&live(&name)));
    }
}
