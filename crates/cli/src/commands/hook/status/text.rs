//! Text form of the report.

use std::fmt::Write as _;
use std::path::Path;

use tidings_commands::human;
use tidings_commands::output::{DIM, PLAIN, RED, YELLOW, printable};

use super::super::folder::Scope;
use super::{HookReport, INSTALLED, ScopeReport};

/// Marks of a line: the colour, and the sign that says the same.
const GOOD: (&str, &str) = ("", "✓");
const NEUTRAL: (&str, &str) = ("", "-");
const WARNING: (&str, &str) = (YELLOW, "!");
const WRONG: (&str, &str) = (RED, "✗");

/// Width of the names in the first column.
const NAME_COLUMNS: usize = 7;

pub(super) fn of(report: &HookReport) -> String {
    let mut text = String::new();
    let is_installed =
        report.marketplace.is_some() || report.scopes.iter().any(|scope| scope.state == INSTALLED);
    if let Some(plugin) = &report.marketplace {
        line(&mut text, GOOD, "plugin", &format!("{plugin}, from a marketplace"), "");
    }
    for scope in &report.scopes {
        line(
            &mut text,
            mark_of(scope, is_installed),
            scope.scope.name(),
            &state_of(scope),
            hint_of(scope, is_installed),
        );
        if let Some(program) = &scope.program {
            line(&mut text, NEUTRAL, "program", program, "");
        }
    }
    let shown = |path: &Path| path.display().to_string();
    match (&report.claude.program, &report.claude.version) {
        (Some(program), Some(version)) => {
            line(&mut text, GOOD, "claude", &format!("{version}, {}", shown(program)), "");
        }
        (Some(program), None) => line(&mut text, WARNING, "claude", &shown(program), ""),
        (None, _) => line(&mut text, WARNING, "claude", "not found", ""),
    }
    let socket = shown(&report.server.socket);
    match report.server.state {
        "running" => line(&mut text, GOOD, "server", &format!("running, {socket}"), ""),
        "no_reply" => {
            let hint = "hooks leave it alone for 10 s after each failure; restart it if this persists";
            line(&mut text, WARNING, "server", &format!("does not reply, {socket}"), hint);
        }
        _ => {
            let hint = "start it with `tidings serve`; until then the hooks do nothing";
            line(&mut text, WARNING, "server", &format!("not running, {socket}"), hint);
        }
    }
    for folder in &report.ignored {
        line(&mut text, NEUTRAL, "ignored", &shown(folder), "");
    }
    for problem in &report.problems {
        let mark = if problem.stops_hooks { WRONG } else { WARNING };
        line(&mut text, mark, "problem", &problem.message, &problem.hint);
    }
    text
}

fn mark_of(scope: &ScopeReport, is_installed: bool) -> (&'static str, &'static str) {
    match (scope.state, scope.scope) {
        (INSTALLED, _) => GOOD,
        ("absent", Scope::User) if !is_installed => WRONG,
        ("absent", _) => NEUTRAL,
        _ => WARNING,
    }
}

fn state_of(scope: &ScopeReport) -> String {
    let folder = scope.folder.display();
    match (scope.state, &scope.version) {
        (INSTALLED, Some(version)) => format!("installed by Tidings {version}, {folder}"),
        ("edited", Some(version)) => format!("installed by Tidings {version}, edited since, {folder}"),
        ("foreign", _) => format!("another plugin or file has this name, {folder}"),
        ("link", _) => format!("not installed: the path has a symbolic link, {folder}"),
        _ => format!("not installed, {folder}"),
    }
}

fn hint_of(scope: &ScopeReport, is_installed: bool) -> &'static str {
    match (scope.state, scope.scope) {
        ("absent", Scope::User) if !is_installed => "install them with `tidings hook install`",
        ("foreign" | "link", _) => "move it away to install the hooks there",
        _ => "",
    }
}

fn line(text: &mut String, (colour, mark): (&str, &str), name: &str, found: &str, hint: &str) {
    let name = human::padded(name, NAME_COLUMNS);
    // Writing into a String cannot fail.
    let _ = writeln!(text, "{colour}{mark}{PLAIN} {name}  {}", printable(found));
    if !hint.is_empty() {
        let _ = writeln!(text, "  {:NAME_COLUMNS$}  {DIM}{}{PLAIN}", "", printable(hint));
    }
}
