//! Models, modes and options of another agent: they are listed as they are now, and set by those who may.

use serde_json::{Value, json};

use super::{prompt, serve_script, session, start, turns};
use crate::serve::machine::{Answer, Machine, Running, until};

const SCRIPT: &str = r#"
[session]
configOptions = [
  { id = "model", name = "Model", category = "model", type = "select", currentValue = "small", options = [
    { value = "small", name = "Small" },
    { value = "large", name = "Large" },
  ] },
  { id = "effort", name = "Effort", category = "thought_level", type = "select", currentValue = "low", options = [
    { value = "low", name = "Low" },
    { value = "high", name = "High" },
  ] },
  { id = "fast", name = "Fast", category = "model_config", type = "boolean", currentValue = false },
  { id = "sandbox", name = "Sandbox", type = "select", currentValue = "read-only", options = [
    { value = "read-only", name = "Read only" },
    { value = "danger-full-access", name = "None" },
  ] },
]

[[turn]]
when = "values"
steps = [{ text = "{options}" }]

[[turn]]
when = "leave"
steps = [{ text = "Good bye." }]
late = [{ exit = 9 }]

[[turn]]
when = "other"
steps = [
  { update = { sessionUpdate = "config_option_update", configOptions = [
    { id = "effort", name = "Effort", category = "thought_level", type = "select", currentValue = "max", options = [{ value = "max", name = "Max" }] },
    { id = "model", name = "Model", category = "model", type = "select", currentValue = "huge", options = [{ value = "huge", name = "Huge" }] },
  ] } },
  { text = "Changed." },
]
"#;

fn listed(server: &Running, key: &str) -> Value {
    server.ask("GET", &format!("/v1/sessions/{key}/models"), None).json()
}

fn set(server: &Running, key: &str, body: &Value) -> Answer {
    server.ask("POST", &format!("/v1/sessions/{key}/option"), Some(body))
}

fn values(list: &Value) -> Vec<(&str, &str)> {
    let options = list["options"].as_array().unwrap().iter();
    options.map(|option| (option["id"].as_str().unwrap(), option["value"].as_str().unwrap())).collect()
}

