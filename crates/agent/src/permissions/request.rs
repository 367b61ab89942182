//! Derivation of a readable request from a tool and its input.

use tidings_protocol::json::{Json, Raw};
use tidings_protocol::mobile::RiskLevel;
use tidings_protocol::tools::{ToolInput, canonical_name, mcp_parts};
use tidings_protocol::ui::{PermissionLevel, PermissionRequest, TargetType};

use super::command::{CommandKind, Opaque, Script};
use super::hidden::visible;
use super::reach::{self, Depth, Links, Reach};
use super::{SessionFacts, is_hidden, paths, runs, writes};
use crate::limits::DESCRIPTION_CHARS_MAX;

/// Hosts that are this machine, or that serve source code.
pub(crate) const KNOWN_HOSTS: &[&str] =
    &["localhost", "127.0.0.1", "::1", "github.com", "*.github.com", "*.githubusercontent.com"];

/// The request, risk and reach that follow from a tool and its input.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Derived {
    /// The request for the events, without a reason.
    pub request: PermissionRequest,
    /// The risk level.
    pub risk: RiskLevel,
    /// The reach.
    pub reach: Reach,
    /// The parsed command, if the tool runs one.
    pub script: Option<Script>,
}

/// Derives the request of a tool: reading and writing tools ask for a path, shell tools for a command,
/// fetching tools for a domain, and all others for the tool as a whole.
///
/// Relative paths belong to the session's folder.
///
/// ```
/// use tidings_agent::permissions::{SessionFacts, derive};
/// use tidings_protocol::json::Json;
/// use tidings_protocol::ui::{PermissionLevel, TargetType};
///
/// let facts = SessionFacts::in_folder("/home/ada/demo");
/// let derived = derive("Bash", &Json::parse(r#"{"command":"rm -rf build"}"#)?, &facts);
/// assert_eq!(derived.request.target_type, TargetType::Command);
/// assert_eq!(derived.request.level, PermissionLevel::Admin);
/// assert_eq!(derived.request.description, "Run `rm -rf build`; it deletes or overwrites files");
/// # Ok::<(), tidings_protocol::json::SyntaxError>(())
/// ```
pub fn derive(tool: &str, input: &Json, facts: &SessionFacts) -> Derived {
    let raw = input.raw();
    let folder = facts.folder.path();
    let typed = ToolInput::read(tool, raw);
    let path = |text: &str| paths::resolve(text, folder);
    let to = |text: &str, depth| reach::of_path(text, depth, facts, Links::Ignored);
    let written = |text: &str, action| writing(paths::resolve(text, folder), action, facts);
    match (canonical_name(tool), typed) {
        ("Read", Ok(ToolInput::Read(input))) => {
            reading(path(&input.file_path), "Read the file", to(&input.file_path, Depth::Itself))
        }
        ("Glob", Ok(ToolInput::Glob(input))) => {
            // A pattern may lead out of its folder.
            let start = path(input.path.as_deref().unwrap_or("."));
            let place = glob_base(&input.pattern, &start);
            let text = format!("Look for files named `{}` in", short(&input.pattern));
            let names = paths::resolve(&input.pattern, Some(&start));
            let reach = to(&place, Depth::Itself).max(reach::of_names(&names, facts));
            recursive(reading(place, &text, reach))
        }
        ("Grep", Ok(ToolInput::Grep(input))) => {
            let text = format!("Search for `{}` in", short(&input.pattern));
            let place = input.path.as_deref().unwrap_or(".");
            let chooses_secrets = input.glob.as_deref().is_some_and(reach::chooses_secrets);
            let reach = if chooses_secrets { Reach::Secret } else { to(place, Depth::Below) };
            recursive(reading(path(place), &text, reach))
        }
        ("LS", _) => {
            let place = text_of(raw, "path").unwrap_or_else(|| ".".to_owned());
            recursive(reading(path(&place), "List the folder", to(&place, Depth::Itself)))
        }
        ("NotebookRead", _) => match text_of(raw, "notebook_path") {
            Some(place) => reading(path(&place), "Read the notebook", to(&place, Depth::Itself)),
            None => whole_tool(tool, PermissionLevel::Execute, RiskLevel::High),
        },
        ("Write", Ok(ToolInput::Write(input))) => written(&input.file_path, "Write the file"),
        ("Edit", Ok(ToolInput::Edit(input))) => written(&input.file_path, "Change the file"),
        ("MultiEdit", Ok(ToolInput::MultiEdit(input))) => written(&input.file_path, "Change the file"),
        ("NotebookEdit", Ok(ToolInput::NotebookEdit(input))) => {
            written(&input.notebook_path, "Change the notebook")
        }
        ("Bash", Ok(ToolInput::Bash(input))) => {
            let unsandboxed = raw.get("dangerouslyDisableSandbox").and_then(Raw::bool) == Some(true);
            let note = unsandboxed.then_some("it runs outside of the sandbox");
            running(&input.command, Script::parse(&input.command), note, facts)
        }
        ("Monitor", Ok(ToolInput::Monitor(input))) if input.command.is_some() => {
            let command = input.command.unwrap_or_default();
            running(&command, Script::parse(&command), None, facts)
        }
        ("PowerShell", _) => match text_of(raw, "command") {
            // Another language, which is not parsed.
            Some(command) => running(&command, Script::unknown(), None, facts),
            None => whole_tool(tool, PermissionLevel::Execute, RiskLevel::High),
        },
        ("WebFetch", Ok(ToolInput::WebFetch(input))) => fetching(&input.url),
        ("WebSearch", Ok(ToolInput::WebSearch(input))) => {
            let mut derived = whole_tool(tool, PermissionLevel::Read, RiskLevel::High);
            derived.request.description = format!("Search the web for `{}`", short(&input.query));
            derived
        }
        // These manage a list, ask the user, or read data of the session itself.
        (
            "TodoWrite"
            | "TodoRead"
            | "TaskCreate"
            | "TaskGet"
            | "TaskUpdate"
            | "TaskList"
            | "TaskOutput"
            | "BashOutput"
            | "ToolSearch"
            | "EnterPlanMode"
            | "ExitPlanMode"
            | "AskUserQuestion"
            | "LSP"
            | "ListAgents"
            | "ListMcpResourcesTool"
            | "CronList"
            | "ReadNotifications"
            | "WaitForMcpServers",
            _,
        ) => whole_tool(tool, PermissionLevel::Read, RiskLevel::Low),
        // The calls that they lead to need permissions of their own.
        ("Agent" | "Skill" | "SlashCommand" | "TaskStop" | "SendMessage", _) => {
            whole_tool(tool, PermissionLevel::Execute, RiskLevel::Medium)
        }
        _ => whole_tool(tool, PermissionLevel::Execute, RiskLevel::High),
    }
}

