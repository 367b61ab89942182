//! Servers in this process: messages of the CLI in control requests, and the replies.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{PingRequest, ProgressNotificationParam, ServerRequest};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tidings::mcp::{CallToolResult, ContentBlock, Failure, Structured, Tool, ToolServer, rmcp};
use tidings::{Client, ErrorKind, Options};
use tokio::sync::{Notify, mpsc};

use crate::session::cli::{ScriptedCli, session};

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: f64,
    /// The other number.
    b: f64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: f64,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

fn add() -> Tool {
    Tool::new("add", "Adds two numbers", |Add { a, b }| async move { (a + b).to_string() })
}

fn message(server: &str, message: &Value) -> Value {
    json!({"subtype": "mcp_message", "server_name": server, "message": message})
}

fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    let meta = json!({"claudecode/toolUseId": "toolu_1", "progressToken": id});
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    json!({"method": "tools/call", "params": params, "jsonrpc": "2.0", "id": id})
}

fn initialize(id: u64) -> Value {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "claude-code", "title": "Claude Code", "version": "2.1.325"}});
    json!({"method": "initialize", "params": params, "jsonrpc": "2.0", "id": id})
}

impl ScriptedCli {
    /// The server's answer to a message.
    async fn rpc(&mut self, server: &str, said: Value) -> Value {
        self.requests("q", message(server, &said)).await;
        self.receives_mcp("q").await
    }

    async fn receives_mcp(&mut self, id: &str) -> Value {
        let answer = self.receives("control_response").await;
        assert_eq!(answer["response"]["request_id"], id, "{answer}");
        answer["response"]["response"]["mcp_response"].clone()
    }

    /// Initializes the server `calc` as the CLI does.
    async fn greets(&mut self) {
        let answer = self.rpc("calc", initialize(0)).await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.rpc("calc", done).await, json!({"jsonrpc": "2.0", "result": {}, "id": 0}));
    }
}

/// A session with an initialized server `calc`.
async fn calc(tools: impl IntoIterator<Item = Tool>) -> (Client, ScriptedCli) {
    let server = tools.into_iter().fold(ToolServer::new("calc"), ToolServer::tool);
    let (client, mut cli) = session(Options::new().tool_server(server)).await;
    cli.greets().await;
    (client, cli)
}

/// A tool whose call stays open until it is dropped, which sends a message.
fn endless() -> (Tool, mpsc::Receiver<&'static str>) {
    struct Dropped(mpsc::Sender<&'static str>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.try_send("dropped").unwrap();
        }
    }
    let (sender, received) = mpsc::channel(8);
    let tool = Tool::new("endless", "Never ends", move |_: Nothing| {
        let dropped = Dropped(sender.clone());
        async move {
            dropped.0.send("began").await.unwrap();
            std::future::pending::<String>().await
        }
    });
    (tool, received)
}

