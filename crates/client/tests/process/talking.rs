//! Whole conversations with the stand-in.

use serde_json::json;
use tidings::hooks::{HookOutput, PostToolUse, PreToolUse};
use tidings::messages::{ContentBlock, Message};
use tidings::permissions::PermissionMode;
use tidings::{
    AllowAll, Decision, DenyAll, Hook, HookCall, Interrupted, Options, PermissionAsk, Prompt, TurnOutcome,
    query, query_stream,
};

use crate::stage::Stage;

const HELLO: &str = "[[turn]]\ntext = \"Hello!\"\nrepeat = true\n";

const TOOL: &str = r#"
[[turn]]
[[turn.block]]
tool = "Bash"
input = { command = "ls" }
ask = true
result = "README.md"

[[turn]]
text = "There is a README."
repeat = true
"#;

/// The first example of the crate's documentation.
#[tokio::test]
async fn a_query_is_answered() {
    let stage = Stage::playing(HELLO);
    let mut answer = query("hi", stage.options());
    let mut texts = Vec::new();
    let mut ended = false;
    while let Some(message) = answer.next().await {
        let message = message.unwrap();
        texts.extend(message.content_blocks().iter().filter_map(ContentBlock::as_text).map(str::to_owned));
        ended |= matches!(message, Message::Result(_));
    }
    assert_eq!((texts, ended), (vec!["Hello!".to_owned()], true));
}

/// Prompts of a stream are answered in order, and then the session ends.
#[tokio::test]
async fn s0_37_a_stream_of_prompts_is_answered() {
    let stage = Stage::playing(HELLO);
    let prompts = futures_util::stream::iter(["one", "two"]).map_prompts();
    let mut answers = query_stream(prompts, stage.options());
    let mut results = 0;
    while let Some(message) = answers.next().await {
        results += usize::from(matches!(message.unwrap(), Message::Result(_)));
    }
    assert!((1..=2).contains(&results), "{results}");
    let mut nothing =
        query_stream(futures_util::stream::iter(Vec::<&str>::new()).map_prompts(), stage.options());
    assert!(nothing.next().await.is_none());
}

trait MapPrompts {
    fn map_prompts(self) -> impl futures_util::Stream<Item = Prompt> + Send + 'static;
}

impl<S: futures_util::Stream<Item = &'static str> + Send + 'static> MapPrompts for S {
    fn map_prompts(self) -> impl futures_util::Stream<Item = Prompt> + Send + 'static {
        futures_util::StreamExt::map(self, Prompt::from)
    }
}

/// A handler decides, and the decision reaches the model.
#[tokio::test]
async fn a_permission_is_asked_for_and_decided() {
    for (allow, expected) in [(true, "README.md"), (false, "No tool may run here")] {
        let stage = Stage::playing(TOOL);
        let options = if allow {
            stage.options().on_permission(AllowAll)
        } else {
            stage.options().on_permission(DenyAll)
        };
        let client = tidings::Client::connect(options).await.unwrap();
        let mut turn = client.send("look").await.unwrap();
        let mut results = String::new();
        while let Some(message) = turn.next().await {
            if let Message::User(user) = message.unwrap() {
                results.push_str(&serde_json::to_string(&user.message.content).unwrap());
            }
        }
        assert!(results.contains(expected), "{results}");
        assert!(turn.finish().await.unwrap().is_success());
        client.close().await.unwrap();
    }
}

/// A handler that calls the client does not block the session.
#[tokio::test]
async fn a_handler_may_change_the_mode_while_it_decides() {
    let stage = Stage::playing(TOOL);
    let options = stage.options().on_permission(|ask: PermissionAsk| async move {
        let changed = ask.client().set_permission_mode(PermissionMode::ACCEPT_EDITS).await;
        if changed.is_ok() { Decision::allow() } else { Decision::deny("the mode did not change") }
    });
    let client = tidings::Client::connect(options).await.unwrap();
    let end = client.send("look").await.unwrap().finish().await.unwrap();
    assert!(end.is_success() && end.text().contains("README"), "{end:?}");
}

/// Hooks are called before and after a tool, and the first can change its input.
#[tokio::test]
async fn hooks_are_called_around_a_tool() {
    let stage = Stage::playing(TOOL);
    let (sender, mut called) = tokio::sync::mpsc::channel(8);
    let after = sender.clone();
    let before = Hook::on(move |call: HookCall<PreToolUse>| {
        let sender = sender.clone();
        async move {
            sender.send(format!("before {}", call.event.tool_name)).await.unwrap();
            HookOutput::updated_input(json!({"command": "ls -a"}))
        }
    });
    let after = Hook::on(move |call: HookCall<PostToolUse>| {
        let sender = after.clone();
        async move {
            sender.send(format!("after {}", call.event.tool_name)).await.unwrap();
            HookOutput::default()
        }
    });
    let options = stage.options().hook(before.matching("Bash")).hook(after).on_permission(AllowAll);
    let client = tidings::Client::connect(options).await.unwrap();
    client.send("look").await.unwrap().finish().await.unwrap();
    assert_eq!(called.recv().await.as_deref(), Some("before Bash"));
    assert_eq!(called.recv().await.as_deref(), Some("after Bash"));
}

