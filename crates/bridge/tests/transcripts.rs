//! Sessions on disk over HTTP.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tidings_api::Scope;
use tidings_bridge::api::Transcripts;
use tidings_journal::{Class, Draft, Key, Kind, NewSession, SessionChange};
use tidings_protocol::ui::{PermissionResolved, Resolution, UiMessage};
use tidings_sessions::Caller;
use tidings_sessions::archive::Archive;
use tidings_transcript::list::{self, ListFilter};
use tidings_transcript::roots::Roots;

use crate::test_server::{Builder, TestClock, TestServer};

const SHOP: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const BLOG: &str = "bbbbbbbb-0000-4000-8000-000000000002";
const NOW: &str = "2026-11-15T12:00:00Z";

/// A configuration folder with two sessions; the one of the shop has two branches.
fn sessions_on_disk() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let prompt = |session: &str, cwd: &str, uuid: &str, parent: Value, text: &str| {
        json!({"type":"user","uuid":uuid,"parentUuid":parent,"sessionId":session,"cwd":cwd,"version":"2.1.0",
            "timestamp":"2026-11-14T09:00:00.000Z","isSidechain":false,"userType":"external",
            "message":{"role":"user","content":text}})
    };
    let answer = |session: &str, cwd: &str, uuid: &str, parent: &str, text: &str| {
        json!({"type":"assistant","uuid":uuid,"parentUuid":parent,"sessionId":session,"cwd":cwd,"version":"2.1.0",
            "timestamp":"2026-11-14T09:00:05.000Z","isSidechain":false,"userType":"external","requestId":uuid,
            "message":{"id":format!("msg_{uuid}"),"type":"message","role":"assistant","model":"claude-sonnet-4-5",
                "content":[{"type":"text","text":text}],"stop_reason":"end_turn","stop_sequence":null,
                "usage":{"input_tokens":1000,"output_tokens":100}}})
    };
    let (shop, blog) = ("/home/dev/shop", "/home/dev/blog");
    write(
        root.path(),
        "-home-dev-shop",
        SHOP,
        &[
            prompt(SHOP, shop, "u1", Value::Null, "Mend the till"),
            answer(SHOP, shop, "a1", "u1", "The till is mended."),
            prompt(SHOP, shop, "u2", json!("a1"), "Paint it red"),
            answer(SHOP, shop, "a2", "u2", "It is red now."),
            prompt(SHOP, shop, "u3", json!("a1"), "Paint it blue"),
            answer(SHOP, shop, "a3", "u3", "It is blue now."),
        ],
    );
    write(
        root.path(),
        "-home-dev-blog",
        BLOG,
        &[
            prompt(BLOG, blog, "v1", Value::Null, "Write about tills"),
            answer(BLOG, blog, "b1", "v1", "A till is a drawer for money."),
        ],
    );
    root
}

fn write(root: &Path, folder: &str, id: &str, lines: &[Value]) {
    let folder = root.join("projects").join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    std::fs::write(folder.join(format!("{id}.jsonl")), lines.join("\n") + "\n").unwrap();
}

/// The API over the sessions in a configuration folder. Every request comes from `caller`.
fn over(builder: Builder, root: &Path, caller: Caller) -> Builder {
    let root = root.to_owned();
    builder.api_for(
        move |_| Some(caller.clone()),
        move |api| {
            let clock = TestClock::at(NOW).clock();
            api.transcripts = Transcripts::new(vec![root.clone()], None, clock, TimeZone::UTC);
            let (folder, config_dir) = (root.join("archive"), root.clone());
            api.archive = Some(Archive { folder, config_dir, bytes_max: 1 << 20 });
        },
    )
}

async fn start(root: &Path, caller: Caller) -> TestServer {
    over(TestServer::builder(), root, caller).start().await
}

/// A session of the server that has used a session of the CLI, with these totals and events.
async fn server_session(cli_session: &str, cwd: &str, totals: Value, events: &[UiMessage]) -> TestServer {
    let server = TestServer::builder().start().await;
    let journal = server.journal();
    let key = Key::new("till").unwrap();
    let settings = json!({"totals": totals, "launch": {"model": "claude-sonnet-4-5"}}).to_string();
    let row = NewSession { settings, ..NewSession::new(key.clone(), cwd, NOW.parse().unwrap()) };
    journal.create(row).await.unwrap();
    let fence = journal.claim(&key).await.unwrap();
    let change = SessionChange { cli_session: Some(cli_session.to_owned()), ..SessionChange::default() };
    journal.update(&key, fence, change).await.unwrap();
    let draft = |event: &UiMessage| {
        let body = serde_json::to_vec(event).unwrap();
        Draft::new(Class::Durable, NOW.parse().unwrap(), Kind::new("PermissionResolved").unwrap(), body)
    };
    journal.append(&key, fence, events.iter().map(draft).collect()).await.unwrap();
    server
}