/// JSON for a snapshot: independent of the features of `serde_json` in a build.
fn pretty(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(&sorted(&serde_json::to_value(value).unwrap())).unwrap()
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            Value::Object(members.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect())
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_says_what_it_has() {
    let add = add().title("Addition").read_only().closed_world().always_load().search_hint("sums");
    let wipe = Tool::new("wipe", "Wipes", |_: Nothing| async { String::new() }).destructive().idempotent();
    let sum = Tool::new("sum", "Adds", |Add { a, b }| async move { Structured(Sum { sum: a + b }) });
    let sum = sum.returns::<Sum>().max_result_chars(100).ends_turn().additive().open_world();
    let server = ToolServer::new("calc").version("2.0.0").instructions("Use `add`.");
    let options = Options::new().tool_server(server.tool(add).tool(wipe).tool(sum));
    let (_client, mut cli) = session(options).await;
    let said = (
        cli.rpc("calc", initialize(0)).await,
        cli.rpc("calc", json!({"method": "tools/list", "jsonrpc": "2.0", "id": 1})).await,
    );
    insta::assert_snapshot!(pretty(&said));
}

#[tokio::test(start_paused = true)]
async fn results_are_text_structure_pictures_or_errors() {
    let sum = |Add { a, b }| async move { Structured(Sum { sum: a + b }) };
    let picture = |_: Nothing| async { ContentBlock::image("aGk=", "image/png") };
    let fails = |_: Nothing| async { Err::<String, _>(Failure::new("No such thing")) };
    let parses = |_: Nothing| async { Ok::<_, Failure>("three".parse::<u8>()?.to_string()) };
    let whole = |_: Nothing| async { CallToolResult::error(vec![ContentBlock::text("Not today")]) };
    let echo = |arguments: serde_json::Map<String, Value>| async { Value::Object(arguments).to_string() };
    let (_client, mut cli) = calc([
        add(),
        Tool::new("sum", "Adds", sum),
        Tool::new("picture", "Draws", picture),
        Tool::new("fails", "Fails", fails),
        Tool::new("parses", "Parses", parses),
        Tool::new("whole", "Says everything itself", whole),
        Tool::with_schema("echo", "Repeats", json!({"type": "object"}).as_object().unwrap().clone(), echo),
    ])
    .await;
    let cases = [
        ("add", json!({"a": 2, "b": 3.5})),
        ("sum", json!({"a": 2, "b": 3})),
        ("picture", json!({})),
        ("fails", json!({})),
        ("parses", json!({})),
        ("whole", json!({})),
        ("echo", json!({"any": [1]})),
    ];
    let mut answers = Vec::new();
    for (at, (tool, arguments)) in cases.iter().enumerate() {
        answers.push((tool, cli.rpc("calc", call(at as u64 + 1, tool, arguments)).await["result"].clone()));
    }
    insta::assert_snapshot!(pretty(&answers));
}

/// Every failure of a call becomes a text for the model, and the server goes on.
#[tokio::test(start_paused = true)]
async fn f70_what_goes_wrong_in_a_tool_is_told_to_the_model() {
    async fn panics(_: Nothing) -> String {
        panic!("a bug in the tool")
    }
    let panics_at_once = |_: Nothing| -> std::future::Ready<String> { panic!("a bug in the tool") };
    let (_client, mut cli) =
        calc([add(), Tool::new("late", "", panics), Tool::new("early", "", panics_at_once)]).await;
    let cases = [
        ("add", json!({"a": 2})),
        ("add", json!({"a": 2, "b": "three"})),
        ("subtract", json!({})),
        ("late", json!({})),
        ("early", json!({})),
    ];
    let mut texts = Vec::new();
    for (at, (tool, arguments)) in cases.iter().enumerate() {
        let answer = cli.rpc("calc", call(at as u64 + 1, tool, arguments)).await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        texts.push(answer["result"]["content"][0]["text"].as_str().unwrap().to_owned());
    }
    insta::assert_snapshot!(pretty(&texts));
    assert_eq!(cli.rpc("calc", call(9, "add", &cases[0].1)).await["id"], 9);
    let unknown = cli.rpc("calc", json!({"method": "moon/phase", "jsonrpc": "2.0", "id": 10})).await;
    assert_eq!((&unknown["error"]["code"], &unknown["id"]), (&json!(-32601), &json!(10)));
    let nonsense = cli.rpc("calc", json!({"jsonrpc": "1.0", "id": 11})).await;
    assert_eq!((&nonsense["error"]["code"], &nonsense["id"]), (&json!(-32600), &json!(11)));
}

/// Calls run concurrently, and each answer belongs to its own request.
#[tokio::test(start_paused = true)]
async fn calls_are_answered_as_they_are_done() {
    let ready = Arc::new(Notify::new());
    let waits = {
        let ready = Arc::clone(&ready);
        Tool::new("waits", "Waits", move |_: Nothing| {
            let ready = Arc::clone(&ready);
            async move {
                ready.notified().await;
                "waited".to_owned()
            }
        })
    };
    let (_client, mut cli) = calc([add(), waits]).await;
    cli.requests("first", message("calc", &call(1, "waits", &json!({})))).await;
    cli.requests("second", message("calc", &call(2, "add", &json!({"a": 1, "b": 1})))).await;
    let second = cli.receives_mcp("second").await;
    assert_eq!((&second["id"], &second["result"]["content"][0]["text"]), (&json!(2), &json!("2")));
    ready.notify_one();
    let first = cli.receives_mcp("first").await;
    assert_eq!((&first["id"], &first["result"]["content"][0]["text"]), (&json!(1), &json!("waited")));
}

/// A call that is cancelled by MCP stops, and its control request does not stay open for ever.
#[tokio::test(start_paused = true)]
async fn a_cancelled_call_stops_and_is_answered() {
    let (endless, mut received) = endless();
    let (_client, mut cli) = calc([endless]).await;
    cli.requests("call", message("calc", &call(1, "endless", &json!({})))).await;
    assert_eq!(received.recv().await, Some("began"));
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    cli.requests("cancel", message("calc", &cancel)).await;
    let mut answers = [cli.receives("control_response").await, cli.receives("control_response").await];
    answers.sort_by_key(|answer| answer["response"]["request_id"].to_string());
    let said = &answers[0]["response"]["response"]["mcp_response"];
    assert_eq!((&said["id"], &said["error"]["message"]), (&json!(1), &json!("The call was cancelled")));
    assert_eq!(received.recv().await, Some("dropped"));

    // Tasks overtake each other: a call that was cancelled before it arrived does not begin.
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}});
    cli.rpc("calc", cancel).await;
    let late = cli.rpc("calc", call(2, "endless", &json!({}))).await;
    assert_eq!(late["error"]["message"], "The call was cancelled");
    assert!(received.try_recv().is_err());
}

