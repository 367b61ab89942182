//! `tidings hook status`: reports whether the hooks are installed and can work.

mod text;

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use tidings::find::{self, Version};
use tidings_commands::error::Exit;
use tidings_commands::output::Output;

use super::client::{Endpoint, Failure, Hold, Request};
use super::entries::{EntriesState, SettingsEntries};
use super::folder::{PluginFolder, PluginState, Scope};
use super::settings::{HookProblem, MANAGED, SessionSettings};
use super::{HookStatusArgs, data_folder, ignore};

/// The oldest version that was seen to load plugin folders; 2.1.112 does not.
pub(super) const PLUGIN_FOLDERS_SINCE: Version = Version { major: 2, minor: 1, patch: 197 };

/// Time for a reply of the server. A hook waits less, and a busy server is still a running one.
const REPLY_TIME: Duration = Duration::from_secs(2);

/// The JSON output.
#[derive(Debug, Serialize)]
struct HookReport {
    /// True if the hooks are installed and nothing keeps them from running.
    ok: bool,
    scopes: Vec<ScopeReport>,
    /// Enabled plugin that came from a marketplace instead.
    marketplace: Option<String>,
    server: ServerReport,
    claude: ClaudeReport,
    ignored: Vec<PathBuf>,
    problems: Vec<HookProblem>,
}

#[derive(Debug, Serialize)]
struct ScopeReport {
    scope: Scope,
    folder: PathBuf,
    state: &'static str,
    /// `plugin`, or `settings` for entries of a settings file, which `folder` names then.
    form: &'static str,
    /// Version of Tidings that wrote the hooks.
    version: Option<String>,
    /// Program that the hooks run.
    program: Option<String>,
    /// Data folder that the hooks are given.
    data: Option<String>,
}

#[derive(Debug, Serialize)]
struct ServerReport {
    data: PathBuf,
    socket: PathBuf,
    state: &'static str,
}

#[derive(Debug, Serialize)]
struct ClaudeReport {
    program: Option<PathBuf>,
    version: Option<String>,
}

const INSTALLED: &str = "installed";

/// State of entries in settings that were edited since. The hooks may still be in them.
const EDITED: &str = "edited";

impl HookStatusArgs {
    pub(super) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let mut problems = Vec::new();
        let scopes = scopes(&mut problems)?;
        let has_entries = scopes.iter().any(|scope| scope.form == "settings");
        let claude = claude(has_entries, &mut problems)?;
        let config = PluginFolder::of(Scope::User)?.config;
        let settings = SessionSettings::read(Path::new(MANAGED), &config, &env::current_dir()?);
        let marketplace = settings.marketplace_plugin();
        problems.extend(settings.problems());
        let installed = scopes.iter().find(|scope| scope.state == INSTALLED);
        let recorded = installed.and_then(|scope| scope.data.as_ref()).map(PathBuf::from);
        let data = data_folder(self.data.as_ref().or(recorded.as_ref()))?;
        if let (Some(plugin), Some(scope)) = (&marketplace, installed) {
            problems.push(HookProblem {
                message: format!(
                    "The plugin `{plugin}` takes the place of this folder: `{}`",
                    scope.folder.display()
                ),
                hint: format!("run `claude plugin uninstall {plugin}` or `tidings hook uninstall`"),
                stops_hooks: false,
            });
        }
        let is_edited = |scope: &ScopeReport| {
            scope.state == EDITED
                && SettingsEntries::of(scope.scope)
                    .and_then(|entries| entries.has_hooks())
                    .unwrap_or_default()
        };
        let is_installed = installed.is_some() || marketplace.is_some() || scopes.iter().any(is_edited);
        let ok = is_installed && !problems.iter().any(|problem| problem.stops_hooks);
        let ignored = ignore::read(&data);
        let report = HookReport { ok, scopes, marketplace, server: server(data), claude, ignored, problems };
        if self.json {
            out.json(&report)?;
        } else {
            out.text(&text::of(&report))?;
        }
        Ok(if ok { Exit::Success } else { Exit::Failure })
    }
}