/// D1: a hook that replaces the input decides nothing; the permission handler is called with the new input.
#[tokio::test]
async fn d1_a_hook_that_changes_the_input_does_not_allow_the_call() {
    // The hook's output, the inputs that the handler was called with, and whether the handler's refusal
    // counts.
    let cases = [
        (HookOutput::updated_input(json!({"command": "ls -a"})), vec![r#"{"command":"ls -a"}"#], true),
        (HookOutput::allow_with(json!({"command": "ls -a"})), vec![], false),
    ];
    for (output, asked, refused) in cases {
        let stage = Stage::playing(TOOL);
        let hook = Hook::on(move |_: HookCall<PreToolUse>| std::future::ready(output.clone()));
        let (sender, mut asks) = tokio::sync::mpsc::channel(8);
        let options = stage.options().hook(hook).on_permission(move |ask: PermissionAsk| {
            sender.try_send(ask.call.input().unwrap().to_string()).unwrap();
            std::future::ready(Decision::deny("No tool may run here"))
        });
        let client = tidings::Client::connect(options).await.unwrap();
        let mut turn = client.send("look").await.unwrap();
        let mut results = String::new();
        while let Some(message) = turn.next().await {
            if let Message::User(user) = message.unwrap() {
                results.push_str(&serde_json::to_string(&user.message.content).unwrap());
            }
        }
        client.close().await.unwrap();
        drop(client);
        let mut seen = Vec::new();
        while let Ok(input) = asks.try_recv() {
            seen.push(input);
        }
        assert_eq!(seen, asked);
        assert_eq!(results.contains("No tool may run here"), refused, "{results}");
    }
}

/// D8: the stand-in checks structured output as the CLI does: the model gets an error, and fails for good
/// after five attempts.
#[tokio::test]
async fn d8_the_stand_in_checks_structured_output() {
    let call = |input: &str| {
        format!("[[turn]]\nrepeat = true\n[[turn.block]]\ntool = \"StructuredOutput\"\ninput = {input}\n")
    };
    let schema = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
        "properties": {"count": {"type": "integer"}}, "required": ["count"]});
    let misfit = call(r#"{ count = "four" }"#);
    let fits = call("{ count = 4 }");
    for (script, expected) in [
        (misfit.replace("repeat = true\n", "") + &fits, Ok(4)),
        (misfit, Err(TurnOutcome::Failed(tidings::Outcome::StructuredOutput))),
    ] {
        let stage = Stage::playing(&script);
        let client = tidings::Client::connect(stage.options().output_schema(schema.clone())).await.unwrap();
        let mut turn = client.send("count").await.unwrap();
        let mut results = String::new();
        while let Some(message) = turn.next().await {
            if let Message::User(user) = message.unwrap() {
                results.push_str(&serde_json::to_string(&user.message.content).unwrap());
            }
        }
        let end = turn.finish().await.unwrap();
        client.close().await.unwrap();
        assert!(results.contains("/count: must be integer"), "{results}");
        let count = end.structured_output().and_then(|output| output.get("count")?.u64());
        assert_eq!(count.ok_or(end.outcome), expected);
        if expected.is_err() {
            assert!(end.error_text().unwrap().contains("after 5 attempts"), "{end:?}");
        }
    }
}

/// F50: an interrupt stops the turn and not the session.
#[tokio::test]
async fn f50_a_second_prompt_is_answered_after_an_interrupt() {
    let script = "[[turn]]\ntext = \"a very long story\"\npace = { chunk_chars = 1, chunk_delay_ms = 200 }\n\
                  [[turn]]\ntext = \"short\"\nrepeat = true\n";
    let stage = Stage::playing(script);
    let client = tidings::Client::connect(stage.options().include_partial_messages()).await.unwrap();
    let turn = client.send("talk").await.unwrap();
    assert!(matches!(client.interrupt().await.unwrap(), Interrupted::Stopping(_)));
    let end = turn.finish().await.unwrap();
    assert_eq!((end.outcome, end.error_text()), (TurnOutcome::Cancelled, None));
    let end = client.send("again").await.unwrap().finish().await.unwrap();
    assert_eq!(end.text(), "short");
    assert!(client.close().await.unwrap().is_success());
}

/// Requests get their typed replies from the stand-in.
#[tokio::test]
async fn requests_are_answered() {
    let stage = Stage::playing(HELLO);
    let client = tidings::Client::connect(stage.options()).await.unwrap();
    assert!(!client.info().models.is_empty());
    client.set_model(Some("haiku")).await.unwrap();
    client.set_permission_mode(PermissionMode::PLAN).await.unwrap();
    client.mcp_status().await.unwrap();
    client.context_usage(None).await.unwrap();
    client.rename_session("a title").await.unwrap();
    let error = client.request_untyped("no_such_request", json!({}).into()).await.unwrap_err();
    assert_eq!(error.kind(), tidings::ErrorKind::Control);
    client.close().await.unwrap();
}

/// A session can be resumed from its file.
#[tokio::test]
async fn a_session_can_be_resumed() {
    let stage = Stage::playing(HELLO);
    let client = tidings::Client::connect(stage.options()).await.unwrap();
    let end = client.send("remember").await.unwrap().finish().await.unwrap();
    let id = end.result.as_ref().unwrap().session_id().unwrap().into_owned();
    client.close().await.unwrap();
    let client = tidings::Client::connect(stage.options().resume(&id)).await.unwrap();
    let end = client.send("and on").await.unwrap().finish().await.unwrap();
    assert_eq!(end.result.as_ref().unwrap().session_id().unwrap(), id);
    let options = Options::new().program(stage.program()).resume("00000000-0000-4000-8000-000000000000");
    let failed = async { tidings::Client::connect(options).await?.send("x").await?.finish().await };
    match failed.await {
        Ok(end) => assert!(end.error_text().unwrap().contains("No conversation found"), "{end:?}"),
        Err(error) => assert!(error.to_string().contains("No conversation found"), "{error}"),
    }
}