/// The control protocol cancels a call in its own way.
#[tokio::test(start_paused = true)]
async fn a_cancelled_control_request_stops_its_call() {
    let (endless, mut received) = endless();
    let (_client, mut cli) = calc([endless, add()]).await;
    cli.requests("call", message("calc", &call(1, "endless", &json!({})))).await;
    assert_eq!(received.recv().await, Some("began"));
    cli.cancels("call").await;
    assert_eq!(received.recv().await, Some("dropped"));
    let next = cli.rpc("calc", call(2, "add", &json!({"a": 1, "b": 1}))).await;
    assert_eq!(next["id"], 2);
}

#[tokio::test(start_paused = true)]
async fn what_a_server_says_by_itself_is_forwarded_in_order() {
    let counts =
        Tool::with_context("counts", "Counts", |_: Nothing, call: RequestContext<RoleServer>| async move {
            let token = call.meta.get_progress_token().unwrap();
            for step in 1..=3_u8 {
                let progress = ProgressNotificationParam::new(token.clone(), f64::from(step));
                call.peer.notify_progress(progress).await.unwrap();
            }
            call.meta.get("claudecode/toolUseId").unwrap().to_string()
        });
    let (_client, mut cli) = calc([counts]).await;
    cli.requests("call", message("calc", &call(7, "counts", &json!({})))).await;
    let mut steps = Vec::new();
    let mut answer = None;
    while steps.len() < 3 || answer.is_none() {
        let line: Value = serde_json::from_str(&cli.peer.line().await.unwrap()).unwrap();
        if line["type"] == "control_response" {
            answer = Some(line);
            continue;
        }
        let request = &line["request"];
        assert_eq!((&request["subtype"], &request["server_name"]), (&json!("mcp_message"), &json!("calc")));
        assert_eq!(request["message"]["method"], "notifications/progress");
        assert_eq!(request["message"]["params"]["progressToken"], 7);
        steps.push(request["message"]["params"]["progress"].clone());
        cli.answers(&line, json!({})).await;
    }
    assert_eq!(steps, [json!(1.0), json!(2.0), json!(3.0)]);
    let text = &answer.unwrap()["response"]["response"]["mcp_response"]["result"]["content"][0]["text"];
    assert_eq!(text, "\"toolu_1\"");
}

/// A request of a server that the CLI refuses fails instead of staying open.
#[tokio::test(start_paused = true)]
async fn a_request_that_does_not_arrive_is_refused() {
    let asks =
        Tool::with_context("asks", "Asks", |_: Nothing, call: RequestContext<RoleServer>| async move {
            let ping = ServerRequest::PingRequest(PingRequest::default());
            call.peer.send_request(ping).await?;
            Ok::<_, Failure>("answered".to_owned())
        });
    let (_client, mut cli) = calc([asks]).await;
    cli.requests("call", message("calc", &call(1, "asks", &json!({})))).await;
    let request = cli.receives_request("mcp_message").await;
    assert_eq!(request["request"]["message"]["method"], "ping");
    cli.refuses(&request, "There is no ping", "unsupported_request").await;
    let answer = cli.receives_mcp("call").await;
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(answer["result"]["isError"] == true && text.contains("There is no ping"), "{answer}");
}

/// A server as rmcp's macros make it.
#[derive(Default)]
struct Counter {
    count: std::sync::atomic::AtomicU32,
}

