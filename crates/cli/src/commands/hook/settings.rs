//! Settings of Claude Code that keep the hooks from running. They are read, and never written.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::Serialize;
use serde_json::Value;

use super::plugin::NAME;

/// A reason why hooks may not run.
#[derive(Debug, Serialize)]
pub(super) struct HookProblem {
    pub(super) message: String,
    pub(super) hint: String,
    /// True if no hook runs because of it.
    pub(super) stops_hooks: bool,
}

/// Folder of the settings that an administrator manages.
pub(super) const MANAGED: &str =
    if cfg!(target_os = "macos") { "/Library/Application Support/ClaudeCode" } else { "/etc/claude-code" };

/// One settings file, parsed.
struct SettingsFile {
    path: PathBuf,
    value: Value,
}

/// The settings of a session.
pub(super) struct SessionSettings {
    managed: Vec<SettingsFile>,
    /// Files of the project and the user. The first file that has a value wins.
    own: Vec<SettingsFile>,
    unreadable: Vec<HookProblem>,
}

/// Name of the plugin folder in the settings.
const PLUGIN_FOLDER: &str = "tidings@skills-dir";

impl SessionSettings {
    /// Reads the settings: `managed` is the folder of managed settings, `config` the configuration folder,
    /// and `project` the folder that a session works in.
    pub(super) fn read(managed: &Path, config: &Path, project: &Path) -> Self {
        let mut unreadable = Vec::new();
        let managed = load(managed_files(managed), &mut unreadable);
        let mut own = vec![
            project.join(".claude/settings.local.json"),
            project.join(".claude/settings.json"),
            config.join("settings.json"),
        ];
        // A project in the home folder has the user's settings.
        own.dedup();
        let own = load(own, &mut unreadable);
        SessionSettings { managed, own, unreadable }
    }

    /// An enabled plugin of the same name from a marketplace. Claude Code prefers it to a plugin folder.
    pub(super) fn marketplace_plugin(&self) -> Option<String> {
        let plugins = |file: &SettingsFile| file.value.get("enabledPlugins")?.as_object().cloned();
        let names = self.all().into_iter().filter_map(plugins).flatten();
        let is_candidate =
            |name: &String| name.split('@').next() == Some(NAME) && name.as_str() != PLUGIN_FOLDER;
        let mut names = names.map(|(name, _)| name).filter(is_candidate);
        names.find(|name| {
            self.turned_on_by(|value| value.get("enabledPlugins")?.get(name)?.as_bool()).is_some()
        })
    }

    /// Finds the settings that keep hooks from running.
    pub(super) fn problems(self) -> Vec<HookProblem> {
        let mut found = Vec::new();
        if let Some(path) = self.turned_on_by(|value| value.get("disableAllHooks")?.as_bool()) {
            found.push(HookProblem {
                message: format!("`disableAllHooks` turns every hook off: `{}`", path.display()),
                hint: "remove it from that file, or set it to false".to_owned(),
                stops_hooks: true,
            });
        }
        let is_enabled = |value: &Value| value.get("enabledPlugins")?.get(PLUGIN_FOLDER)?.as_bool();
        if let Some(path) = self.turned_off_by(is_enabled) {
            found.push(HookProblem {
                message: format!(
                    "`enabledPlugins` turns the plugin `{PLUGIN_FOLDER}` off: `{}`",
                    path.display()
                ),
                hint: format!("run `claude plugin enable {PLUGIN_FOLDER}`"),
                stops_hooks: self.marketplace_plugin().is_none(),
            });
        }
        found.extend(self.managed.iter().filter_map(managed_problem));
        found.extend(self.unreadable);
        found
    }

    /// The file that decides about a switch, if it turns it on.
    fn turned_on_by(&self, switch: impl Fn(&Value) -> Option<bool>) -> Option<&Path> {
        self.decided_by(switch).filter(|(_, is_on)| *is_on).map(|(path, _)| path)
    }

    /// The file that decides about a switch, if it turns it off.
    fn turned_off_by(&self, switch: impl Fn(&Value) -> Option<bool>) -> Option<&Path> {
        self.decided_by(switch).filter(|(_, is_on)| !is_on).map(|(path, _)| path)
    }

    /// The first file that has a switch, and its value there.
    fn decided_by(&self, switch: impl Fn(&Value) -> Option<bool>) -> Option<(&Path, bool)> {
        self.all().into_iter().find_map(|file| Some((file.path.as_path(), switch(&file.value)?)))
    }

    fn all(&self) -> Vec<&SettingsFile> {
        self.managed.iter().chain(&self.own).collect()
    }
}

