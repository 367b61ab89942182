//! Folders that are replaced after a session was created in them.

use std::os::unix::fs::symlink;
use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};

use crate::api::server::{TestServer, until};

const HELLO: &str = "[[turn]]\ntext = \"Hello to you.\"\nrepeat = true\n";

/// Replaces a folder by a link.
fn replace_by_link(folder: &Path, target: &Path) {
    std::fs::rename(folder, folder.with_extension("old")).unwrap();
    symlink(target, folder).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k10_a_folder_that_was_replaced_by_a_link_is_neither_worked_in_nor_shown() {
    let builder = TestServer::builder().api().session("/");
    let root = builder.root();
    for name in ["allowed/project", "allowed/more", "outside"] {
        std::fs::create_dir_all(root.join(name)).unwrap();
    }
    std::fs::write(root.join("outside/secret.txt"), "x").unwrap();
    let builder = builder.script(HELLO).config(|config| config.roots = vec![root.join("allowed")]);
    let server = builder.start().await;
    let send = |method: Method, path: String, body: Value| {
        server.send(server.http.request(method, server.url(&path)).bearer_auth("admin").json(&body))
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
        let look = async || {
            let (_, view) = send(Method::GET, at.clone(), json!(null)).await;
            assert_ne!(view["state"], "idle", "the agent was started");
            view
        };
        let view = until(look, |view| view["state"] == "failed").await;
        assert!(view["error"].as_str().unwrap().contains(swapped), "{view}");
        std::fs::remove_file(folder(swapped)).unwrap();
        std::fs::rename(folder(swapped).with_extension("old"), folder(swapped)).unwrap();
    }
}

/// A folder with projects, sensitive folders, files and links.
fn home(root: &Path) {
    for name in [
        "home/shop/.git",
        "home/.ssh",
        "home/.cache",
        "home/secrets",
        "home/Tokenizer",
        "home/docs/deep",
        "outside/private",
    ] {
        std::fs::create_dir_all(root.join(name)).unwrap();
    }
    std::fs::write(root.join("home/notes.txt"), "x").unwrap();
    symlink(root.join("outside"), root.join("home/way-out")).unwrap();
    symlink(root.join("home/docs/deep"), root.join("home/shortcut")).unwrap();
    symlink(root.join("home/.ssh"), root.join("home/keys")).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p26_folders_are_listed_below_the_allowed_ones_and_no_others() {
    let builder = TestServer::builder().api().session("/");
    let root = builder.root();
    home(&root);
    let path = |name: &str| root.join(name).to_str().unwrap().to_owned();
    let builder = builder.config(|config| {
        config.roots = vec![root.join("home")];
        config.environment.push(("HOME".to_owned(), path("home")));
    });
    let server = builder.start().await;
    let get = async |token: &str, query: &str| server.get(token, &format!("/v1/folders{query}")).await;
    let names = |list: &Value| -> Vec<String> {
        list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["name"].as_str().unwrap().to_owned())
            .collect()
    };

    let (status, start) = get("prompt", "").await;
    assert_eq!(
        (status, &start["items"][0]["path"], start.get("path")),
        (200, &path("home").into(), None),
        "{start}"
    );
    let (status, list) = get("prompt", "?path=~").await;
    assert_eq!(
        (status, names(&list)),
        (200, ["docs", "shop", "shortcut", "Tokenizer"].map(str::to_owned).to_vec()),
        "{list}"
    );
    assert_eq!(
        (&list["path"], list.get("parent"), &list["more"]),
        (&path("home").into(), None, &false.into())
    );
    assert_eq!((&list["items"][1]["git"], list["items"][0].get("git")), (&true.into(), None));
    assert_eq!(list["items"][2]["path"], path("home/docs/deep"), "a link leads to its target");
    let (_, below) = get("prompt", "?path=~/docs").await;
    assert_eq!((names(&below), &below["parent"]), (vec!["deep".to_owned()], &path("home").into()));
    assert_eq!(names(&get("prompt", "?path=~&q=SHO").await.1), ["shop", "shortcut"]);

    for (query, status, code) in [
        (format!("?path={}", path("outside")), 403, "outside_roots"),
        ("?path=~/way-out".to_owned(), 403, "outside_roots"),
        ("?path=~/../outside".to_owned(), 403, "outside_roots"),
        (format!("?path={}", path("outside/missing")), 403, "outside_roots"),
        ("?path=~/.ssh".to_owned(), 403, "forbidden"),
        ("?path=~/keys".to_owned(), 403, "forbidden"),
        ("?path=~/missing".to_owned(), 400, "invalid"),
        ("?path=~/notes.txt".to_owned(), 400, "invalid"),
        ("?path=home".to_owned(), 400, "invalid"),
        ("?path=~root".to_owned(), 400, "invalid"),
    ] {
        let (found, problem) = get("prompt", &query).await;
        assert_eq!((found, &problem["code"]), (status, &code.into()), "{query}: {problem}");
    }
    assert_eq!(get("read", "?path=~").await.0, 403, "it needs the scope `prompt`");

    // A credential that is limited to a folder sees that one only.
    let limited = format!("prompt:{}", path("home/docs"));
    let (_, start) = get(&limited, "").await;
    assert_eq!((names(&start), start.get("home")), (vec![path("home/docs")], None));
    assert_eq!(get(&limited, "?path=~").await.1["code"], "forbidden");
    assert_eq!(get(&limited, "?path=~/docs").await.1.get("parent"), None);

    // A session is started in what was chosen.
    let new = reqwest::Client::new().post(server.url("/v1/sessions")).bearer_auth("prompt");
    let (status, session) = server.send(new.json(&json!({"cwd": "~/shop"}))).await;
    assert_eq!((status, &session["cwd"]), (201, &path("home/shop").into()), "{session}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p26_a_long_list_of_folders_is_cut_and_says_so() {
    let builder = TestServer::builder().api().session("/");
    let root = builder.root();
    for number in 0..510 {
        std::fs::create_dir(root.join(format!("project-{number:03}"))).unwrap();
    }
    let builder = builder.config(|config| {
        config.environment.push(("HOME".to_owned(), root.to_str().unwrap().to_owned()));
    });
    let server = builder.start().await;
    // Without any limit the home folder is listed.
    let (_, list) = server.get("prompt", "/v1/folders").await;
    assert_eq!((list["items"].as_array().unwrap().len(), &list["more"]), (500, &true.into()));
    assert_eq!(list["items"][499]["name"], "project-499");
    let (_, rest) = server.get("prompt", "/v1/folders?q=project-50").await;
    assert_eq!((rest["items"].as_array().unwrap().len(), &rest["more"]), (10, &false.into()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k32_a_refused_folder_is_named_as_it_was_sent_and_not_where_its_links_lead() {
    let builder = TestServer::builder().api().session("/");
    let root = builder.root();
    home(&root);
    symlink(root.join("home/shop"), root.join("home/docs/elsewhere")).unwrap();
    let builder = builder.config(|config| {
        config.environment.push(("HOME".to_owned(), root.join("home").to_str().unwrap().to_owned()));
    });
    let server = builder.start().await;
    let limited = format!("prompt:{}", root.join("home/docs").display());
    for (token, named, target) in [
        ("prompt", "home/keys", "home/.ssh"),
        (limited.as_str(), "home/docs/elsewhere", "home/shop"),
        (limited.as_str(), "home/way-out", "outside"),
    ] {
        let [named, target] = [named, target].map(|name| root.join(name).to_str().unwrap().to_owned());
        let new = reqwest::Client::new().post(server.url("/v1/sessions")).bearer_auth(token);
        let (listed, created) = (
            server.get(token, &format!("/v1/folders?path={named}")).await,
            server.send(new.json(&json!({"cwd": named}))).await,
        );
        assert_eq!(listed.0, 403, "{}", listed.1);
        for (_, answer) in [listed, created].iter().filter(|(status, _)| *status == 403) {
            let detail = answer["detail"].as_str().unwrap();
            assert!(detail.contains(&named) && !detail.contains(&target), "{detail}");
        }
    }
}
