//! Those who answer what the CLI asks: as the plan says, and written down.

use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};
use tidings::control::{ElicitationAnswer, HookCallback};
use tidings::hooks::{HookEvent, HookEventInput, HookInput, HookOutput};
use tidings::mcp::{Failure, Tool, ToolServer};
use tidings::permissions::{Allow, Deny};
use tidings::{Decision, ElicitationAsk, Hook, HookCall, Options, PermissionAsk};

use crate::log::Log;
use crate::plan::{HookPlan, Permission, PermissionAnswer, Plan, ToolPlan};
use crate::show::{parsed, to_value};

pub(crate) fn add(mut options: Options, plan: &Plan, log: &Log) -> Options {
    if !plan.permissions.is_empty() {
        options = options.on_permission(permissions(plan.permissions.clone(), log.clone()));
    }
    for hook in &plan.hooks {
        options = options.hook(hook_of(hook.clone(), log.clone()));
    }
    for (name, tools) in &plan.tools {
        let tools = tools.iter().map(|tool| tool_of(tool.clone(), log.clone()));
        options = options.tool_server(tools.fold(ToolServer::new(name), ToolServer::tool));
    }
    if let Some(answer) = plan.elicitation.clone() {
        let log = log.clone();
        options = options.on_elicitation(move |ask: ElicitationAsk| {
            log.call(&json!({"type": "elicitation", "asked": to_value(&ask.call)}));
            let answer =
                serde_json::from_value(answer.clone()).unwrap_or_else(|_| ElicitationAnswer::decline());
            async move { answer }
        });
    }
    options
}

/// The answers of a plan, each used up by one question but for the last.
fn permissions(
    answers: Vec<Permission>,
    log: Log,
) -> impl Fn(PermissionAsk) -> futures_util::future::BoxFuture<'static, Decision> {
    let answers = Mutex::new(answers);
    move |ask| {
        log.call(&question(&ask));
        let answer = answers.lock().map_or(None, |mut answers| take(&mut answers, &ask.call.tool_name));
        Box::pin(async move {
            match answer {
                Some(PermissionAnswer::Allow(members)) => allow(members, &ask),
                Some(PermissionAnswer::Deny(members)) => {
                    let deny: Deny = serde_json::from_value(Value::Object(members)).unwrap_or_default();
                    Decision::Deny(deny)
                }
                Some(PermissionAnswer::Hold) => std::future::pending().await,
                Some(PermissionAnswer::Later) => Decision::Later,
                Some(PermissionAnswer::Panic) => panic!("the plan wants a handler that fails"),
                None => Decision::deny("The plan has no answer"),
            }
        })
    }
}

fn take(answers: &mut Vec<Permission>, tool: &str) -> Option<PermissionAnswer> {
    let at = answers.iter().position(|answer| answer.tool.as_deref().is_none_or(|name| name == tool))?;
    let last = answers.iter().rposition(|answer| answer.tool.as_deref().is_none_or(|name| name == tool));
    if Some(at) == last { Some(answers[at].answer.clone()) } else { Some(answers.remove(at).answer) }
}

fn allow(mut members: Map<String, Value>, ask: &PermissionAsk) -> Decision {
    if let Some(Value::Object(more)) = members.remove("input+") {
        let mut input = ask.input().map(parsed).unwrap_or_default();
        if let Some(input) = input.as_object_mut() {
            input.extend(more);
        }
        members.insert("updatedInput".to_owned(), input);
    }
    let allow: Allow = serde_json::from_value(Value::Object(members)).unwrap_or_default();
    Decision::Allow(allow)
}

/// The question in the nine fields that the Python SDK has for it.
fn question(ask: &PermissionAsk) -> Value {
    let call = &ask.call;
    json!({
        "type": "can_use_tool",
        "tool": call.tool_name,
        "input": ask.input().map(parsed),
        "suggestions": call.permission_suggestions.iter().map(to_value).collect::<Vec<_>>(),
        "tool_use_id": call.tool_use_id,
        "agent_id": call.agent_id,
        "blocked_path": call.blocked_path,
        "decision_reason": call.decision_reason,
        "title": call.title,
        "display_name": call.display_name,
        "description": call.description,
    })
}

fn hook_of(plan: HookPlan, log: Log) -> Hook {
    let HookPlan { event, matcher, outputs, block_on_failure, fails } = plan;
    let outputs = Arc::new(Mutex::new(outputs));
    let run = move |call: HookCall<HookEventInput>| {
        log.call(&told(call));
        let output = outputs.lock().map(|mut outputs| next(&mut outputs)).unwrap_or_default();
        async move {
            assert!(!fails, "the plan wants a hook that fails");
            serde_json::from_value::<HookOutput>(output).unwrap_or_default()
        }
    };
    let event: HookEvent = serde_json::from_value(Value::String(event)).unwrap_or_default();
    let mut hook = Hook::any(event, run);
    if let Some(matcher) = matcher {
        hook = hook.matching(matcher);
    }
    if block_on_failure { hook.block_on_failure() } else { hook }
}

fn next(outputs: &mut Vec<Value>) -> Value {
    if outputs.len() > 1 { outputs.remove(0) } else { outputs.first().cloned().unwrap_or_default() }
}

/// What a hook was told, with the keys of the wire.
fn told(call: HookCall<HookEventInput>) -> Value {
    let input = HookInput::new(call.base, call.event);
    let whole = to_value(&HookCallback::new("", input));
    json!({"type": "hook", "input": whole["input"], "tool_use_id": call.tool_use_id})
}

fn tool_of(plan: ToolPlan, log: Log) -> Tool {
    let ToolPlan { name, description, schema, text, is_error } = plan;
    let called = name.clone();
    Tool::with_schema(name, description, schema, move |arguments| {
        log.call(&json!({"type": "tool", "name": called, "arguments": arguments}));
        let text = text.clone();
        async move { if is_error { Err(Failure::new(text)) } else { Ok(text) } }
    })
}