fn reading(path: String, action: &str, reach: Reach) -> Derived {
    Derived { reach, ..of_path(path, action, PermissionLevel::Read, risk_of_reading(reach)) }
}

/// The risk of reading: low in the project, high outside of it and for credentials.
pub(super) fn risk_of_reading(reach: Reach) -> RiskLevel {
    if reach == Reach::Folder { RiskLevel::Low } else { RiskLevel::High }
}

fn writing(path: String, action: &str, facts: &SessionFacts) -> Derived {
    let reach = reach::of_path(&path, Depth::Itself, facts, Links::Ignored);
    let runs = runs::runs_later(&path, facts.folder.path());
    // Whether the file is new is found out on the disk later.
    let risk = if reach == Reach::Folder && !runs { RiskLevel::Medium } else { RiskLevel::High };
    Derived { reach, ..of_path(path, action, PermissionLevel::Write, risk) }
}

fn of_path(path: String, action: &str, level: PermissionLevel, risk: RiskLevel) -> Derived {
    let description = format!("{action} `{}`{}", short(&path), hidden_note(&path));
    derived(TargetType::Path, path, level, description, risk)
}

fn recursive(mut derived: Derived) -> Derived {
    derived.request.recursive = true;
    derived
}

fn running(command: &str, script: Script, note: Option<&str>, facts: &SessionFacts) -> Derived {
    let danger = script.danger();
    let level = match (danger, note) {
        (None, None) => PermissionLevel::Execute,
        _ => PermissionLevel::Admin,
    };
    let mut notes: Vec<&str> = note.into_iter().collect();
    notes.extend(danger.map(super::command::Danger::description));
    if script.is_opaque() {
        notes.push(if script.opaque().any(|why| why == Opaque::HiddenCharacter) {
            "it contains invisible characters"
        } else {
            "its effect is not known before it runs"
        });
    }
    let mut description = format!("Run `{}`", short(command));
    if !notes.is_empty() {
        description.push_str("; ");
        description.push_str(&notes.join(", "));
    }
    let reach = reach::of_script(&script, facts, Links::Ignored);
    let risk = if level == PermissionLevel::Admin { RiskLevel::High } else { risk_of(&script, reach, facts) };
    let mut derived = derived(TargetType::Command, command.to_owned(), level, description, risk);
    derived.script = Some(script);
    derived.reach = reach;
    derived
}