#[tool_router]
impl Counter {
    #[tool(description = "Counts up")]
    async fn count(&self) -> String {
        (self.count.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1).to_string()
    }

    #[tool(description = "Has a bug")]
    async fn bug(&self) -> String {
        panic!("a bug in the server")
    }
}

#[tool_handler(name = "counter")]
impl ServerHandler for Counter {}

/// Several servers, several sessions: rmcp's own servers are shared, and connections are not. A panic is an
/// error.
#[tokio::test(start_paused = true)]
async fn f70_an_rmcp_server_works_as_it_is() {
    let options = Options::new()
        .mcp_service("counter", Counter::default())
        .tool_server(ToolServer::new("calc").tool(add()));
    let (_one, mut first) = session(options.clone()).await;
    let (_two, mut second) = session(options).await;
    for cli in [&mut first, &mut second] {
        cli.greets().await;
        assert_eq!(cli.rpc("counter", initialize(0)).await["result"]["serverInfo"]["name"], "counter");
    }
    let count = |answer: Value| answer["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert_eq!(count(first.rpc("counter", call(1, "count", &json!({}))).await), "1");
    assert_eq!(count(second.rpc("counter", call(1, "count", &json!({}))).await), "2");
    let bug = first.rpc("counter", call(2, "bug", &json!({}))).await;
    assert_eq!((&bug["error"]["code"], &bug["id"]), (&json!(-32603), &json!(2)));
    // The CLI reconnects, and numbers its requests from the start.
    assert_eq!(first.rpc("counter", initialize(0)).await["id"], 0);
    assert_eq!(count(first.rpc("counter", call(1, "count", &json!({}))).await), "3");
    second.requests("q", message("moon", &initialize(0))).await;
    assert_eq!(
        second.receives("control_response").await["response"]["error"],
        "SDK MCP server not found: moon"
    );
}

/// Calls in a server end with the session, even if nothing ever wakes them.
#[tokio::test(start_paused = true)]
async fn nothing_of_a_server_outlives_its_session() {
    let (endless, mut received) = endless();
    let (client, cli) = calc([endless]).await;
    cli.requests("call", message("calc", &call(1, "endless", &json!({})))).await;
    assert_eq!(received.recv().await, Some("began"));
    cli.exits(0).await;
    client.ended().await.unwrap();
    let dropped = tokio::time::timeout(Duration::from_secs(1), received.recv()).await;
    assert_eq!(dropped, Ok(Some("dropped")));
}

/// The manifest of a server is sent in the handshake, and then its first message may be a call.
#[tokio::test(start_paused = true)]
async fn a_server_that_was_described_beforehand_is_called_at_once() {
    let server = ToolServer::new("calc").tool(add()).timeout(Duration::from_secs(5));
    let options = Options::new().tool_server(server);
    let initialize = options.plan().unwrap().initialize;
    let manifest = &initialize.sdk_mcp_server_manifests.unwrap()["calc"];
    let said: Value = serde_json::from_str(manifest.initialize_result.raw().as_str()).unwrap();
    assert_eq!(said["protocolVersion"], "2025-11-25");
    let tools: Value =
        serde_json::from_str(manifest.tools_list_result.as_ref().unwrap().raw().as_str()).unwrap();
    assert_eq!(tools["tools"][0]["name"], "add");
    assert_eq!(initialize.sdk_mcp_server_configs.unwrap()["calc"].timeout, Some(5000));
    let (_client, mut cli) = session(options).await;
    let answer = cli.rpc("calc", call(0, "add", &json!({"a": 1, "b": 1}))).await;
    assert_eq!(answer["result"]["content"][0]["text"], "2");
}

#[test]
fn servers_that_make_no_sense_are_refused_before_the_start() {
    #[derive(Deserialize, JsonSchema)]
    struct Word(#[expect(dead_code, reason = "only its shape matters")] String);
    let word = Tool::new("word", "", |_: Word| async { String::new() });
    let cases = [
        (ToolServer::new("calc").tool(add()).tool(add()), "`add`"),
        (ToolServer::new("calc").tool(word), "`word`"),
        (ToolServer::new("calc").tool(Tool::new("a b", "", |_: Nothing| async { String::new() })), "`a b`"),
    ];
    for (server, named) in cases {
        let error = Options::new().tool_server(server).plan().unwrap_err();
        assert!(error.kind() == ErrorKind::Invalid && error.to_string().contains(named), "{error}");
    }
}