#[test]
fn options_of_another_agent_are_listed_live_and_set_once() {
    let machine = Machine::new();
    let server = serve_script(&machine, "0", SCRIPT);
    let key = start(&server, &machine, "values");
    let before = turns(&server, &key, 1);
    assert!(before["capabilities"].as_array().unwrap().contains(&json!("set_option")), "{before}");
    let list = listed(&server, &key);
    assert_eq!(values(&list), [("effort", "low"), ("fast", "false"), ("sandbox", "read-only")]);
    let scopes: Vec<&Value> = list["options"].as_array().unwrap().iter().map(|it| &it["scope"]).collect();
    assert_eq!(scopes, ["prompt", "admin", "admin"]);
    let sandbox = &list["options"][2]["values"];
    assert_eq!(sandbox.as_array().unwrap().len(), 1, "no value that this server refuses: {sandbox}");

    let high = json!({"option": "effort", "value": "high", "client_id": "one"});
    let done = set(&server, &key, &high);
    assert_eq!(done.status, 200, "{done:?}");
    assert_eq!(set(&server, &key, &high).json(), done.json(), "a repeated command has no second effect");
    assert_eq!(set(&server, &key, &json!({"option": "fast", "value": "true"})).status, 200);
    assert_eq!(values(&listed(&server, &key))[..2], [("effort", "high"), ("fast", "true")]);
    prompt(&server, &key, "values");
    let told = turns(&server, &key, 2)["last_line"].clone();
    let told: Value = serde_json::from_str(told.as_str().unwrap()).unwrap();
    assert_eq!((&told["effort"], &told["fast"]), (&json!("high"), &json!(true)), "the agent has them");
    let history = super::events(&server, &key);
    assert_eq!(history.matches(r#""options":{"effort":"high"}"#).count(), 1, "{history}");
    let audit = server.ask("GET", "/v1/audit", None).body;
    assert_eq!(audit.matches("effort = high").count(), 1, "{audit}");

    // A list that the agent changes later.
    prompt(&server, &key, "other");
    turns(&server, &key, 3);
    let list = listed(&server, &key);
    assert_eq!(values(&list), [("effort", "max")]);
    assert_eq!(list["items"][0]["value"], "huge");
    let of_agent = server.ask("GET", "/v1/models?backend=sample", None).json();
    assert_eq!((&of_agent["items"][0]["value"], &of_agent["options"]), (&json!("huge"), &Value::Null));
}

#[test]
fn an_option_that_does_not_exist_is_refused_with_those_that_do() {
    let machine = Machine::new();
    let server = serve_script(&machine, "0", SCRIPT);
    let key = start(&server, &machine, "values");
    turns(&server, &key, 1);
    for (body, status, why) in [
        (json!({"option": "model", "value": "large"}), 409, "its options are: effort, fast, sandbox"),
        (json!({"option": "effort", "value": "huge"}), 409, "its values are: low, high"),
        (json!({"option": "effort"}), 400, "needs `option` and `value`"),
        (json!({"option": "effort", "value": "x".repeat(201)}), 400, "at most 200 bytes"),
    ] {
        let refused = set(&server, &key, &body);
        assert_eq!(refused.status, status, "{refused:?}");
        assert!(refused.body.contains(why), "{refused:?}");
    }
    assert!(server.ask("POST", &format!("/v1/sessions/{key}/stop"), Some(&json!({}))).status < 300);
    let stopped = set(&server, &key, &json!({"option": "effort", "value": "high"}));
    assert_eq!(stopped.status, 409, "no agent runs: {stopped:?}");
    assert_eq!(listed(&server, &key)["options"], Value::Null);
}

#[test]
fn only_the_thought_level_is_set_with_the_scope_of_a_prompt() {
    let machine = Machine::new();
    let server = serve_script(&machine, "0", SCRIPT);
    let key = start(&server, &machine, "values");
    turns(&server, &key, 1);
    let device = json!({"name": "phone", "scopes": ["read", "prompt", "decide", "always"]});
    let made = server.ask("POST", "/v1/devices", Some(&device));
    let token = format!("Bearer {}", made.json()["token"].as_str().unwrap());
    let path = format!("/v1/sessions/{key}/option");
    let set_there = |option: &str, value: &str| {
        let body = json!({"option": option, "value": value});
        server.ask_with("POST", &path, &[("Authorization", &token)], Some(&body))
    };
    assert_eq!(set_there("effort", "high").status, 200);
    for (option, value) in [("fast", "true"), ("sandbox", "read-only"), ("sandbox", "danger-full-access")] {
        let refused = set_there(option, value);
        assert_eq!(refused.status, 403, "{refused:?}");
        assert!(refused.body.contains("needs the scope `admin`"), "{refused:?}");
    }
    // A value that asks for nothing also needs a server that allows it.
    let refused = set(&server, &key, &json!({"option": "sandbox", "value": "danger-full-access"}));
    assert_eq!(refused.status, 403, "{refused:?}");
    assert!(refused.body.contains("--allow-bypass"), "{refused:?}");
    assert_eq!(
        values(&listed(&server, &key)),
        [("effort", "high"), ("fast", "false"), ("sandbox", "read-only")]
    );
}

#[test]
fn options_that_were_set_are_set_again_when_the_agent_is_started_again() {
    let machine = Machine::new();
    let server = serve_script(&machine, "0", SCRIPT);
    let key = start(&server, &machine, "values");
    turns(&server, &key, 1);
    assert_eq!(set(&server, &key, &json!({"option": "effort", "value": "high"})).status, 200);
    prompt(&server, &key, "leave");
    until("the end of the agent", || (session(&server, &key)["state"] == "failed").then_some(()));
    prompt(&server, &key, "values");
    until("the values of the new agent", || {
        let line = session(&server, &key)["last_line"].as_str()?.to_owned();
        line.contains(r#""effort":"high""#).then_some(())
    });
}