/// The risk of a command line. Reading and creating files is low; changes, builds and tests are medium;
/// network access, anything outside of the project and files that run later are high, and so are unknown
/// commands.
fn risk_of(script: &Script, reach: Reach, facts: &SessionFacts) -> RiskLevel {
    if script.is_opaque() || script.commands().is_empty() || reach != Reach::Folder {
        return RiskLevel::High;
    }
    if writes::writes_what_runs(script, facts, Links::Ignored) {
        return RiskLevel::High;
    }
    let one = |command: &super::SimpleCommand| match command.kind() {
        _ if !command.assignments.is_empty() => RiskLevel::High,
        CommandKind::Look | CommandKind::Create if command.is_bare() => RiskLevel::Low,
        CommandKind::Look
        | CommandKind::Create
        | CommandKind::Change
        | CommandKind::Git
        | CommandKind::Build
        | CommandKind::Test => RiskLevel::Medium,
        // A redirection alone, or a wrapper whose command follows in the list.
        CommandKind::Other if command.words.is_empty() => RiskLevel::Medium,
        CommandKind::Other if command.is_transparent() => RiskLevel::Low,
        CommandKind::Install | CommandKind::Network | CommandKind::Other => RiskLevel::High,
    };
    script.commands().iter().map(one).max().unwrap_or(RiskLevel::High)
}

fn fetching(url: &str) -> Derived {
    let host = host(url);
    let description = format!("Fetch `{}`{}", short(url), hidden_note(url));
    derived(
        TargetType::Domain,
        host.unwrap_or_else(|| url.to_owned()),
        PermissionLevel::Read,
        description,
        // A URL can transmit data that the model has read.
        RiskLevel::High,
    )
}

fn whole_tool(tool: &str, level: PermissionLevel, risk: RiskLevel) -> Derived {
    let description = match mcp_parts(tool) {
        Some((server, name)) => {
            format!("Use the tool `{}` of the MCP server `{}`", short(name), short(server))
        }
        None => format!("Use the tool `{}`", short(tool)),
    };
    derived(TargetType::Tool, tool.to_owned(), level, description, risk)
}

fn derived(
    target_type: TargetType,
    target: String,
    level: PermissionLevel,
    description: String,
    risk: RiskLevel,
) -> Derived {
    let request =
        PermissionRequest { target_type, target, level, description, reason: None, recursive: false };
    Derived { request, risk, reach: Reach::default(), script: None }
}

fn short(text: &str) -> String {
    visible(text, DESCRIPTION_CHARS_MAX)
}

fn hidden_note(text: &str) -> &'static str {
    if text.chars().any(is_hidden) { "; it contains invisible characters" } else { "" }
}

fn text_of(raw: Raw<'_>, key: &str) -> Option<String> {
    Some(raw.get(key)?.text()?.get().into_owned())
}

/// The folder before the first wildcard of a pattern, for a search that starts in `start`.
fn glob_base(pattern: &str, start: &str) -> String {
    let fixed = pattern.split(['*', '?', '[', '{']).next().unwrap_or_default();
    match fixed.rsplit_once('/') {
        Some(("", _)) => "/".to_owned(),
        Some((base, _)) => paths::resolve(base, Some(start)),
        None => start.to_owned(),
    }
}

/// The host of a URL, in lower case; `None` if the URL is unusual in any way.
pub(crate) fn host(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next()?;
    // A name before `@` can imitate a host, and browsers treat a backslash as a slash.
    if authority.contains(['@', '\\', '%']) || authority.chars().any(is_hidden) {
        return None;
    }
    let host = match authority.strip_prefix('[') {
        Some(six) => six.split(']').next()?,
        None => authority.split(':').next()?,
    };
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let plain = host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b':'));
    (plain && !host.is_empty()).then_some(host)
}
