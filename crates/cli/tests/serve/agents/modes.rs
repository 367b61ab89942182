//! Agents that choose a looser mode by themselves.

use super::{events, serve_script, session, start};
use crate::serve::machine::{Machine, until};

/// An agent that says it has another mode now, and then answers.
const LOOSENS: &str = r#"
[session.modes]
currentModeId = "build"
availableModes = [{ id = "build", name = "Build" }, { id = "plan", name = "Plan" }, { id = "yolo", name = "Yolo" }]

[[turn]]
steps = [{ update = { sessionUpdate = "current_mode_update", currentModeId = "MODE" } }, { text = "Free." }]
"#;

const REFUSES: &str = "refuse_mode = { code = -32000, message = \"I like it here\" }\n";

#[test]
fn k30_an_agent_that_switches_itself_to_a_looser_mode_is_switched_back_or_stopped() {
    for (mode, shown) in [("yolo", "bypassPermissions"), ("of-its-own", "of-its-own")] {
        let machine = Machine::new();
        let server = serve_script(&machine, "0", &LOOSENS.replace("MODE", mode));
        let key = start(&server, &machine, "hi");
        let said = format!("switched itself to the mode `{shown}`; it was switched back to `default`");
        until("the mode is restored", || events(&server, &key).contains(&said).then_some(()));
        until("the session shows it", || {
            (session(&server, &key)["permission_mode"].as_str().unwrap_or("default") == "default")
                .then_some(())
        });
        let log = machine.output(&["audit", "export", "--data", server.data.to_str().unwrap()]);
        assert!(log.contains("switched mode back"), "{log}");
        assert_ne!(session(&server, &key)["state"], "stopped");

        let machine = Machine::new();
        let script = format!("{REFUSES}{}", LOOSENS.replace("MODE", mode));
        let server = serve_script(&machine, "0", &script);
        let key = start(&server, &machine, "hi");
        until("it is stopped", || (session(&server, &key)["state"] == "stopped").then_some(()));
        assert!(events(&server, &key).contains("so it was stopped"), "{}", events(&server, &key));
    }
}

#[test]
fn k30_an_agent_may_take_a_stricter_mode() {
    let machine = Machine::new();
    let server = serve_script(&machine, "0", &LOOSENS.replace("MODE", "plan"));
    let key = start(&server, &machine, "hi");
    until("it plans", || (session(&server, &key)["permission_mode"] == "plan").then_some(()));
    super::turns(&server, &key, 1);
    assert!(!events(&server, &key).contains("switched itself"), "{}", events(&server, &key));
}