/// Finds settings with which an administrator forbids hooks or plugins of users.
fn managed_problem(file: &SettingsFile) -> Option<HookProblem> {
    let key = |name: &str| file.value.get(name);
    let lists_plugin_folders = |list: &Value| {
        let is_one = |source: &Value| source.get("source").and_then(Value::as_str) == Some("skills-dir");
        list.as_array().is_some_and(|sources| sources.iter().any(is_one))
    };
    let (name, hint) = if key("allowManagedHooksOnly").and_then(Value::as_bool) == Some(true) {
        ("allowManagedHooksOnly", "ask your administrator to add the hooks to the managed settings")
    } else if key("strictKnownMarketplaces")
        .is_some_and(|list| list.is_array() && !lists_plugin_folders(list))
    {
        ("strictKnownMarketplaces", "ask your administrator to add {\"source\":\"skills-dir\"} to it")
    } else if key("blockedMarketplaces").is_some_and(lists_plugin_folders) {
        ("blockedMarketplaces", "ask your administrator to remove {\"source\":\"skills-dir\"} from it")
    } else {
        return None;
    };
    let message = format!("`{name}` in the managed settings forbids these hooks: `{}`", file.path.display());
    Some(HookProblem { message, hint: hint.to_owned(), stops_hooks: true })
}

/// Managed settings files; a later name overrides an earlier one, so it comes first.
fn managed_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder.join("managed-settings.d")).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    files.insert(0, folder.join("managed-settings.json"));
    files.reverse();
    files
}

/// Parses the files that exist, and reports those that Claude Code skips.
fn load(paths: Vec<PathBuf>, problems: &mut Vec<HookProblem>) -> Vec<SettingsFile> {
    let mut files = Vec::new();
    for path in paths {
        let parsed = read(&path).and_then(|text| text.map_or(Ok(None), |text| parse(&text)));
        match parsed {
            Ok(None) => {}
            Ok(Some(value)) => files.push(SettingsFile { path, value }),
            Err(error) => problems.push(HookProblem {
                message: format!(
                    "Claude Code cannot read this settings file, and skips it: `{}`",
                    path.display()
                ),
                hint: format!("{error}; Tidings leaves the file alone"),
                stops_hooks: false,
            }),
        }
    }
    files
}

fn read(path: &Path) -> io::Result<Option<String>> {
    const BYTES_MAX: u64 = 16 << 20;
    let mut text = String::new();
    match fs::File::open(path).and_then(|file| file.take(BYTES_MAX).read_to_string(&mut text)) {
        Ok(_) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Parses settings; none for an empty file.
fn parse(text: &str) -> io::Result<Option<Value>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Ok(None);
    }
    Ok(Some(serde_json::from_str(text)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names in backticks of the problems that stop hooks, for these contents of settings files.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let temp = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = temp.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let [managed, config, project] = ["managed", "config", "project"].map(|name| temp.path().join(name));
        let problems = SessionSettings::read(&managed, &config, &project).problems();
        let stops = problems.iter().filter(|problem| problem.stops_hooks);
        stops.map(|problem| problem.message.split('`').nth(1).unwrap().to_owned()).collect()
    }

    #[test]
    fn the_file_with_the_highest_precedence_decides() {
        let (on, off) = (r#"{"disableAllHooks":true}"#, r#"{"disableAllHooks":false}"#);
        let (user, project) = ("config/settings.json", "project/.claude/settings.json");
        let local = "project/.claude/settings.local.json";
        assert_eq!(found(&[]), [""; 0]);
        assert_eq!(found(&[(user, on)]), ["disableAllHooks"]);
        assert_eq!(found(&[(user, on), (project, off)]), [""; 0]);
        assert_eq!(found(&[(user, off), (project, off), (local, on)]), ["disableAllHooks"]);
        assert_eq!(found(&[("managed/managed-settings.json", off), (local, on)]), [""; 0]);
        let plugin = r#"{"enabledPlugins":{"tidings@skills-dir":false}}"#;
        assert_eq!(found(&[(user, plugin)]), ["enabledPlugins"]);
    }

    #[test]
    fn managed_settings_that_forbid_the_hooks_are_named() {
        for (name, text) in [
            ("allowManagedHooksOnly", r#"{"allowManagedHooksOnly":true}"#),
            ("disableAllHooks", r#"{"disableAllHooks":true}"#),
            ("strictKnownMarketplaces", r#"{"strictKnownMarketplaces":[]}"#),
            ("blockedMarketplaces", r#"{"blockedMarketplaces":[{"source":"skills-dir"}]}"#),
        ] {
            assert_eq!(found(&[("managed/managed-settings.json", text)]), [name]);
            assert_eq!(found(&[("managed/managed-settings.d/a.json", text)]), [name]);
            // They have no effect in a user's file, except for the one that is no policy.
            let in_user = found(&[("config/settings.json", text)]);
            assert_eq!(in_user.is_empty(), name != "disableAllHooks", "{name}");
        }
        let allowed = r#"{"strictKnownMarketplaces":[{"source":"skills-dir"}]}"#;
        assert_eq!(found(&[("managed/managed-settings.json", allowed)]), [""; 0]);
    }
}
