//! The result of every option: a flag, an environment variable, a file, or a field of the handshake.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::json;
use tidings::control::{
    AgentDefinition, DialogAnswer, DialogKind, EffortLevel, ElicitationAnswer, McpServerConfig,
    SdkMcpServerConfig, ThinkingDisplay,
};
use tidings::handlers::{McpCallContext, McpHandler};
use tidings::hooks::{HookOutput, PreToolUse, Stop};
use tidings::json::Json;
use tidings::options::{
    Arg, EnvBase, Orphans, PermissionPrompts, Plan, PluginSource, QuestionPreview, SettingSource, Skills,
    Thinking, ToolSet, User,
};
use tidings::permissions::PermissionMode;
use tidings::{AllowAll, DialogAsk, ElicitationAsk, ErrorKind, Hook, HookCall, Ids, Options, SystemPrompt};
use uuid::Uuid;

fn options() -> Options {
    Options::new().ids(Ids::from_fn(|| Uuid::from_u128(7)))
}

/// The parts of a plan, one per line.
fn lines(plan: &Plan) -> Vec<String> {
    let launch = &plan.launch;
    let mut lines: Vec<String> = launch
        .args
        .iter()
        .map(|arg| match arg {
            Arg::Text(text) => format!("arg   {text}"),
            Arg::Path(path) => format!("path  {}", path.display()),
            Arg::File { name, contents } => format!("file  {name}: {contents}"),
            other => format!("{other:?}"),
        })
        .collect();
    let environment = &launch.environment;
    lines.extend(environment.set.iter().map(|(name, value)| {
        format!("env   {name}={}", value.replace(env!("CARGO_PKG_VERSION"), "<version>"))
    }));
    lines.extend(environment.set_if_unset.iter().map(|(name, value)| format!("env?  {name}={value}")));
    lines.extend(environment.remove.iter().map(|name| format!("unset {name}")));
    if environment.base != EnvBase::Inherit {
        lines.push(format!("base  {:?}", environment.base));
    }
    let settings = [
        launch.program.as_ref().map(|program| format!("start {}", program.display())),
        launch
            .runtime
            .as_ref()
            .map(|runtime| format!("with  {} {:?}", runtime.display(), launch.runtime_args)),
        launch.cwd.as_ref().map(|cwd| format!("cwd   {}", cwd.display())),
        launch.user.map(|user| format!("user  {user:?}")),
        (launch.line_bytes_max != 64 << 20).then(|| format!("line  {}", launch.line_bytes_max)),
        (launch.orphans != Orphans::Sweep).then(|| format!("rest  {:?}", launch.orphans)),
    ];
    lines.extend(settings.into_iter().flatten());
    let initialize: BTreeMap<String, Json> =
        serde_json::from_str(&serde_json::to_string(&plan.initialize).unwrap()).unwrap();
    lines.extend(initialize.iter().map(|(key, value)| format!("init  {key}: {value}")));
    lines
}

#[derive(Debug)]
struct Silent;

impl McpHandler for Silent {
    fn handle(
        &self,
        _message: Json,
        _call: McpCallContext,
    ) -> std::pin::Pin<Box<dyn Future<Output = Option<Json>> + Send + 'static>> {
        Box::pin(async { None })
    }
}

fn hook() -> Hook {
    Hook::on(|_: HookCall<PreToolUse>| async { HookOutput::default() })
}

