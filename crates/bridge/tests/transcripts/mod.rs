//! Sessions on disk over HTTP.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod changes;
mod paging;
mod server_sessions;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tidings_bridge::api::Transcripts;
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
