//! Control requests and their replies: every published one is typed, and none loses data.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

pub(crate) mod recordings;

use std::collections::BTreeSet;
use std::fmt::Debug;

use recordings::{RecordedKind, untyped};
use tidings_protocol::control::*;
use tidings_protocol::json::{Json, Raw, Reading, Wire, same_json};
use tidings_protocol::permissions::{
    PermissionBehavior, PermissionDestination, PermissionMode, PermissionResult, PermissionRule,
    PermissionUpdate,
};

/// Runs a check for the request in `$call`, with its type as `R`.
macro_rules! for_request {
    ($call:expr, $check:ident $args:tt, $($Name:ident)+) => {
        match $call {
            $( Call::$Name(_) => { $check::<$Name> $args; } )+
            other => panic!("no type for `{}`", other.subtype()),
        }
    };
}

/// Same as `for_request`, with all request types.
macro_rules! for_any_request {
    ($call:expr, $check:ident $args:tt) => {
        for_request!($call, $check $args,
            CanUseTool HookCallback McpMessage Elicitation RequestUserDialog Initialize GetServerInfo Interrupt
            SetPermissionMode SetMcpPermissionModeOverride SetModel SetMaxThinkingTokens ApplyFlagSettings
            UpdateSettings GetSettings GetContextUsage GetSessionCost GetUsage ListModels GetBinaryVersion McpStatus
            McpSetServers McpReconnect McpToggle McpReadResource McpCall RewindFiles CancelAsyncMessage SeedReadState
            ReadFile FileSuggestions RegisterRepoRoot ReloadPlugins ReloadSkills ReloadOutputStyles StopTask
            BackgroundTasks GetTaskOutput GetHooksListing ListPermissionRules RenameSession SetColor SetHasSubscribers)
    };
}

#[test]
fn recorded_frames_are_typed_and_come_back() {
    for recorded in recordings::all() {
        assert!(recorded.refused.is_empty(), "{}: {:?}", recorded.place, recorded.refused);
        assert_same(&recorded.line, &recorded.written);
        if let RecordedKind::Request(Call::Unknown(unknown)) = recorded.kind {
            let published =
                REQUESTS.iter().any(|json| json.contains(&format!("\"subtype\":\"{}\"", unknown.subtype)));
            assert!(!published, "{}: {}", recorded.place, unknown.subtype);
        }
    }
}

#[test]
fn recorded_replies_are_read_as_the_reply_to_their_request() {
    let mut replies = BTreeSet::new();
    for recorded in recordings::all() {
        let RecordedKind::Response(response, Some(call)) = recorded.kind else {
            continue;
        };
        let ControlOutcome::Success(success) = &response.outcome else {
            continue;
        };
        if call.is_known() {
            for_any_request!(&call, comes_back(success, &recorded.place));
            replies.insert(call.subtype().to_owned());
        }
    }
    assert!(replies.len() > 25, "the shipped recordings show only {replies:?}");
}

#[test]
fn recorded_decisions_about_tools_are_typed() {
    let mut decisions = 0;
    for recorded in recordings::all() {
        let RecordedKind::Response(response, Some(Call::CanUseTool(_))) = recorded.kind else {
            continue;
        };
        let ControlOutcome::Success(success) = &response.outcome else {
            continue;
        };
        let decision = success.reply::<CanUseTool>().unwrap();
        // One host sends an invalid decision on purpose.
        if !recorded.place.contains("044-perm-error-response") {
            assert!(decision.is_allowed().is_some(), "{}: {decision:?}", recorded.place);
        }
        decisions += 1;
    }
    assert!(decisions > 5);
}

#[test]
fn recorded_requests_have_no_published_field_without_a_type() {
    // Internal fields, which stay untyped in `extra`.
    const INTERNAL: &[&str] = &[
        "server_policy_ask_only",
        "decision_reason_rule_source",
        "decision_reason_hook_event",
        "decision_reason_hook_source",
    ];
    for recorded in recordings::all() {
        let RecordedKind::Request(call) = recorded.kind else {
            continue;
        };
        if call.is_known() {
            let untyped = untyped(&call);
            assert!(untyped.iter().all(|key| INTERNAL.contains(&&**key)), "{}: {untyped:?}", recorded.place);
        }
    }
}