/// One row per option, in the order of the official SDKs' documentation.
fn table() -> Vec<(&'static str, Options)> {
    let settings = SdkMcpServerConfig::default();
    let agent = AgentDefinition::new("Reviews code", "You review.");
    let file_prompt = SystemPrompt::File("/etc/prompt.md".into());
    let preset = SystemPrompt::Preset {
        append: Some("Be brief.".to_owned()),
        exclude_dynamic_sections: Some(true),
        snapshot: Some(false),
    };
    let blocks = SystemPrompt::Custom {
        blocks: vec!["a".to_owned(), SystemPrompt::BOUNDARY.to_owned(), "b".to_owned()],
        snapshot: Some(true),
    };
    vec![
        ("add_directory", options().add_directory("/a").add_directory("/b")),
        ("project_config_root", options().project_config_root("/project")),
        ("agent", options().agent("reviewer")),
        ("define_agent", options().define_agent("reviewer", agent)),
        ("allowed_tools", options().allowed_tools(["Read", "Bash(git log:*)"])),
        ("disallowed_tools", options().disallowed_tools(["WebFetch"])),
        ("tools: some", options().tools(ToolSet::Only(vec!["Read".to_owned(), "Edit".to_owned()]))),
        ("tools: none", options().tools(ToolSet::Only(Vec::new()))),
        ("tools: default", options().tools(ToolSet::Default)),
        ("tool_alias", options().tool_alias("Task", "Agent")),
        ("question_preview", options().question_preview(QuestionPreview::Html)),
        ("on_permission", options().on_permission(AllowAll)),
        ("permission_prompt_tool", options().permission_prompt_tool("mcp__guard__ask")),
        ("permission_prompts", options().permission_prompts(PermissionPrompts::None)),
        ("permission_mode", options().permission_mode(PermissionMode::PLAN)),
        ("permission_mode: default", options().permission_mode(PermissionMode::DEFAULT)),
        (
            "allow_bypass_permissions",
            options().permission_mode(PermissionMode::BYPASS_PERMISSIONS).allow_bypass_permissions(),
        ),
        ("plan_mode_instructions", options().plan_mode_instructions("Plan first.")),
        ("continue_latest", options().continue_latest()),
        ("resume", options().resume("11111111-1111-4111-8111-111111111111")),
        ("session_id", options().session_id("11111111-1111-4111-8111-111111111111")),
        (
            "fork_session",
            options().resume("x").fork_session().session_id("11111111-1111-4111-8111-111111111111"),
        ),
        ("resume_at", options().resume("x").resume_at("m")),
        ("resume_drops_turn", options().resume("x").resume_at("m").resume_drops_turn("")),
        ("forget_session", options().forget_session()),
        ("mirror_session", options().mirror_session()),
        ("title", options().title("A title")),
        ("cwd", options().cwd("/work")),
        ("env", options().env("KEY", "value").env("CLAUDE_CODE_ENTRYPOINT", "mine")),
        ("env_base: only", options().env_base(EnvBase::Only(vec!["PATH".to_owned()]))),
        ("env_base: empty", options().env_base(EnvBase::Empty)),
        ("runtime", options().program("/cli.js").runtime("bun", ["--smol"])),
        ("program", options().program("/opt/claude")),
        ("extra_arg", options().extra_arg("brief", None).extra_arg("--autocompact", Some("-1"))),
        ("model", options().model("haiku")),
        ("fallback_model", options().model("opus").fallback_model("sonnet").fallback_model("haiku")),
        ("beta", options().beta("context-1m-2025-08-07").beta("x")),
        ("max_turns", options().max_turns(3)),
        ("max_budget_usd", options().max_budget_usd(0.25)),
        ("task_budget", options().task_budget(50_000)),
        ("thinking: adaptive", options().thinking(Thinking::Adaptive)),
        ("thinking: budget", options().thinking(Thinking::Budget(2048))),
        ("thinking: disabled", options().thinking(Thinking::Disabled)),
        ("thinking_display", options().thinking_display(ThinkingDisplay::SUMMARIZED)),
        ("effort", options().effort(EffortLevel::HIGH)),
        ("output_schema", options().output_schema(json!({"type": "object"}))),
        ("system_prompt: text", options().system_prompt("You are brief.")),
        ("system_prompt: blocks", options().system_prompt(blocks)),
        ("system_prompt: preset", options().system_prompt(SystemPrompt::preset())),
        ("system_prompt: preset and more", options().system_prompt(preset)),
        ("system_prompt: file", options().system_prompt(file_prompt)),
        ("mcp_server", options().mcp_server("files", McpServerConfig::stdio("npx", vec!["-y".to_owned()]))),
        ("mcp_config_file", options().mcp_config_file("/mcp.json")),
        ("strict_mcp_config", options().strict_mcp_config()),
        ("mcp_handler", options().mcp_handler("mine", Silent).mcp_handler_settings("mine", settings)),
        (
            "hook",
            options()
                .hook(hook().matching("Bash").timeout(Duration::from_secs(5)).block_on_failure())
                .hook(hook()),
        ),
        (
            "hook: another event",
            options().hook(Hook::on(|_: HookCall<Stop>| async { HookOutput::default() })),
        ),
        (
            "on_elicitation",
            options().on_elicitation(|_: ElicitationAsk| async { ElicitationAnswer::decline() }),
        ),
        (
            "on_dialog",
            options().on_dialog([DialogKind::REFUSAL_FALLBACK_PROMPT], |_: DialogAsk| async {
                DialogAnswer::cancelled()
            }),
        ),
        ("per_task_stop_affordance", options().per_task_stop_affordance()),
        ("include_partial_messages", options().include_partial_messages()),
        ("include_hook_events", options().include_hook_events()),
        ("include_auth_status", options().include_auth_status()),
        ("replay_user_messages", options().replay_user_messages()),
        ("forward_subagent_text", options().forward_subagent_text()),
        ("verbatim_prompts", options().verbatim_prompts()),
        ("prompt_suggestions", options().prompt_suggestions()),
        ("agent_progress_summaries", options().agent_progress_summaries()),
        ("file_checkpoints", options().file_checkpoints()),
        ("settings", options().settings(json!({"model": "haiku"}))),
        ("settings_file", options().settings_file("/settings.json")),
        ("sandbox", options().settings(json!({"sandbox": {"allowed": 1}})).sandbox(json!({"enabled": true}))),
        ("managed_settings", options().managed_settings(json!({"a": 1}))),
        ("setting_sources", options().setting_sources([SettingSource::User, SettingSource::Project])),
        ("setting_sources: none", options().setting_sources([])),
        ("skills: all", options().skills(Skills::All)),
        ("skills: some", options().allowed_tools(["Read"]).skills(Skills::Only(vec!["pdf".to_owned()]))),
        ("plugin", options().plugin(PluginSource::new("/p")).plugin(PluginSource::without_mcp("/q"))),
        (
            "mcp_servers_by_handshake",
            options()
                .mcp_server("files", McpServerConfig::stdio("npx", vec!["-y".to_owned()]))
                .mcp_servers_by_handshake(),
        ),
        ("plugins_by_handshake", options().plugin(PluginSource::without_mcp("/q")).plugins_by_handshake()),
        ("debug", options().debug(None)),
        ("debug: filtered", options().debug(Some("hooks,mcp")).debug_file("/debug.txt")),
        ("on_stderr", options().on_stderr(|_| {})),
        ("line_bytes_max", options().line_bytes_max(1 << 20)),
        ("user", options().user(User { uid: 1000, gid: 1000 })),
        ("client_app", options().client_app("my-app/1.0")),
        ("orphans", options().orphans(Orphans::Keep)),
        ("inline_files", options().settings(json!({"model": "haiku"})).inline_files()),
    ]
}

