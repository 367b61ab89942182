//! Folders that are replaced after a session was created in them.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use futures_util::FutureExt as _;
use reqwest::Method;
use serde_json::{Value, json};
use tidings_bridge::MemoryJournal;

use crate::api::server::{PATIENCE, Server, opening};
use crate::stand_in;

const HELLO: &str = "[[turn]]\ntext = \"Hello to you.\"\nrepeat = true\n";

/// Replaces a folder by a link.
fn replace_by_link(folder: &Path, target: &Path) {
    std::fs::rename(folder, folder.with_extension("old")).unwrap();
    symlink(target, folder).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k10_a_folder_that_was_replaced_by_a_link_is_neither_worked_in_nor_shown() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    for name in ["allowed/project", "allowed/more", "outside"] {
        std::fs::create_dir_all(root.join(name)).unwrap();
    }
    std::fs::write(root.join("outside/secret.txt"), "x").unwrap();
    let carrier = stand_in::playing(HELLO, &root);
    let allowed = root.join("allowed");
    let set = |config: &mut tidings_bridge::sessions::Config| {
        config.carrier = carrier;
        config.roots = vec![allowed];
    };
    let server = Server::with(Arc::new(MemoryJournal::new(&opening())), "/", set).await;
    let http = reqwest::Client::new();
    let send = |method: Method, path: String, body: Value| {
        server.send(http.request(method, server.url(&path)).bearer_auth("admin").json(&body))
    };
    // The replaced folder and the target of the link: outside of the allowed folders, or another allowed one.
    for (swapped, target) in [("project", "outside"), ("more", "outside"), ("project", "allowed/other")] {
        std::fs::create_dir_all(root.join(target)).unwrap();
        let folder = |name: &str| root.join("allowed").join(name);
        let new = json!({"cwd":folder("project"),"add_dirs":[folder("more")]});
        let (status, session) = send(Method::POST, "/v1/sessions".to_owned(), new).await;
        assert_eq!(status, 201, "{session}");
        let at = format!("/v1/sessions/{}", session["handle"]);
        let (status, _) = send(Method::GET, format!("{at}/files"), json!(null)).await;
        assert_eq!(status, 200);
        replace_by_link(&folder(swapped), &root.join(target));
        for route in ["files", "diff"] {
            let (status, answer) = send(Method::GET, format!("{at}/{route}"), json!(null)).await;
            assert!(!answer.to_string().contains("secret"), "{answer}");
            let is_refused = answer["code"] == "outside_roots" && status == 403;
            assert_eq!(is_refused, swapped == "project", "{route}: {status} {answer}");
        }
        let (status, _) = send(Method::POST, format!("{at}/input"), json!({"content":"hi"})).await;
        assert_eq!(status, 202);
        let failed = async {
            loop {
                let (_, view) = send(Method::GET, at.clone(), json!(null)).await;
                if view["state"] == "failed" {
                    return view;
                }
                assert_ne!(view["state"], "idle", "the agent was started");
                tokio::task::yield_now().await;
            }
        };
        let view = tokio::time::timeout(PATIENCE, failed.boxed()).await.unwrap();
        assert!(view["error"].as_str().unwrap().contains(swapped), "{view}");
        std::fs::remove_file(folder(swapped)).unwrap();
        std::fs::rename(folder(swapped).with_extension("old"), folder(swapped)).unwrap();
    }
}