/// A compaction leaves no line in the file, and the agent has reported it.
#[tokio::test]
async fn p39_the_history_and_the_sums_show_the_cost_that_the_session_shows() {
    let root = sessions_on_disk();
    // Three responses of 1,000 tokens at $3 and 100 at $15 per million.
    let (listed, all) = (0.0135, 0.0835);
    let totals = json!({"turns": 3, "cost_usd": all, "input_tokens": 0, "output_tokens": 0});
    let used = server_session(SHOP, "/home/dev/shop", totals, &[]).await;
    let compacted = over(used.again(), root.path(), Caller::admin("me")).start().await;
    let plain = start(root.path(), Caller::admin("me")).await;
    let is = |value: &Value, expected: f64| {
        let found = value.as_f64().unwrap_or_else(|| panic!("{value}"));
        assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
    };
    for (server, of_shop) in [(&plain, listed), (&compacted, all)] {
        let (_, list) = server.get("", "/v1/transcripts").await;
        let items = list["items"].as_array().unwrap();
        is(&items.iter().find(|item| item["id"] == SHOP).unwrap()["cost_usd"], of_shop);
        is(&items.iter().find(|item| item["id"] == BLOG).unwrap()["cost_usd"], 0.0045);
        let (_, cost) = server.get("", "/v1/transcripts/cost?by=session").await;
        let rows = cost["rows"].as_array().unwrap();
        is(&rows.iter().find(|row| row["key"] == SHOP).unwrap()["cost_usd"], of_shop);
        is(&cost["total"]["cost_usd"], of_shop + 0.0045);
        let (_, summary) = server.get("", "/v1/transcripts/summary").await;
        is(&summary["month_cost_usd"], of_shop + 0.0045);
    }
}

/// The file has the input that the model asked for.
#[tokio::test]
async fn p37_a_session_on_disk_shows_the_input_that_ran() {
    let root = tempfile::tempdir().unwrap();
    let entry = |kind: &str, uuid: &str, parent: Value, content: Value| {
        json!({"type":kind,"uuid":uuid,"parentUuid":parent,"sessionId":SHOP,"cwd":"/home/dev/shop","version":"2.1.0",
            "timestamp":"2026-11-14T09:00:00.000Z","isSidechain":false,"message":{"role":kind,"content":content}})
    };
    let call = json!([{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"rm -rf build"}}]);
    let result = json!([{"type":"tool_result","tool_use_id":"toolu_1","content":"would remove build"}]);
    let lines = [
        entry("user", "u1", Value::Null, json!("Clean up")),
        entry("assistant", "a1", json!("u1"), call),
        entry("user", "u2", json!("a1"), result),
    ];
    write(root.path(), "-home-dev-shop", SHOP, &lines);
    let mut answer = PermissionResolved::new(1, "toolu_1", Resolution::Allowed);
    answer.updated_input = Some(json!({"command": "echo would remove build"}));
    let totals = json!({"turns": 0, "cost_usd": 0.0, "input_tokens": 0, "output_tokens": 0});
    let used = server_session(SHOP, "/home/dev/shop", totals, &[answer.into()]).await;
    let server = over(used.again(), root.path(), Caller::admin("me")).start().await;
    for path in ["events", "calls/toolu_1"] {
        let (status, shown) = server.get("", &format!("/v1/transcripts/{SHOP}/{path}")).await;
        assert_eq!(status, 200, "{shown}");
        let events = shown["events"].as_array().unwrap();
        let resolved: Vec<&Value> =
            events.iter().filter_map(|event| event.get("PermissionResolved")).collect();
        assert_eq!(resolved.len(), 1, "{path}: {shown}");
        assert_eq!(resolved[0]["updated_input"]["command"], "echo would remove build", "{path}");
    }
}