#[test]
fn s0_38_every_option_becomes_what_the_cli_knows() {
    let base = lines(&options().plan().unwrap());
    let mut shown = "# nothing set\n".to_owned();
    for line in &base {
        writeln!(shown, "{line}").unwrap();
    }
    for (name, options) in table() {
        writeln!(shown, "\n# {name}").unwrap();
        let mut rest = base.clone();
        for line in lines(&options.plan().unwrap()) {
            match rest.iter().position(|other| *other == line) {
                Some(index) => drop(rest.remove(index)),
                None => writeln!(shown, "{line}").unwrap(),
            }
        }
        for line in rest {
            writeln!(shown, "not:  {line}").unwrap();
        }
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn options_that_make_no_sense_are_refused_before_the_start() {
    let refused = vec![
        options().model("opus").fallback_model("opus"),
        options().max_turns(0),
        options().max_budget_usd(f64::NAN),
        options().max_budget_usd(-1.0),
        options().thinking(Thinking::Budget(0)),
        options().output_schema(json!("text")),
        options().permission_mode(PermissionMode::BYPASS_PERMISSIONS),
        options().on_permission(AllowAll).permission_prompt_tool("mcp__a__b"),
        options().continue_latest().resume("x"),
        options().resume(" "),
        options().fork_session(),
        options().session_id("no uuid"),
        options().resume("x").session_id("11111111-1111-4111-8111-111111111111"),
        options().resume_at("m"),
        options().resume("x").resume_drops_turn("m"),
        options().forget_session().mirror_session(),
        options().file_checkpoints().mirror_session(),
        options().settings(json!([])),
        options().settings_file("/s").sandbox(json!({})),
        options().sandbox(json!(1)),
        options().managed_settings(json!(null)),
        options().skills(Skills::Only(vec!["a),Bash(*".to_owned()])),
        options().skills(Skills::Only(vec!["/pdf".to_owned()])),
        options().allowed_tools(["Read", " "]),
        options().mcp_server("a", McpServerConfig::http("https://a")).mcp_handler("a", Silent),
        options().mcp_handler_settings("a", SdkMcpServerConfig::default()),
        options().hook(hook().timeout(Duration::ZERO)),
        options().on_dialog([], |_: DialogAsk| async { DialogAnswer::cancelled() }),
        options().system_prompt(SystemPrompt::Custom { blocks: Vec::new(), snapshot: None }),
        options().env("A=B", "c"),
        options().env("", "c"),
        options().extra_arg("output-format", Some("text")),
        options().extra_arg("a b", None),
        options().model("a\0b"),
        options().allowed_tools(vec!["x".repeat(100); 500]),
    ];
    let mut shown = String::new();
    for options in refused {
        let error = options.plan().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(!error.hint().is_empty(), "{error}");
        let sentence: String = error.to_string().chars().take(120).collect();
        writeln!(shown, "{sentence}\n  {}", error.hint()).unwrap();
    }
    insta::assert_snapshot!(shown);
}

/// F59: a handler that will never be called is reported.
#[test]
fn f59_what_is_never_asked_is_told_before_the_start() {
    let warnings = |options: Options| options.plan().unwrap().warnings.join("; ");
    let told = warnings(options().on_permission(AllowAll).allowed_tools(["Bash", "Edit", "Read(/tmp/**)"]));
    assert_eq!(told, "The permission handler is never called for `Bash`, `Edit`: always allowed");
    let bypass = options().permission_mode(PermissionMode::BYPASS_PERMISSIONS).allow_bypass_permissions();
    assert!(warnings(bypass.clone().on_permission(AllowAll)).contains("never called"));
    assert_eq!(warnings(bypass) + &warnings(options().on_permission(AllowAll)), "");
}

/// A pattern that matches every call allows the tool like its name alone.
#[test]
fn d30_a_pattern_for_every_call_is_reported_like_the_tool() {
    let warnings =
        options().on_permission(AllowAll).allowed_tools(["Read(*)", "Bash(ls:*)"]).plan().unwrap().warnings;
    assert_eq!(warnings.join("; "), "The permission handler is never called for `Read`: always allowed");
}

#[test]
fn d30_an_empty_model_is_refused() {
    for options in [options().model(""), options().model("opus").fallback_model(" ")] {
        assert_eq!(options.plan().unwrap_err().kind(), ErrorKind::Invalid);
    }
}

/// The API refuses such a schema with every request of the session.
#[test]
fn d22_an_output_that_is_no_object_is_refused_before_the_start() {
    for schema in [json!({"type": "array"}), json!({"anyOf": [{"type": "object"}]}), json!({"enum": ["a"]})] {
        let error = options().output_schema(schema).plan().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.hint().contains("field of a struct"), "{error}");
    }
    #[cfg(feature = "schema")]
    {
        assert!(options().output_type::<Vec<String>>().plan().is_err());
        assert!(options().output_type::<std::collections::BTreeMap<String, u32>>().plan().is_ok());
    }
}

/// Everything that may be secret is in places that are not printed: settings, headers, variables, arguments.
#[test]
fn d26_debug_prints_no_secret() {
    let mut remote = tidings::control::RemoteServer::default();
    remote.url = "https://me:secret1@example.com/mcp?key=secret2".to_owned();
    remote.headers.insert("Authorization".to_owned(), "Bearer secret3".to_owned());
    let mut local = tidings::control::StdioServer::default();
    local.command = "npx".to_owned();
    local.args = vec!["--key=secret4".to_owned()];
    local.env.insert("TOKEN".to_owned(), "secret5".to_owned());
    let options = options()
        .env("ANTHROPIC_API_KEY", "secret6")
        .settings(json!({"env": {"KEY": "secret7"}, "apiKeyHelper": "secret8"}))
        .sandbox(json!({"x": "secret9"}))
        .managed_settings(json!({"y": "secret10"}))
        .extra_arg("token", Some("secret11"))
        .mcp_server("far", McpServerConfig::Http(remote))
        .mcp_server("near", McpServerConfig::Stdio(local));
    let long = options.clone().managed_settings(json!({"y": "secret12".repeat(10_000)}));
    for options in [options.clone(), options.inline_files(), long] {
        let (plan, launch) = (options.plan().unwrap(), options.plan().unwrap().launch);
        for shown in [format!("{options:?}"), format!("{plan:#?}"), format!("{launch:?}")] {
            assert!(!shown.contains("secret"), "{shown}");
            assert!(shown.contains("ANTHROPIC_API_KEY"), "{shown}");
        }
    }
}

/// F19, F20: managed settings that are too long for a command line are sent in the handshake.
#[test]
fn f20_no_option_makes_the_command_line_too_long() {
    let long = "x".repeat(100_000);
    let options = options()
        .managed_settings(json!({"a": long}))
        .settings(json!({"b": long}))
        .system_prompt(long.as_str())
        .output_schema(json!({"description": long}))
        .plan_mode_instructions(long.as_str());
    let plan = options.plan().unwrap();
    let total: usize = plan
        .launch
        .args
        .iter()
        .map(|arg| match arg {
            Arg::Text(text) => text.len() + 1,
            _ => 100,
        })
        .sum();
    assert!(total < 8000, "{total}");
    let initialize = serde_json::to_string(&plan.initialize).unwrap();
    assert!(initialize.contains("managedSettings") && initialize.len() > 400_000);
}