/// Inspects the plugin folders of both scopes.
fn scopes(problems: &mut Vec<HookProblem>) -> anyhow::Result<Vec<ScopeReport>> {
    let mut scopes: Vec<ScopeReport> = Vec::new();
    for scope in [Scope::User, Scope::Project] {
        let folder = PluginFolder::of(scope)?;
        let path = folder.path();
        // A project in the home folder has the user's hooks.
        if scopes.iter().any(|other| other.folder == path) {
            continue;
        }
        let (state, version, hooks) = match folder.state()? {
            PluginState::Absent => ("absent", None, None),
            PluginState::Installed { version, program } => (INSTALLED, Some(version), Some(program)),
            PluginState::Foreign => ("foreign", None, None),
            PluginState::Link(_) => ("link", None, None),
        };
        if let Some(hooks) = &hooks {
            problems.extend(program_problem(scope, hooks.as_ref().map(|hooks| Path::new(&hooks.program))));
        }
        let (program, data) = hooks.flatten().map(|hooks| (hooks.program, hooks.data)).unzip();
        let plugin = ScopeReport {
            scope,
            folder: path,
            state,
            form: "plugin",
            version,
            program,
            data: data.flatten(),
        };
        scopes.push(entries(scope, state == INSTALLED, problems)?.unwrap_or(plugin));
    }
    if scopes.iter().filter(|scope| scope.state == INSTALLED).count() > 1 {
        problems.push(HookProblem {
            message: "The hooks are installed for the user too, so Claude Code skips those of this project"
                .to_owned(),
            hint: "run `tidings hook uninstall --scope project`".to_owned(),
            stops_hooks: false,
        });
    }
    Ok(scopes)
}

/// Inspects the entries in the settings of a scope, where they are.
fn entries(
    scope: Scope,
    has_plugin: bool,
    problems: &mut Vec<HookProblem>,
) -> anyhow::Result<Option<ScopeReport>> {
    let entries = SettingsEntries::of(scope)?;
    let (state, record) = match entries.state()? {
        EntriesState::Absent => return Ok(None),
        EntriesState::Installed(record) => (INSTALLED, record),
        EntriesState::Edited(record) => (EDITED, record),
    };
    if state == EDITED {
        problems.push(HookProblem {
            message: format!("The settings were edited since the hooks were added: `{}`", entries.path.display()),
            hint: "`tidings hook uninstall` leaves them alone: remove the hooks with `tidings hook run` yourself"
                .to_owned(),
            stops_hooks: false,
        });
    }
    if has_plugin {
        problems.push(HookProblem {
            message: format!("The hooks are in the settings and in a plugin: `{}`", entries.path.display()),
            hint: "run `tidings hook install` again, so that nothing is reported twice".to_owned(),
            stops_hooks: false,
        });
    }
    problems.extend(program_problem(scope, Some(Path::new(&record.program))));
    Ok(Some(ScopeReport {
        scope,
        folder: entries.path,
        state,
        form: "settings",
        version: Some(record.version),
        program: Some(record.program),
        data: record.data,
    }))
}

/// Compares the program of the installed hooks with this one.
fn program_problem(scope: Scope, program: Option<&Path>) -> Option<HookProblem> {
    let again = format!("run `tidings hook install --scope {}` again", scope.name());
    let problem = |message, stops_hooks| Some(HookProblem { message, hint: again.clone(), stops_hooks });
    let Some(program) = program else {
        return problem("The installed hooks are damaged".to_owned(), true);
    };
    let shown = program.display();
    let Ok(found) = std::fs::canonicalize(program) else {
        return problem(format!("The program of the hooks does not exist: `{shown}`"), true);
    };
    let own = env::current_exe().and_then(std::fs::canonicalize);
    if own.is_ok_and(|own| own != found) {
        return problem(format!("The hooks run another program than this one: `{shown}`"), false);
    }
    None
}

fn claude(has_entries: bool, problems: &mut Vec<HookProblem>) -> anyhow::Result<ClaudeReport> {
    let mut problem = |message: String, hint: &str| {
        problems.push(HookProblem { message, hint: hint.to_owned(), stops_hooks: false });
    };
    let program = match find::claude() {
        Ok(program) => program,
        Err(error) => {
            problem(error.to_string(), "install Claude Code, or set CLAUDE_CLI_PATH");
            return Ok(ClaudeReport { program: None, version: None });
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let version = match runtime.block_on(find::version(&program)) {
        Ok(version) => version,
        Err(error) => {
            problem(error.to_string(), "reinstall Claude Code");
            return Ok(ClaudeReport { program: Some(program), version: None });
        }
    };
    if version < PLUGIN_FOLDERS_SINCE && !has_entries {
        let message = format!(
            "Claude Code {version} may not load plugin folders; versions since {PLUGIN_FOLDERS_SINCE} do"
        );
        problem(message, "run `tidings hook install` again, or `claude update`");
    }
    Ok(ClaudeReport { program: Some(program), version: Some(version.to_string()) })
}

/// Asks the server on its socket whether it is there.
fn server(data: PathBuf) -> ServerReport {
    let endpoint = Endpoint::of(&data);
    let request = Request { method: "GET", path: "/healthz", body: [b""; 3], reply_time: REPLY_TIME };
    let state = match endpoint.send(&request, Hold::No) {
        Ok(_) => "running",
        Err(Failure::NoReply) => "no_reply",
        Err(Failure::Other) => "absent",
    };
    ServerReport { data, socket: endpoint.socket, state }
}