#[tokio::test]
async fn p41_the_input_that_ran_is_found_at_its_call() {
    let root = sessions_on_disk();
    let call = json!({"type":"assistant","uuid":"c1","parentUuid":Value::Null,"sessionId":BLOG,"cwd":"/home/dev/blog",
        "message":{"role":"assistant","content":[
            {"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"rm -rf build"}}]}});
    write(root.path(), "-home-dev-blog", BLOG, &[call]);
    // A fork that the CLI made keeps the ids of its calls.
    let mut answer = PermissionResolved::new(1, "toolu_1", Resolution::Allowed);
    answer.updated_input = Some(json!({"command": "ls build"}));
    let totals = json!({"turns": 0, "cost_usd": 0.0, "input_tokens": 0, "output_tokens": 0});
    let used = server_session(SHOP, "/home/dev/shop", totals, &[answer.into()]).await;

    let server = over(used.again(), root.path(), Caller::admin("me")).start().await;
    let (status, hits) = server.get("", "/v1/transcripts/search?q=ls%20build").await;
    assert_eq!(status, 200, "{hits}");
    let hit = &hits["items"][0];
    assert_eq!(
        (&hit["text"], &hit["tool"], &hit["uuid"]),
        (&json!("ls build"), &json!("Bash"), &json!("c1")),
        "{hits}"
    );
    // A caller who may not see the session does not see its inputs.
    let other = Caller { folders: vec!["/home/dev/shop".to_owned()], ..Caller::admin("me") };
    let server = over(used.again(), root.path(), other).start().await;
    let (_, hits) = server.get("", "/v1/transcripts/search?q=ls%20build").await;
    assert_eq!(hits["items"], json!([]));
}

#[tokio::test]
async fn sessions_are_listed_as_the_command_lists_them_and_in_pages() {
    let root = sessions_on_disk();
    let server = start(root.path(), Caller::admin("me")).await;
    let (status, all) = server.get("", "/v1/transcripts").await;
    assert_eq!(status, 200, "{all}");
    let items = all["items"].as_array().unwrap();
    let found = Roots::new([root.path()]).scan().unwrap();
    let rows = list::list(&found.sessions, &ListFilter::default());
    assert_eq!(items.len(), rows.len());
    for (item, (_, row)) in items.iter().zip(&rows) {
        let mut printed = serde_json::to_value(row).unwrap();
        // The API leaves out the path, which has no meaning on another machine.
        printed.as_object_mut().unwrap().remove("path").unwrap();
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
        assert_eq!(keys(item), keys(&printed));
        assert_eq!(item["id"], printed["id"]);
        assert_eq!(item["modified"], printed["modified"]);
    }
    let shop = items.iter().find(|item| item["id"] == SHOP).unwrap();
    assert_eq!((&shop["turns"], &shop["branches"]), (&json!(3), &json!(1)), "{shop}");
    assert!(shop["cost_usd"].as_f64().unwrap() > 0.0);

    let (_, first) = server.get("", "/v1/transcripts?limit=1").await;
    let next = first["next"].as_str().unwrap();
    assert_eq!((&first["items"][0]["id"], &first["prev"]), (&items[0]["id"], &Value::Null));
    let (_, second) = server.get("", &format!("/v1/transcripts?limit=1&after={next}")).await;
    assert_eq!((&second["items"][0]["id"], &second["next"]), (&items[1]["id"], &Value::Null));
    let prev = second["prev"].as_str().unwrap();
    let (_, back) = server.get("", &format!("/v1/transcripts?limit=1&before={prev}")).await;
    assert_eq!(back["items"], first["items"]);
    let (status, gone) = server.get("", "/v1/transcripts?after=unknown").await;
    assert_eq!((status, &gone["code"]), (410, &json!("gone")));
}

#[tokio::test]
async fn one_session_is_given_as_events_of_its_active_branch_or_of_another() {
    let root = sessions_on_disk();
    let server = start(root.path(), Caller::admin("me")).await;
    let texts = |answer: &Value| -> Vec<String> {
        let events = answer["events"].as_array().unwrap().iter();
        events.filter_map(|event| Some(event["TextChunk"]["text"].as_str()?.to_owned())).collect()
    };
    let (status, active) = server.get("", &format!("/v1/transcripts/{SHOP}/events")).await;
    assert_eq!(status, 200, "{active}");
    assert_eq!(texts(&active), ["The till is mended.", "It is blue now."]);
    assert_eq!((&active["from"], &active["more"]), (&json!(1), &json!(false)));
    assert_eq!(active["transcript"]["id"], SHOP);

    let (_, branches) = server.get("", &format!("/v1/transcripts/{SHOP}/branches")).await;
    let branches = branches["items"].as_array().unwrap();
    let told: Vec<_> = branches.iter().map(|it| (&it["state"], &it["leaf"])).collect();
    assert_eq!(told, [(&json!("active"), &json!("a3")), (&json!("abandoned"), &json!("a2"))]);
    assert_eq!((&branches[1]["fork"], &branches[1]["prompt"]), (&json!("a1"), &json!("Paint it red")));
    let (_, other) = server.get("", &format!("/v1/transcripts/{SHOP}/events?leaf=a2")).await;
    assert_eq!(texts(&other), ["The till is mended.", "It is red now."]);

    let (_, tail) = server.get("", &format!("/v1/transcripts/{SHOP}/events?limit=9")).await;
    assert_eq!(texts(&tail), ["It is blue now."], "{tail}");
    assert_eq!(tail["more"], true);
    let before = tail["from"].as_u64().unwrap();
    let (_, head) = server.get("", &format!("/v1/transcripts/{SHOP}/events?before={before}")).await;
    assert_eq!((texts(&head), &head["more"]), (vec!["The till is mended.".to_owned()], &json!(false)));
}

/// A session with tool results that are longer than a page, on both branches, after a prompt that is longer
/// than a page.
fn long_results(root: &Path) -> String {
    let output: String = (1..=20_000).fold(String::new(), |text, n| text + &format!("line {n}\n"));
    let line = |kind: &str, uuid: &str, parent: Value, content: Value| {
        json!({"type":kind,"uuid":uuid,"parentUuid":parent,"sessionId":SHOP,"cwd":"/home/dev/shop","version":"2.1.0",
            "timestamp":"2026-11-14T09:00:00.000Z","isSidechain":false,"userType":"external",
            "message":{"role":kind,"id":format!("msg_{uuid}"),"type":"message","model":"claude-sonnet-4-5",
                "content":content,"usage":{"input_tokens":1,"output_tokens":1}}})
    };
    let call = |id: &str| json!([{"type":"tool_use","id":id,"name":"Bash","input":{"command":"make"}}]);
    let result = |uuid: &str, parent: &str, id: &str| {
        let content =
            json!([{"type":"tool_result","tool_use_id":id,"content":output.as_str(),"is_error":false}]);
        let mut line = line("user", uuid, json!(parent), content);
        line["toolUseResult"] =
            json!({"stdout":output.as_str(),"stderr":"","interrupted":false,"isImage":false});
        line
    };
    write(
        root,
        "-home-dev-shop",
        SHOP,
        &[
            line("user", "u0", Value::Null, json!("Look at this: ".repeat(30_000))),
            line("user", "u1", json!("u0"), json!("Make it")),
            line("assistant", "a1", json!("u1"), call("toolu_left")),
            result("r1", "a1", "toolu_left"),
            line("user", "u2", json!("u1"), json!("Make it again")),
            line("assistant", "a2", json!("u2"), call("toolu_right")),
            result("r2", "a2", "toolu_right"),
        ],
    );
    output
}

#[tokio::test]
async fn results_that_a_page_cuts_are_returned_whole() {
    let root = tempfile::tempdir().unwrap();
    let output = long_results(root.path());
    let server = start(root.path(), Caller::admin("me")).await;
    let results = |answer: &Value| -> Vec<String> {
        let events = answer["events"].as_array().unwrap().iter();
        events.filter_map(|event| Some(event["ToolCompleted"]["result"].as_str()?.to_owned())).collect()
    };
    let (_, short) = server.get("", &format!("/v1/transcripts/{SHOP}/events")).await;
    let shown = results(&short);
    assert!(shown[0].starts_with("line 1\n") && shown[0].ends_with("\nline 20000\n"), "{shown:?}");
    assert!(shown[0].len() <= 8 << 10);
    let (_, whole) = server.get("", &format!("/v1/transcripts/{SHOP}/events?results=whole")).await;
    assert_eq!(results(&whole), [output.as_str()]);

    for id in ["toolu_left", "toolu_right"] {
        let (status, call) = server.get("", &format!("/v1/transcripts/{SHOP}/calls/{id}")).await;
        assert_eq!((status, &call["tool_use_id"]), (200, &json!(id)), "{call}");
        assert_eq!(results(&call), [output.as_str()], "on whatever branch it is");
        let events = call["events"].as_array().unwrap();
        assert_eq!(events[0]["ToolExecuting"]["input"]["command"], "make");
        let details = events.iter().find_map(|event| event["ToolDetails"]["tool_use_result"].as_object());
        assert_eq!(details.unwrap()["stdout"], output);
    }
    let (status, problem) = server.get("", &format!("/v1/transcripts/{SHOP}/calls/toolu")).await;
    assert_eq!((status, &problem["code"]), (404, &json!("not_found")));
    let (status, _) = server.get("", &format!("/v1/transcripts/{SHOP}/events?results=some")).await;
    assert_eq!(status, 400);
}

/// Events only mention attachments. The server does not fetch images from URLs.
#[tokio::test]
async fn the_attachments_of_a_prompt_are_returned_whole() {
    let root = tempfile::tempdir().unwrap();
    let picture =
        |data: &str| json!({"type":"image","source":{"type":"base64","media_type":"image/png","data":data}});
    let line = |uuid: &str, parent: Value, more: Value| {
        let mut line = json!({"type":"user","uuid":uuid,"parentUuid":parent,"sessionId":SHOP,"cwd":"/home/dev/shop",
            "version":"2.1.0","timestamp":"2026-11-14T09:00:00.000Z","isSidechain":false,"userType":"external"});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line
    };
    let said = json!([picture("Zmlyc3Q="),
        {"type":"document","title":"bill.pdf","source":{"type":"base64","media_type":"application/pdf","data":"YmlsbA=="}},
        {"type":"document","title":"a.txt","source":{"type":"text","media_type":"text/plain","data":"AB"}},
        {"type":"image","source":{"type":"url","url":"http://127.0.0.1:1/elsewhere.png"}},
        {"type":"text","text":"What is this?"}]);
    let between = json!({"type":"queued_command","commandMode":"prompt","source_uuid":"sent",
        "prompt":[picture("c2Vjb25k"), {"type":"text","text":"And this?"}]});
    write(
        root.path(),
        "-home-dev-shop",
        SHOP,
        &[
            line("u1", Value::Null, json!({"message":{"role":"user","content":said}})),
            line("q1", json!("u1"), json!({"type":"attachment","attachment":between})),
            line("u2", json!("q1"), json!({"message":{"role":"user","content":"Nothing with it"}})),
        ],
    );
    let server = start(root.path(), Caller::admin("me")).await;
    let first = json!({"media_type":"image/png","data":"Zmlyc3Q="});
    let bill = json!({"media_type":"application/pdf","data":"YmlsbA==","name":"bill.pdf"});
    let notes = json!({"media_type":"text/plain","data":"QUI=","name":"a.txt"});
    let second = json!({"media_type":"image/png","data":"c2Vjb25k"});
    for (uuid, attachments) in [
        ("u1", json!([first, bill, notes])),
        ("q1", json!([second])),
        ("sent", json!([second])),
        ("u2", json!([])),
    ] {
        let (status, prompt) = server.get("", &format!("/v1/transcripts/{SHOP}/prompts/{uuid}")).await;
        assert_eq!((status, prompt), (200, json!({"uuid": uuid, "attachments": attachments})));
    }
    let (status, problem) = server.get("", &format!("/v1/transcripts/{SHOP}/prompts/u9")).await;
    assert_eq!((status, &problem["code"]), (404, &json!("not_found")));
    let elsewhere = Caller { folders: vec!["/srv".into()], ..Caller::admin("me") };
    let server = start(root.path(), elsewhere).await;
    assert_eq!(server.get("", &format!("/v1/transcripts/{SHOP}/prompts/u1")).await.0, 404);
}

/// An event can be longer than a page; paging back must still get past it.
#[tokio::test]
async fn paging_gets_past_a_prompt_that_is_longer_than_a_page() {
    let root = tempfile::tempdir().unwrap();
    long_results(root.path());
    let server = start(root.path(), Caller::admin("me")).await;
    for results in ["short", "whole"] {
        let mut path = format!("/v1/transcripts/{SHOP}/events?results={results}");
        let mut prompts = Vec::new();
        for _ in 0..20 {
            let (status, page) = server.get("", &path).await;
            assert_eq!(status, 200, "{page}");
            let said = |event: &Value| Some(event["UserPrompt"]["text"].as_str()?.len());
            prompts.extend(page["events"].as_array().unwrap().iter().rev().filter_map(said));
            if page["more"] == false {
                break;
            }
            path = format!("/v1/transcripts/{SHOP}/events?results={results}&before={}", page["from"]);
        }
        assert_eq!(prompts, [13, 7, 14 * 30_000], "{results}");
    }
}

/// An id from a client is only compared with the names of files that were found, and never opened.
#[tokio::test]
async fn f126_an_id_cannot_leave_the_folder() {
    let root = sessions_on_disk();
    std::fs::write(root.path().join("secret.jsonl"), "{}").unwrap();
    let server = start(root.path(), Caller::admin("me")).await;
    let path = root.path().join("secret.jsonl").display().to_string();
    for id in ["../secret", "secret.jsonl", &path, &SHOP[..8], "", "%00"] {
        let id = id.bytes().map(|byte| format!("%{byte:02x}")).collect::<Vec<_>>().concat();
        for rest in ["", "/events", "/branches", "/calls/x", "/prompts/x"] {
            let answer = server.http.get(server.url(&format!("/v1/transcripts/{id}{rest}")));
            let status = answer.send().await.unwrap().status().as_u16();
            assert!((400..405).contains(&status) || id.is_empty(), "{id}{rest}: {status}");
        }
    }
}

#[tokio::test]
async fn text_is_found_with_its_place() {
    let root = sessions_on_disk();
    let server = start(root.path(), Caller::admin("me")).await;
    let (status, hits) = server.get("", "/v1/transcripts/search?q=till&role=assistant").await;
    assert_eq!(status, 200, "{hits}");
    let items = hits["items"].as_array().unwrap();
    assert_eq!(items.len(), 2, "{hits}");
    for hit in items {
        let units: Vec<u16> = hit["text"].as_str().unwrap().encode_utf16().collect();
        let place = |key: &str| usize::try_from(hit[key].as_u64().unwrap()).unwrap();
        assert_eq!(String::from_utf16(&units[place("start")..place("end")]).unwrap(), "till");
        assert_eq!(hit["role"], "assistant");
    }
    let (_, one) = server.get("", "/v1/transcripts/search?q=till&limit=1").await;
    assert_eq!((one["items"].as_array().unwrap().len(), &one["more"]), (1, &json!(true)));
    let (status, wrong) = server.get("", "/v1/transcripts/search?q=(&regex=true").await;
    assert_eq!((status, &wrong["code"]), (400, &json!("invalid")));
}

#[tokio::test]
async fn figures_and_dollars_are_those_of_the_commands() {
    let root = sessions_on_disk();
    let server = start(root.path(), Caller::admin("me")).await;
    let (_, stats) = server.get("", "/v1/transcripts/stats").await;
    assert_eq!((&stats["sessions"], &stats["turns"], &stats["branches"]), (&json!(2), &json!(4), &json!(1)));
    let (_, report) = server.get("", "/v1/transcripts/cost?by=project").await;
    assert_eq!(report["total"]["responses"], 4, "{report}");
    let keys: Vec<_> = report["rows"].as_array().unwrap().iter().map(|row| row["key"].clone()).collect();
    assert_eq!(keys, ["/home/dev/shop", "/home/dev/blog"], "the dearest first");
    let (_, day) = server.get("", "/v1/transcripts/cost?since=2026-11-14&until=2026-11-14&tz=UTC").await;
    assert_eq!(day["rows"][0]["key"], "2026-11-14", "{day}");
    for wrong in ["tz=Nowhere", "since=yesterday", "by=mood", "since=2026-11-14&until=2026-11-13"] {
        let (code, problem) = server.get("", &format!("/v1/transcripts/cost?{wrong}")).await;
        assert_eq!((code, &problem["code"]), (400, &json!("invalid")), "{wrong}");
    }
}

#[tokio::test]
async fn the_summary_says_what_the_cli_will_delete_within_a_week() {
    let root = sessions_on_disk();
    let age = |id: &str, folder: &str, days: u64| {
        let now: SystemTime = NOW.parse::<jiff::Timestamp>().unwrap().into();
        let path = root.path().join("projects").join(folder).join(format!("{id}.jsonl"));
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(now - Duration::from_secs(days * 24 * 60 * 60)).unwrap();
    };
    age(SHOP, "-home-dev-shop", 25);
    age(BLOG, "-home-dev-blog", 1);
    let server = start(root.path(), Caller::admin("me")).await;
    let (status, summary) = server.get("", "/v1/transcripts/summary").await;
    assert_eq!(status, 200, "{summary}");
    assert_eq!((&summary["sessions"], &summary["projects"]), (&json!(2), &json!(2)));
    assert_eq!((&summary["cleanup_days"], &summary["cleanup_sessions"]), (&json!(30), &json!(1)));
    assert_eq!(
        (&summary["month"], summary["month_cost_usd"].as_f64() > Some(0.0)),
        (&json!("2026-11"), true)
    );
}

#[tokio::test]
async fn a_machine_without_sessions_has_an_empty_list() {
    let server = start(Path::new("/nowhere/at/all"), Caller::admin("me")).await;
    let (status, list) = server.get("", "/v1/transcripts").await;
    assert_eq!((status, &list["items"]), (200, &json!([])));
    let (status, summary) = server.get("", "/v1/transcripts/summary").await;
    assert_eq!((status, &summary["sessions"]), (200, &json!(0)));
}

#[tokio::test]
async fn a_credential_for_one_folder_sees_no_other() {
    let root = sessions_on_disk();
    let caller = Caller {
        name: "phone".to_owned(),
        device: Some("d1".to_owned()),
        scopes: [Scope::Read].into_iter().collect(),
        folders: vec!["/home/dev/blog".to_owned()],
    };
    let server = start(root.path(), caller).await;
    let (_, list) = server.get("", "/v1/transcripts").await;
    assert_eq!((list["items"].as_array().unwrap().len(), &list["items"][0]["id"]), (1, &json!(BLOG)));
    let (status, _) = server.get("", &format!("/v1/transcripts/{SHOP}/events")).await;
    assert_eq!(status, 404);
    let (_, hits) = server.get("", "/v1/transcripts/search?q=till").await;
    assert!(hits["items"].as_array().unwrap().iter().all(|hit| hit["session"] == BLOG));
    let (_, report) = server.get("", "/v1/transcripts/cost?by=session").await;
    assert_eq!(report["total"]["responses"], 1);
    let (_, summary) = server.get("", "/v1/transcripts/summary").await;
    assert_eq!(summary["sessions"], 1);
}

fn blog_only(scopes: &[Scope]) -> Caller {
    Caller {
        name: "phone".to_owned(),
        device: Some("d1".to_owned()),
        scopes: scopes.iter().copied().collect(),
        folders: vec!["/home/dev/blog".to_owned()],
    }
}

#[tokio::test]
async fn an_archived_session_is_listed_read_searched_and_removed() {
    let root = sessions_on_disk();
    let server = start(root.path(), Caller::admin("me")).await;
    let (_, none) = server.call("POST", "/v1/archive", Some(json!({}))).await;
    assert_eq!(none["archived"], 0, "none of them is about to be deleted: {none}");
    let (_, all) = server.call("POST", "/v1/archive", Some(json!({"which": "all"}))).await;
    assert_eq!((&all["archived"], &all["failed"]), (&json!(2), &json!(0)));

    // Claude Code deletes one of them.
    std::fs::remove_file(root.path().join(format!("projects/-home-dev-blog/{BLOG}.jsonl"))).unwrap();
    let (_, list) = server.get("", "/v1/archive").await;
    let blog = list["items"].as_array().unwrap().iter().find(|item| item["session"] == BLOG).unwrap();
    assert_eq!((&blog["title"], &blog["cwd"]), (&json!("Write about tills"), &json!("/home/dev/blog")));
    assert_eq!((&blog["on_disk"], &list["cleanup_days"]), (&Value::Null, &json!(30)));
    assert!(list["items"].as_array().unwrap().iter().any(|item| item["on_disk"] == true));
    let (_, hits) = server.get("", "/v1/transcripts/search?q=drawer").await;
    assert_eq!((&hits["items"][0]["session"], &hits["items"][0]["archived"]), (&json!(BLOG), &json!(true)));
    let (_, hits) = server.get("", "/v1/transcripts/search?q=till&limit=100").await;
    let archived = hits["items"].as_array().unwrap().iter().filter(|hit| hit["archived"] == true);
    assert_eq!(archived.count(), 2, "a session that is still on disk is found there: {hits}");
    for _ in 0..2 {
        let (status, events) = server.get("", &format!("/v1/transcripts/{BLOG}/events")).await;
        assert_eq!((status, &events["transcript"]["archived"]), (200, &json!(true)), "{events}");
        assert!(events.to_string().contains("A till is a drawer for money."));
        let names = ["UserPrompt", "TextChunk"];
        let with_times = events["events"].as_array().unwrap().iter().zip(events["times"].as_array().unwrap());
        let of_messages = with_times.filter(|(event, _)| names.iter().any(|name| !event[name].is_null()));
        let times: Vec<_> = of_messages.map(|(_, at)| at.as_str().unwrap()).collect();
        let expected = ["2026-11-14T09:00:00.000Z", "2026-11-14T09:00:05.000Z"];
        assert_eq!(times, expected, "of the prompt and of its answer");
    }
    let (status, _) = server.get("", &format!("/v1/transcripts/{BLOG}/branches")).await;
    assert_eq!(status, 200);

    // A credential for a folder sees the copies of its sessions, and archives none.
    let phone = start(root.path(), blog_only(&[Scope::Read, Scope::Admin])).await;
    let (_, list) = phone.get("", "/v1/archive").await;
    assert_eq!((list["items"].as_array().unwrap().len(), &list["items"][0]["session"]), (1, &json!(BLOG)));
    assert_eq!(phone.call("POST", "/v1/archive", Some(json!({}))).await.0, 403);
    assert_eq!(phone.call("DELETE", &format!("/v1/archive/{SHOP}"), Some(json!({}))).await.0, 404);

    assert_eq!(server.call("DELETE", &format!("/v1/archive/{BLOG}"), Some(json!({}))).await.0, 204);
    assert_eq!(server.get("", &format!("/v1/transcripts/{BLOG}/events")).await.0, 404);
    assert_eq!(server.get("", &format!("/v1/transcripts/{SHOP}/events")).await.0, 200);
}

#[tokio::test]
async fn marks_of_sessions_are_kept_for_callers_who_see_them_and_need_the_scope_prompt() {
    let root = sessions_on_disk();
    let server = start(root.path(), Caller::admin("me")).await;
    let (status, none) = server.get("", "/v1/marks").await;
    assert_eq!((status, &none["items"]), (200, &json!([])));
    let path = format!("/v1/marks/{SHOP}");
    let (status, marks) = server.call("PATCH", &path, Some(json!({"pinned": true, "seen": 7}))).await;
    assert_eq!((status, marks), (200, json!({"session": SHOP, "pinned": true, "seen": 7})));
    let (_, marks) = server.call("PATCH", &path, Some(json!({"archived": true}))).await;
    assert_eq!(marks, json!({"session": SHOP, "pinned": true, "archived": true, "seen": 7}));
    let (_, marks) = server.call("PATCH", &path, Some(json!({"pinned": false}))).await;
    assert_eq!(marks, json!({"session": SHOP, "archived": true, "seen": 7}));
    let (_, list) = server.get("", "/v1/marks").await;
    assert_eq!((&list["items"], &list["since"]), (&json!([marks]), &none["since"]));
    assert_eq!(server.call("PATCH", "/v1/marks/nothing", Some(json!({"pinned": true}))).await.0, 404);

    let phone = start(root.path(), blog_only(&[Scope::Read, Scope::Prompt])).await;
    assert_eq!(phone.call("PATCH", &path, Some(json!({"pinned": true}))).await.0, 404, "it does not see it");
    let blog = format!("/v1/marks/{BLOG}");
    assert_eq!(phone.call("PATCH", &blog, Some(json!({"pinned": true}))).await.0, 200);
    let reader = start(root.path(), blog_only(&[Scope::Read])).await;
    assert_eq!(reader.call("PATCH", &blog, Some(json!({"pinned": true}))).await.0, 403);
}

#[tokio::test]
async fn a_session_on_disk_is_renamed_and_deleted_with_the_scopes_of_other_sessions() {
    let root = sessions_on_disk();
    let path = format!("/v1/transcripts/{SHOP}");
    let reader = Caller { folders: Vec::new(), ..blog_only(&[Scope::Read]) };
    let reader = start(root.path(), reader).await;
    assert_eq!(reader.call("PATCH", &path, Some(json!({"title": "Mine"}))).await.0, 403);
    let writer = Caller { folders: Vec::new(), ..blog_only(&[Scope::Read, Scope::Prompt]) };
    let writer = start(root.path(), writer).await;
    let (status, renamed) = writer.call("PATCH", &path, Some(json!({"title": " The red till "}))).await;
    assert_eq!((status, &renamed["title"]), (200, &json!("The red till")));
    assert_eq!(writer.call("PATCH", &path, Some(json!({"title": " "}))).await.0, 400);
    assert_eq!(writer.call("DELETE", &path, Some(json!({}))).await.0, 403);
    let phone = start(root.path(), blog_only(&[Scope::Read, Scope::Prompt, Scope::Admin])).await;
    assert_eq!(phone.call("PATCH", &path, Some(json!({"title": "Mine"}))).await.0, 404);
    assert_eq!(phone.call("DELETE", &path, Some(json!({}))).await.0, 404);

    let server = start(root.path(), Caller::admin("me")).await;
    // A process that runs has it open.
    let running = root.path().join("sessions");
    std::fs::create_dir_all(&running).unwrap();
    let file = running.join(format!("{}.json", std::process::id()));
    let process = json!({"pid": std::process::id(), "sessionId": SHOP, "cwd": "/home/dev/shop"});
    std::fs::write(&file, process.to_string()).unwrap();
    let (status, problem) = server.call("DELETE", &path, Some(json!({}))).await;
    assert_eq!((status, &problem["code"]), (409, &json!("conflict")), "{problem}");
    std::fs::remove_file(file).unwrap();
    assert_eq!(server.call("DELETE", &path, Some(json!({}))).await.0, 204);
    assert_eq!(server.call("DELETE", &path, Some(json!({}))).await.0, 404);
    assert_eq!(server.get("", "/v1/transcripts").await.1["items"].as_array().unwrap().len(), 1);
}