/// Every published request, with every published field.
const REQUESTS: &[&str] = &[
    r#"{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t","mcp_server":{"name":"m","source":"sdk"},"permission_suggestions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"ls *"}],"behavior":"allow","destination":"localSettings"},{"type":"replaceRules","rules":[{"toolName":"Bash"}],"behavior":"deny","destination":"cliArg"},{"type":"removeRules","rules":[{"toolName":"Bash"}],"behavior":"ask","destination":"userSettings"},{"type":"setMode","mode":"plan","destination":"session"},{"type":"addDirectories","directories":["/a"],"destination":"session"},{"type":"removeDirectories","directories":["/a"],"destination":"projectSettings"}],"blocked_path":"/etc","decision_reason":"r","decision_reason_type":"safetyCheck","classifier_approvable":true,"suppress_always_allow_rule":true,"default_to_no":true,"matched_ask_rule":{"source":"s","tool_name":"Bash","rule_content":"ls"},"title":"T","display_name":"D","description":"d","agent_id":"a","requires_user_interaction":true}"#,
    r#"{"subtype":"hook_callback","callback_id":"hook_0","input":{"session_id":"s","hook_event_name":"Stop","stop_hook_active":true},"tool_use_id":"t"}"#,
    r#"{"subtype":"mcp_message","server_name":"calc","message":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}"#,
    r#"{"subtype":"elicitation","mcp_server_name":"m","message":"?","mode":"url","url":"https://example.com","elicitation_id":"e","requested_schema":{"type":"object"},"property_order":["a"],"title":"T","display_name":"D","description":"d"}"#,
    r#"{"subtype":"request_user_dialog","dialog_kind":"refusal_fallback_prompt","payload":{"a":1},"tool_use_id":"t"}"#,
    r#"{"subtype":"initialize","hooks":{"PreToolUse":[{"matcher":"Bash","hookCallbackIds":["hook_0"],"timeout":2.5,"onFailure":"block"}]},"sdkMcpServers":["calc"],"sdkMcpServerConfigs":{"calc":{"timeout":5000,"tools":[{"name":"add","permission_policy":"always_ask","org_max_permission":"ask"}]}},"sdkMcpServerManifests":{"calc":{"initializeResult":{},"toolsListResult":{"tools":[]}}},"sdkMcpServerManifestsOrigin":"host_per_send","jsonSchema":{"type":"object"},"systemPrompt":[""],"appendSystemPrompt":"a","systemPromptSnapshot":true,"planModeInstructions":"p","toolAliases":{"a":"b"},"excludeDynamicSections":true,"agents":{"helper":{"description":"d","prompt":"p","tools":["Read"],"disallowedTools":["Bash"],"model":"haiku","mcpServers":["a",{"b":{"type":"http","url":"https://example.com"}}],"skills":["s"],"initialPrompt":"i","maxTurns":3,"background":true,"memory":"project","effort":"high","permissionMode":"plan","criticalSystemReminder_EXPERIMENTAL":"c","autoCompactWindow":100000,"omitClaudeMd":true,"observer":"o","observerMessage":"m"},"other":{"description":"d","prompt":"p","effort":3}},"title":"t","skills":["s"],"promptSuggestions":true,"agentProgressSummaries":true,"forwardSubagentText":true,"perTaskStopAffordance":true,"supportedDialogKinds":["refusal_fallback_prompt"],"plugins":[{"type":"local","path":"/p","skipMcpDiscovery":true}],"mcpServers":{"b":{"type":"http","url":"https://example.com"}}}"#,
    r#"{"subtype":"get_server_info"}"#,
    r#"{"subtype":"interrupt","cancel_queued":true}"#,
    r#"{"subtype":"set_permission_mode","mode":"acceptEdits"}"#,
    r#"{"subtype":"set_mcp_permission_mode_override","serverName":"m","mode":null,"askForTools":["a"]}"#,
    r#"{"subtype":"set_model","model":"opus"}"#,
    r#"{"subtype":"set_max_thinking_tokens","max_thinking_tokens":null,"thinking_display":"summarized"}"#,
    r#"{"subtype":"apply_flag_settings","settings":{"model":null}}"#,
    r#"{"subtype":"update_settings","source":"localSettings","settings":{"outputStyle":"default"}}"#,
    r#"{"subtype":"get_settings"}"#,
    r#"{"subtype":"get_context_usage","detail":"summary"}"#,
    r#"{"subtype":"get_session_cost"}"#,
    r#"{"subtype":"get_usage","skip_behaviors":true}"#,
    r#"{"subtype":"list_models"}"#,
    r#"{"subtype":"get_binary_version"}"#,
    r#"{"subtype":"mcp_status","liveReply":true}"#,
    r#"{"subtype":"mcp_set_servers","servers":{"a":{"command":"x"},"b":{"type":"stdio","command":"x","args":["y"],"env":{"K":"V"},"timeout":5000,"alwaysLoad":true},"c":{"type":"sse","url":"https://example.com","headers":{"K":"V"},"tools":[{"name":"t"}],"timeout":5000,"alwaysLoad":true},"d":{"type":"sdk","name":"d","timeout":5000,"tools":[{"name":"t"}]},"e":{"type":"claudeai-proxy","url":"https://example.com","id":"i","timeout":5000}}}"#,
    r#"{"subtype":"mcp_reconnect","serverName":"m"}"#,
    r#"{"subtype":"mcp_toggle","serverName":"m","enabled":false}"#,
    r#"{"subtype":"mcp_read_resource","serverName":"m","uri":"ui://a"}"#,
    r#"{"subtype":"mcp_call","tool":"mcp__m__t","arguments":{"a":1},"expires_at":1,"timeout_ms":1000,"result_not_for_model":true,"check_permissions":true,"input_files":[{"name":"a","lane_path":"b"}],"output_files":[{"name":"a","lane_path":"b","if_match":"c"}]}"#,
    r#"{"subtype":"rewind_files","user_message_id":"u","dry_run":true}"#,
    r#"{"subtype":"cancel_async_message","message_uuid":"u"}"#,
    r#"{"subtype":"seed_read_state","path":"/a","mtime":1763059943123}"#,
    r#"{"subtype":"read_file","path":"/a","max_bytes":10,"encoding":"base64"}"#,
    r#"{"subtype":"file_suggestions","query":"a"}"#,
    r#"{"subtype":"register_repo_root","directory":"/a","reload_claude_md":true,"reload_plugins":true,"reload_skills":true}"#,
    r#"{"subtype":"reload_plugins","hold_on_cache_impact":true,"add_plugins":["a"],"refuse_if_busy":true}"#,
    r#"{"subtype":"reload_skills"}"#,
    r#"{"subtype":"reload_output_styles"}"#,
    r#"{"subtype":"stop_task","task_id":"t"}"#,
    r#"{"subtype":"background_tasks","tool_use_id":"t"}"#,
    r#"{"subtype":"get_task_output","task_id":"t"}"#,
    r#"{"subtype":"get_hooks_listing"}"#,
    r#"{"subtype":"list_permission_rules"}"#,
    r#"{"subtype":"rename_session","title":"t","source":"host","session_id":"s"}"#,
    r#"{"subtype":"set_color","color":"red"}"#,
    r#"{"subtype":"set_has_subscribers","has_subscribers":null}"#,
];

