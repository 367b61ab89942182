//! Archived, marked, renamed and deleted sessions, and the scopes for it.

use serde_json::{Value, json};
use tidings_api::Scope;
use tidings_sessions::Caller;

use super::{BLOG, SHOP, sessions_on_disk, start};

#[tokio::test]
async fn a_credential_for_one_folder_sees_no_other() {
    let root = sessions_on_disk();
    let server = start(root.path(), blog_only(&[Scope::Read])).await;
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
