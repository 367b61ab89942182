//! Pages of a long session, and what they cut.

use std::path::Path;

use serde_json::{Value, json};
use tidings_sessions::Caller;

use super::{SHOP, start, write};

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