#[test]
fn every_published_field_of_every_request_is_typed() {
    let mut seen = BTreeSet::new();
    for json in REQUESTS {
        let call: Call = serde_json::from_str(json).unwrap();
        assert!(call.is_known(), "{json}");
        assert!(untyped(&call).is_empty(), "{call:?}");
        assert!(!format!("{call:?}").contains("Unknown("), "{call:?}");
        assert_same(json, &serde_json::to_string(&call).unwrap());
        seen.insert(call.subtype().to_owned());
    }
    let all: BTreeSet<_> = Call::KNOWN.iter().map(|&subtype| subtype.to_owned()).collect();
    assert_eq!(seen, all);
}

/// Replies with every published field, by the request they answer.
const REPLIES: &[(&str, &str)] = &[
    (
        "can_use_tool",
        r#"{"behavior":"allow","updatedInput":{"a":1},"updatedPermissions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}],"toolUseID":"t","decisionClassification":"user_permanent"}"#,
    ),
    (
        "can_use_tool",
        r#"{"behavior":"deny","message":"no","interrupt":true,"toolUseID":"t","decisionClassification":"user_reject"}"#,
    ),
    ("can_use_tool", r#"{"allowed":false,"reason":"no"}"#),
    ("hook_callback", r#"{"async":true,"asyncTimeout":1000}"#),
    ("mcp_message", r#"{"mcp_response":{"jsonrpc":"2.0","id":0,"result":{}}}"#),
    ("elicitation", r#"{"action":"accept","content":{"name":"Ada"}}"#),
    ("request_user_dialog", r#"{"behavior":"completed","result":{"a":1}}"#),
    ("request_user_dialog", r#"{"behavior":"cancelled"}"#),
    (
        "initialize",
        r#"{"commands":[{"name":"c","description":"d","argumentHint":"h","aliases":["a"],"builtin":true}],"agents":[{"name":"a","description":"d","model":"inherit"}],"output_style":"default","available_output_styles":["default"],"models":[{"value":"opus","resolvedModel":"r","displayName":"Opus","description":"d","supportsEffort":true,"supportedEffortLevels":["low"],"supportsAdaptiveThinking":true,"supportsFastMode":true,"supportsAutoMode":true}],"account":{"email":"e","organization":"o","subscriptionType":"s","tokenSource":"t","apiKeySource":"k","apiProvider":"bedrock"},"hooks_applied":true,"hook_on_failure_supported":true,"hooks_when_unanswered_kept":1,"plugins_applied":true,"mcp_servers_applied":true,"sdk_mcp_manifests_parked":{"calc":"parked"},"claude_code_version":"2.1.325","fast_mode_state":"off","fast_mode_disabled_reason":"r"}"#,
    ),
    ("interrupt", r#"{"still_queued":["u"],"cancelled":["v"]}"#),
    ("set_permission_mode", r#"{"mode":"plan"}"#),
    ("set_mcp_permission_mode_override", r#"{"warning":"w"}"#),
    ("set_model", r#"{"model":"m"}"#),
    (
        "get_settings",
        r#"{"effective":{"a":1},"sources":[{"source":"flagSettings","settings":{"a":1}}],"applied":{"model":"m","effort":"high","advisor":null,"ultracode":true},"errors":[{"file":"f","path":"p","message":"m"}],"withheld":true}"#,
    ),
    (
        "get_context_usage",
        r#"{"categories":[{"id":"mcp_tools","name":"MCP tools","tokens":1,"color":"c","isDeferred":true,"kind":"deferred"}],"totalTokens":1,"maxTokens":2,"rawMaxTokens":3,"percentage":1.5,"gridRows":[[{"color":"c","isFilled":true,"categoryName":"n","tokens":1,"percentage":1,"squareFullness":0.3}]],"model":"m","memoryFiles":[{"path":"p","type":"Project","tokens":1}],"mcpTools":[{"name":"n","serverName":"s","tokens":1,"isLoaded":true}],"mcpInstructions":[{"serverName":"s","tokens":1}],"deferredBuiltinTools":[{"name":"n","tokens":1,"isLoaded":true}],"systemTools":[{"name":"n","tokens":1}],"systemPromptSections":[{"name":"n","tokens":1}],"agents":[{"agentType":"a","source":"s","pluginId":"p","path":"p","tokens":1}],"slashCommands":{"totalCommands":1,"includedCommands":1,"tokens":1},"skills":{"totalSkills":1,"includedSkills":1,"tokens":1,"skillFrontmatter":[{"name":"n","source":"s","pluginName":"p","pluginId":"i","path":"p","tokens":1}]},"autoCompactThreshold":1,"isAutoCompactEnabled":true,"messageBreakdown":{"toolCallTokens":1,"toolResultTokens":1,"attachmentTokens":1,"assistantMessageTokens":1,"userMessageTokens":1,"redirectedContextTokens":1,"unattributedTokens":1,"toolCallsByType":[{"name":"n","callTokens":1,"resultTokens":1}],"attachmentsByType":[{"name":"n","tokens":1}]},"apiUsage":{"input_tokens":1,"output_tokens":1,"cache_creation_input_tokens":1,"cache_read_input_tokens":1}}"#,
    ),
    ("get_session_cost", r#"{"text":"Total cost: $1"}"#),
    (
        "get_usage",
        r#"{"session":{"total_cost_usd":0.1,"total_api_duration_ms":1,"total_duration_ms":2,"total_lines_added":3,"total_lines_removed":4,"model_usage":{"m":{"inputTokens":1}}},"subscription_type":"max","rate_limits_available":true,"rate_limits":{"five_hour":{"utilization":1.5,"resets_at":"t"},"seven_day":{"utilization":1,"resets_at":"t"},"seven_day_oauth_apps":{"utilization":1,"resets_at":"t"},"seven_day_opus":{"utilization":1,"resets_at":"t"},"seven_day_sonnet":{"utilization":1,"resets_at":"t"},"model_scoped":[{"display_name":"d","utilization":1,"resets_at":"t"}],"extra_usage":{"is_enabled":true,"monthly_limit":1,"used_credits":1,"utilization":1}},"behaviors":{"day":{"request_count":1,"session_count":1,"behaviors":[{"key":"cron","pct":1.5,"count":1}],"recommendations":[{"key":"cron","pct":1,"title":"t","detail":"d"}],"fix":{"keys":["cron"],"messages":["m"]},"agents":[{"name":"n","pct":1}],"skills":[{"name":"n","pct":1}],"plugins":[{"name":"n","pct":1}],"mcp_servers":[{"name":"n","pct":1}]},"week":{"request_count":1}}}"#,
    ),
    ("list_models", r#"{"models":[{"value":"opus","displayName":"Opus","description":"d"}]}"#),
    ("get_binary_version", r#"{"version":"2.1.325","buildTime":"t","oldestDesktopSdk":"0.3.1"}"#),
    (
        "mcp_status",
        r#"{"mcpServers":[{"name":"n","status":"needs-auth","serverInfo":{"name":"n","version":"1"},"error":"e","config":{"type":"http","url":"https://example.com"},"scope":"dynamic","source":"s","tools":[{"name":"t","description":"d","annotations":{"readOnly":true,"destructive":true,"openWorld":true},"_meta":{"a":1}}]}]}"#,
    ),
    ("mcp_set_servers", r#"{"added":["a"],"removed":["b"],"errors":{"c":"e"}}"#),
    (
        "mcp_read_resource",
        r#"{"contents":[{"uri":"ui://a","mimeType":"text/html","text":"t","blob":"b","_meta":{"a":1}}]}"#,
    ),
    (
        "mcp_call",
        r#"{"content":[{"type":"text","text":"t"}],"structuredContent":{"a":1},"_meta":{"b":1},"staging":{"ok":true,"outputs":[{"lane_path":"l","etag":"e","bytes":1}],"inputs_used":[{"lane_path":"l","etag":"e"}]}}"#,
    ),
    (
        "mcp_call",
        r#"{"content":[1],"staging":{"ok":false,"error_code":"expired","detail":"d","retryable":true}}"#,
    ),
    (
        "rewind_files",
        r#"{"canRewind":true,"error":"e","filesChanged":["f"],"insertions":1,"deletions":2,"skippedLinks":3}"#,
    ),
    ("cancel_async_message", r#"{"cancelled":true}"#),
    ("read_file", r#"{"contents":"c","absPath":"/a","truncated":true,"encoding":"base64","lossy":true}"#),
    ("file_suggestions", r#"{"suggestions":[{"path":"p","score":0.5}],"cwd":"/a"}"#),
    ("register_repo_root", r#"{"directory":"/a"}"#),
    (
        "reload_plugins",
        r#"{"commands":[{"name":"c","description":"d","argumentHint":"h"}],"agents":[{"name":"a","description":"d"}],"plugins":[{"name":"p","path":"/p","source":"s","version":"v"}],"mcpServers":[{"name":"m"}],"error_count":1,"held":true,"cache_impact":{"mcp_servers_added":["a"],"mcp_servers_removed":["b"],"lsp_tool_change":"may-add"}}"#,
    ),
    ("reload_skills", r#"{"skills":[{"name":"c","description":"d","argumentHint":"h"}]}"#),
    ("reload_output_styles", r#"{"available_output_styles":["default"]}"#),
    ("background_tasks", r#"{"backgrounded":true}"#),
    ("get_task_output", r#"{"output":"o","total_bytes":1,"truncated":true}"#),
    (
        "get_hooks_listing",
        r#"{"events":[{"name":"Stop","summary":"s","supportsMatcher":true,"hookCount":1}],"hooks":[{"event":"Stop","matcher":"m","source":"s","sourceLabel":"l","pluginName":"p","type":"command","displayText":"d","commandText":"c","contentLabel":"l","condition":"c","timeout":1,"statusMessage":"m","runsOnce":true,"runsInBackground":true,"disabled":true,"editable":{"matcher":"m","config":{"a":1},"headersRedacted":true}}],"eventCatalog":[{"name":"Stop","summary":"s","supportsMatcher":true}],"policy":{"disabledByPolicy":true,"managedOnly":true,"pluginOnly":true,"allDisabled":true,"policyHookCount":1,"policyUnreadable":true},"safeMode":{"managedHooksStillApply":true,"exitHint":"e"},"bareMode":{"exitHint":"e"},"errors":[1]}"#,
    ),
    (
        "list_permission_rules",
        r#"{"state":{"rules":[{"behavior":"allow","source":"toolsNarrowing","rule":"Bash(ls *)","description":{"prefix":"p","emphasis":"e","suffix":"s"},"editability":"persistent","notInEffect":true}],"workspaceDirectories":[{"path":"/a","source":"session"}],"originalCwd":"/a","managedOnly":true,"errors":[1],"withheld":1}}"#,
    ),
];

#[test]
fn every_published_field_of_every_reply_is_typed() {
    for (subtype, json) in REPLIES {
        check_reply(subtype, json);
    }
}

/// Checks that a reply is typed, with all of its fields.
pub(crate) fn check_reply(subtype: &str, json: &str) {
    let call = request(subtype);
    let success: ControlOutcome =
        serde_json::from_str(&format!(r#"{{"subtype":"success","response":{json}}}"#)).unwrap();
    let ControlOutcome::Success(success) = success else { panic!("{json}") };
    for_any_request!(&call, comes_back_typed(&success, json));
}

#[test]
fn an_absent_body_is_an_empty_reply() {
    let ack = Success::default();
    assert_eq!(ack.reply::<StopTask>().unwrap(), Ack::default());
    assert_eq!(ack.reply::<Interrupt>().unwrap(), InterruptReceipt::default());
    let null: ControlOutcome = serde_json::from_str(r#"{"subtype":"success","response":null}"#).unwrap();
    let ControlOutcome::Success(null) = null else { panic!() };
    assert_eq!(null.reply::<BackgroundTasks>().unwrap(), BackgroundTasksReply::default());
}

#[test]
fn d30_a_receipt_of_an_interrupt_has_each_member_once() {
    for json in ["{}", r#"{"still_queued":[]}"#, r#"{"still_queued":["u"],"cancelled":[]}"#] {
        let receipt: InterruptReceipt = serde_json::from_str(json).unwrap();
        assert!(receipt.extra.is_empty(), "{receipt:?}");
        assert_eq!(serde_json::to_string(&receipt).unwrap(), json);
    }
}

#[test]
fn a_reply_that_does_not_fit_says_where() {
    let outcome: ControlOutcome =
        serde_json::from_str(r#"{"subtype":"success","response":{"buildTime":"t"}}"#).unwrap();
    let ControlOutcome::Success(success) = outcome else { panic!() };
    assert_eq!(success.reply::<GetBinaryVersion>().unwrap_err().to_string(), "`version` is missing");
}

#[test]
fn unknown_requests_are_kept() {
    let json = r#"{"subtype":"end_session","reason":"done","n":1e400,"deep":{"a":[null]}}"#;
    let call: Call = serde_json::from_str(json).unwrap();
    assert!(!call.is_known());
    assert_eq!(call.subtype(), "end_session");
    assert_same(json, &serde_json::to_string(&call).unwrap());

    let made = Call::Unknown(UnknownCall::new("end_session", Json::parse(r#"{"reason":"done"}"#).unwrap()));
    assert_eq!(serde_json::to_string(&made).unwrap(), r#"{"subtype":"end_session","reason":"done"}"#);
}

#[test]
fn a_request_without_what_it_needs_is_an_error() {
    let error = serde_json::from_str::<Call>(r#"{"subtype":"set_permission_mode"}"#).unwrap_err();
    assert_eq!(error.to_string(), "`mode` is missing");
    let error = serde_json::from_str::<Call>(r#"{"mode":"plan"}"#).unwrap_err();
    assert_eq!(error.to_string(), "`subtype` is missing");
}

#[test]
fn null_and_absent_differ_where_it_matters() {
    let reset = SetMaxThinkingTokens::new(None);
    assert_eq!(
        serde_json::to_string(&Call::from(reset)).unwrap(),
        r#"{"subtype":"set_max_thinking_tokens","max_thinking_tokens":null}"#
    );
    let left = SetMaxThinkingTokens::default();
    assert_eq!(serde_json::to_string(&Call::from(left)).unwrap(), r#"{"subtype":"set_max_thinking_tokens"}"#);
}

#[test]
fn decisions_are_written_as_the_cli_wants_them() {
    assert_eq!(serde_json::to_string(&PermissionResult::allow(None)).unwrap(), r#"{"behavior":"allow"}"#);
    let input = Json::parse(r#"{"command":"ls"}"#).unwrap();
    assert_eq!(
        serde_json::to_string(&PermissionResult::allow(input)).unwrap(),
        r#"{"behavior":"allow","updatedInput":{"command":"ls"}}"#
    );
    assert_eq!(
        serde_json::to_string(&PermissionResult::deny("no")).unwrap(),
        r#"{"behavior":"deny","message":"no"}"#
    );
    assert_eq!(
        serde_json::to_string(&PermissionResult::deny("no").to_flat()).unwrap(),
        r#"{"allowed":false,"reason":"no"}"#
    );
    let update = PermissionUpdate::add_rules(
        vec![PermissionRule::matching("Bash", "ls *")],
        PermissionBehavior::ALLOW,
        PermissionDestination::SESSION,
    );
    assert_eq!(
        serde_json::to_string(&update).unwrap(),
        r#"{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"ls *"}],"behavior":"allow","destination":"session"}"#
    );
    let update = PermissionUpdate::set_mode(PermissionMode::PLAN, PermissionDestination::SESSION);
    assert_eq!(
        serde_json::to_string(&update).unwrap(),
        r#"{"type":"setMode","mode":"plan","destination":"session"}"#
    );
}

#[test]
fn answers_that_are_no_decision_are_kept() {
    for json in [
        r#"{"behavior":"maybe","x":1}"#,
        r#"{"behavior":"deny"}"#,
        "{}",
        "\"yes\"",
        "null",
        r#"{"allowed":"yes"}"#,
    ] {
        let decision: PermissionResult = serde_json::from_str(json).unwrap();
        assert_eq!(decision.is_allowed(), None, "{json}");
        assert_same(json, &serde_json::to_string(&decision).unwrap());
    }
}

#[test]
fn one_odd_suggestion_does_not_cost_the_others() {
    let json = r#"{"subtype":"can_use_tool","tool_name":"Bash","input":{},"permission_suggestions":[{"type":"newKind","a":1},{"type":"setMode"},{"type":"setMode","mode":"plan"},7]}"#;
    let call: Call = serde_json::from_str(json).unwrap();
    let Call::CanUseTool(ask) = &call else { panic!() };
    assert_eq!(ask.permission_suggestions.len(), 4);
    assert!(matches!(ask.permission_suggestions[2], PermissionUpdate::SetMode(_)));
    assert_same(json, &serde_json::to_string(&call).unwrap());
}

#[test]
fn a_python_host_writes_null_for_no_rule_content() {
    let json = r#"{"toolName":"Bash","ruleContent":null}"#;
    let rule: PermissionRule = serde_json::from_str(json).unwrap();
    assert_eq!(rule.rule_content, None);
    assert_same(json, &serde_json::to_string(&rule).unwrap());
}

#[test]
fn requests_still_without_an_answer_come_with_the_handshake() {
    let outcome: ControlOutcome = serde_json::from_str(
        r#"{"subtype":"success","response":{},"pending_permission_requests":[{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{}}}],"pending_user_dialog_requests":[],"pending_elicitation_requests":[{"type":"control_request","request_id":"r2","request":{"subtype":"elicitation","mcp_server_name":"m","message":"?"}},{"broken":1}]}"#,
    )
    .unwrap();
    let ControlOutcome::Success(success) = outcome else { panic!() };
    let pending = success.pending_requests();
    let ids: Vec<_> = pending.iter().map(|(id, request)| (id.as_str(), request.subtype())).collect();
    assert_eq!(ids, [("r1", "can_use_tool"), ("r2", "elicitation")]);
}

/// Reads the reply to a request `R` and writes it back.
fn comes_back<R: Request>(success: &Success, place: &str) -> R::Reply {
    let mut reading = Reading::default();
    let reply = success
        .reply_noting::<R>(&mut reading)
        .unwrap_or_else(|misfit| panic!("{place}: reply to `{}`: {misfit}", R::SUBTYPE));
    assert!(reading.refused.is_empty(), "{place}: {:?}", reading.refused);
    let mut written = String::new();
    reply.write(&mut written);
    let body = success.response.as_ref().map_or("{}", |body| body.raw().as_str());
    assert!(same_json(Raw::parse(body).unwrap(), Raw::parse(&written).unwrap()), "{place}: {written}");
    reply
}

fn comes_back_typed<R: Request<Reply: Debug>>(success: &Success, place: &str) {
    let reply = comes_back::<R>(success, place);
    assert!(untyped(&reply).is_empty(), "{reply:?}");
    assert!(!format!("{reply:?}").contains("Unknown("), "{reply:?}");
}

/// The request of [`REQUESTS`] with that name.
fn request(subtype: &str) -> Call {
    let calls = REQUESTS.iter().map(|json| serde_json::from_str::<Call>(json).unwrap());
    calls.into_iter().find(|call| call.subtype() == subtype).unwrap()
}

fn assert_same(left: &str, right: &str) {
    assert!(same_json(Raw::parse(left).unwrap(), Raw::parse(right).unwrap()), "{left}\n{right}");
}
