//! A request that is pending while its server is killed, under a host that keeps its agent.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tidings_bridge::auth::read_admin_token;
use tidings_bridge::server::choose_tls;

use super::browser::Browser;
use super::test_server::{ASKS, PATIENCE, until};
use crate::outlive::{ServerProcess, agents, server};

/// A server in a process of its own.
struct Served {
    process: ServerProcess,
    address: String,
    admin: String,
}

impl Served {
    fn start(folder: &Path) -> Served {
        drop(std::fs::remove_file(folder.join("address")));
        let mut process = server("served", folder);
        let began = Instant::now();
        let address = loop {
            if let Ok(address) = std::fs::read_to_string(folder.join("address")) {
                break address;
            }
            assert!(process.0.try_wait().unwrap().is_none(), "{}", log(folder));
            assert!(began.elapsed() < PATIENCE, "{}", log(folder));
            std::thread::sleep(Duration::from_millis(10));
        };
        let admin = read_admin_token(&folder.join("data")).unwrap().unwrap().reveal().to_owned();
        Served { process, address, admin }
    }

    async fn request(&self, token: &str, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let url = format!("http://{}{path}", self.address);
        let request = reqwest::Client::new().request(method.parse().unwrap(), url).bearer_auth(token);
        let request = match body {
            Some(body) => request.json(&body),
            None => request,
        };
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        (status, serde_json::from_str(&response.text().await.unwrap()).unwrap_or_default())
    }

    async fn first_after(&self, seconds: u64) {
        let (_, mut settings) = self.request(&self.admin, "GET", "/v1/notify/settings", None).await;
        settings["first_after_s"] = seconds.into();
        settings["details"] = true.into();
        assert_eq!(self.request(&self.admin, "PUT", "/v1/notify/settings", Some(settings)).await.0, 200);
    }

    async fn item(&self, query: &str) -> Value {
        let path = format!("/v1/inbox?{query}");
        let look = async || self.request(&self.admin, "GET", &path, None).await.1["items"].get(0).cloned();
        until(look, Option::is_some).await.unwrap()
    }
}

fn log(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("log")).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_of_a_killed_server_is_pushed_by_the_next_one_and_its_agent_gets_the_answer() {
    // The client needs a TLS provider even without TLS.
    choose_tls();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    std::fs::write(folder.join("script.toml"), ASKS).unwrap();
    let first = Served::start(&folder);
    // Long enough that the first server is killed before it sends anything.
    first.first_after(3600).await;
    let mut browser = Browser::start(1).await;
    let wanted = json!({"name": "phone", "scopes": ["read", "decide"]});
    let (_, made) = first.request(&first.admin, "POST", "/v1/devices", Some(wanted)).await;
    let token = made["token"].as_str().unwrap().to_owned();
    let (status, state) = first.request(&token, "PUT", "/v1/push", Some(browser.subscription())).await;
    assert_eq!((status, &state["subscribed"]), (200, &true.into()), "{state}");
    let new = json!({"cwd": folder.to_str().unwrap(), "prompt": "Make it"});
    let (status, session) = first.request(&first.admin, "POST", "/v1/sessions", Some(new)).await;
    assert!(status < 300, "{session}");
    let item = first.item("state=waiting").await;
    let agent = agents(&folder);
    assert_eq!(agent.len(), 1, "{}", log(&folder));
    let mut process = first.process;
    process.0.kill().unwrap();
    process.0.wait().unwrap();
    assert!(browser.try_next().is_none(), "nothing was sent before the kill");

    let second = Served::start(&folder);
    assert_eq!(agents(&folder), agent, "the agent lives: {}", log(&folder));
    assert_eq!(second.item("state=waiting").await["id"], item["id"]);
    second.first_after(1).await;
    let pushed = browser.next().await;
    assert_eq!((&pushed.message["id"], &pushed.message["kind"]), (&item["id"], &"permission".into()));
    let act = json!({"token": pushed.message["actions"]["token"], "decision": "allow"});
    let (status, result) = second.request(&token, "POST", "/v1/inbox/act", Some(act)).await;
    assert_eq!((status, &result["outcome"]), (200, &"allowed".into()), "{result}");
    let finished = second.item("kind=finished").await;
    assert_eq!(finished["line"], "The secret thing is made.", "{}", log(&folder));
    // The host ends with its session; the folder is removed after that.
    let key = item["session"].as_str().unwrap();
    let stop = format!("/v1/sessions/{key}/stop");
    assert!(second.request(&second.admin, "POST", &stop, Some(json!({}))).await.0 < 300);
}
