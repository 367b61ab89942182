//! The past sessions of an agent.

use serde_json::{Value, json};
use tidings_acp::adapter::{Listing, ListingResult, ListingSettings, PastSession};
use tidings_acp::limits::{LIST_PAGES_MAX, LISTED_TEXT_CHARS_MAX};

fn listing(limit: usize) -> Listing {
    Listing::new(ListingSettings { name: "sample".to_owned(), limit, ..ListingSettings::default() })
}

/// Answers the only request that is open, and returns it.
fn answer(listing: &mut Listing, result: &Value) -> Value {
    let lines = listing.lines();
    let [line] = lines.as_slice() else { panic!("not one request: {lines:?}") };
    let request: Value = serde_json::from_str(line).unwrap();
    listing.from_agent(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string());
    request
}

fn described(capabilities: &Value) -> Value {
    json!({"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": capabilities}})
}

#[test]
fn pages_are_read_until_there_are_enough_sessions_and_the_rest_has_a_cursor() {
    let mut listing = listing(3);
    assert_eq!(answer(&mut listing, &described(&json!({"list": {}})))["method"], "initialize");
    let page = |ids: [&str; 2], next: &str| {
        let sessions =
            ids.map(|id| json!({"sessionId": id, "cwd": "/a", "updatedAt": "2026-11-01T00:00:00Z"}));
        json!({"sessions": sessions, "nextCursor": next})
    };
    let first = answer(&mut listing, &page(["a", "b"], "2"));
    assert_eq!((&first["method"], &first["params"]), (&json!("session/list"), &json!({})));
    let second = answer(&mut listing, &page(["c", "d"], "4"));
    assert_eq!(second["params"], json!({"cursor": "2"}));
    let Some(ListingResult::Sessions(found)) = listing.result() else { panic!("{listing:?}") };
    let ids: Vec<&str> = found.items.iter().map(|session| session.id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c", "d"], "pages are not divided");
    assert_eq!(found.next.as_deref(), Some("4"));
    assert!(listing.lines().is_empty(), "nothing more is asked for");
}

/// opencode 1.18 lists the sessions of the folder that it was started in.
#[test]
fn an_agent_that_lists_nothing_is_asked_for_the_sessions_of_the_folder() {
    let settings = ListingSettings { limit: 1, folder: Some("/a".to_owned()), ..ListingSettings::default() };
    let mut asked = Listing::new(settings.clone());
    answer(&mut asked, &described(&json!({"list": {}})));
    assert_eq!(answer(&mut asked, &json!({"sessions": []}))["params"], json!({}));
    let page = json!({"sessions": [{"sessionId": "a", "cwd": "/a"}], "nextCursor": "1"});
    assert_eq!(answer(&mut asked, &page)["params"], json!({"cwd": "/a"}));
    let Some(ListingResult::Sessions(found)) = asked.result() else { panic!("{asked:?}") };
    assert_eq!(found.items[0].id, "a");
    // The next page is one of the folder, too.
    let mut again = Listing::new(ListingSettings { cursor: found.next.clone(), ..settings });
    answer(&mut again, &described(&json!({"list": {}})));
    assert_eq!(answer(&mut again, &json!({"sessions": []}))["params"], json!({"cwd": "/a", "cursor": "1"}));
    assert!(matches!(again.result(), Some(ListingResult::Sessions(rest)) if rest.items.is_empty()));
}

#[test]
fn an_agent_without_the_capability_is_not_asked() {
    let mut listing = listing(10);
    answer(&mut listing, &described(&json!({"resume": {}})));
    assert_eq!(listing.result(), Some(&ListingResult::Unsupported));
    assert!(listing.lines().is_empty());
}

#[test]
fn the_end_and_the_errors_of_an_agent_are_reported_with_its_name() {
    let mut ended = listing(10);
    ended.agent_ended("with exit code 3: no licence");
    let why = "sample ended with exit code 3: no licence".to_owned();
    assert_eq!(ended.result(), Some(&ListingResult::Failed(why)));

    let mut refused = listing(10);
    refused.from_agent(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"broken"}}"#);
    assert_eq!(
        refused.result(),
        Some(&ListingResult::Failed("sample: The request failed: broken".to_owned()))
    );
    refused.agent_ended("with exit code 0");
    assert!(matches!(refused.result(), Some(ListingResult::Failed(why)) if why.contains("broken")));
}

#[test]
fn lists_that_no_agent_should_send_are_bounded() {
    let mut listing = listing(10);
    answer(&mut listing, &described(&json!({"list": {}})));
    let lines = listing.lines();
    listing.from_agent("not json");
    listing.from_agent(r#"{"jsonrpc":"2.0","method":"session/update","params":{}}"#);
    listing.from_agent(r#"{"jsonrpc":"2.0","id":"x","method":"fs/read_text_file","params":{"path":"/etc"}}"#);
    let refusal: Value = serde_json::from_str(&listing.lines()[0]).unwrap();
    assert_eq!(refusal["error"]["code"], -32601, "no session is open, so no file is read");
    let request: Value = serde_json::from_str(&lines[0]).unwrap();
    let long = "x".repeat(10_000);
    let sessions = json!([
        {"sessionId": "../../etc", "cwd": "/a"}, {"sessionId": "", "cwd": "/a"}, {"cwd": "/a"}, 7, null,
        {"sessionId": "good", "cwd": "/a", "title": long, "updatedAt": 7},
    ]);
    let page = json!({"sessions": sessions, "nextCursor": "again"});
    listing.from_agent(&json!({"jsonrpc": "2.0", "id": request["id"], "result": page}).to_string());
    let mut pages = 1;
    while listing.result().is_none() {
        answer(&mut listing, &json!({"sessions": [], "nextCursor": "again"}));
        pages += 1;
    }
    assert_eq!(pages, LIST_PAGES_MAX, "an endless list ends");
    let Some(ListingResult::Sessions(found)) = listing.result() else { panic!("{listing:?}") };
    let title = Some("x".repeat(LISTED_TEXT_CHARS_MAX));
    let good = PastSession { id: "good".to_owned(), cwd: "/a".to_owned(), title, updated: None };
    assert_eq!(found.items, [good]);
}
