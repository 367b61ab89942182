//! Options of the settings.

use std::fmt;
use std::path::PathBuf;

use serde_json::{Map, Value};
use tidings_protocol::json::Json;

use super::{Options, Plan};
use crate::error::Error;
use crate::limits::ARGUMENT_BYTES_MAX;

/// A source of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingSource {
    /// Settings of the user.
    User,
    /// Shared settings of the project.
    Project,
    /// Local settings of the project, which are not shared.
    Local,
}

#[derive(Clone)]
enum Settings {
    Object(Json),
    File(PathBuf),
}

#[derive(Clone, Default)]
pub(super) struct SettingsOptions {
    settings: Option<Settings>,
    sandbox: Option<Json>,
    managed: Option<Json>,
    sources: Option<Vec<SettingSource>>,
    project_config_root: Option<PathBuf>,
    pub(super) checkpoints: bool,
}

impl Options {
    /// Sets settings as an object, with the keys of a settings file. They are passed as a file, since they
    /// may contain secrets.
    pub fn settings(mut self, settings: impl Into<Json>) -> Self {
        self.settings.settings = Some(Settings::Object(settings.into()));
        self
    }

    /// Sets a settings file.
    pub fn settings_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.settings = Some(Settings::File(path.into()));
        self
    }

    /// Configures the sandbox of commands: the value of the key `sandbox` in settings.
    ///
    /// If the sandbox is enabled and not available, the session fails, unless `failIfUnavailable` is set to
    /// false.
    pub fn sandbox(mut self, sandbox: impl Into<Json>) -> Self {
        self.settings.sandbox = Some(sandbox.into());
        self
    }

    /// Sets managed settings, which nothing else overrides.
    pub fn managed_settings(mut self, settings: impl Into<Json>) -> Self {
        self.settings.managed = Some(settings.into());
        self
    }

    /// Sets the sources of settings; an empty list for none. All sources by default.
    pub fn setting_sources(mut self, sources: impl IntoIterator<Item = SettingSource>) -> Self {
        self.settings.sources = Some(sources.into_iter().collect());
        self
    }

    /// Sets the folder whose project settings apply, if it is not the working folder.
    pub fn project_config_root(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.project_config_root = Some(path.into());
        self
    }

    /// Keeps copies of files before they are changed, so that [`Client::rewind_files`] can revert changes.
    ///
    /// [`Client::rewind_files`]: crate::Client::rewind_files
    pub fn file_checkpoints(mut self) -> Self {
        self.settings.checkpoints = true;
        self
    }
}

impl SettingsOptions {
    pub(super) fn add(&self, plan: &mut Plan) -> Result<(), Error> {
        match (&self.settings, &self.sandbox) {
            (Some(Settings::File(path)), Some(_)) => {
                let message = format!("A sandbox cannot be added to a settings file: `{}`", path.display());
                return Err(Error::invalid(
                    message,
                    "put the sandbox into the file, or pass the settings as an object",
                ));
            }
            (Some(Settings::File(path)), None) => plan.path("settings", path),
            (Some(Settings::Object(settings)), sandbox) => {
                plan.file("settings", "settings.json", merged(Some(settings), sandbox.as_ref())?);
            }
            (None, Some(sandbox)) => plan.file("settings", "settings.json", merged(None, Some(sandbox))?),
            (None, None) => {}
        }
        if let Some(managed) = &self.managed {
            add_managed(plan, managed)?;
        }
        if let Some(sources) = &self.sources {
            let names: Vec<&str> = sources.iter().map(|source| source.name()).collect();
            plan.value("setting-sources", names.join(","));
        }
        if let Some(root) = &self.project_config_root {
            plan.path("project-config-root", root);
        }
        if self.checkpoints {
            plan.env("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "true");
        }
        Ok(())
    }
}

impl SettingSource {
    fn name(self) -> &'static str {
        match self {
            SettingSource::User => "user",
            SettingSource::Project => "project",
            SettingSource::Local => "local",
        }
    }
}

/// Passes managed settings on the command line, or in the handshake if they are too long for that.
fn add_managed(plan: &mut Plan, managed: &Json) -> Result<(), Error> {
    check_object("managed_settings", managed)?;
    let text = managed.raw().as_str();
    if text.len() < ARGUMENT_BYTES_MAX / 2 {
        plan.value("managed-settings", text);
    } else {
        plan.await_initialize();
        plan.flag("managed-settings-in-initialize");
        plan.initialize.extra.insert("managedSettings", managed);
    }
    Ok(())
}

fn check_object(option: &str, value: &Json) -> Result<(), Error> {
    if value.raw().is_object() {
        return Ok(());
    }
    Err(Error::invalid(
        format!("`{option}` is not a JSON object"),
        "pass an object with the keys of a settings file",
    ))
}

/// An object as a tree.
fn object(option: &str, value: &Json) -> Result<Value, Error> {
    check_object(option, value)?;
    value.raw().value().map_err(|error| {
        Error::invalid(
            format!("`{option}` cannot be read"),
            "pass an object with the keys of a settings file",
        )
        .caused_by(error)
    })
}

/// Merges the sandbox into the settings: keys of both are kept, the sandbox's own win.
fn merged(settings: Option<&Json>, sandbox: Option<&Json>) -> Result<String, Error> {
    let mut settings = match settings {
        Some(settings) => object("settings", settings)?,
        None => Value::Object(Map::new()),
    };
    if let (Some(sandbox), Some(all)) = (sandbox, settings.as_object_mut()) {
        let mut sandbox = object("sandbox", sandbox)?;
        if let Some(sandbox) = sandbox.as_object_mut()
            && sandbox.get("enabled") == Some(&Value::Bool(true))
        {
            // A sandbox that is silently missing is worse than none.
            sandbox.entry("failIfUnavailable").or_insert(Value::Bool(true));
        }
        merge(all.entry("sandbox").or_insert_with(|| Value::Object(Map::new())), sandbox);
    }
    Ok(settings.to_string())
}

/// Merges `over` into `under`, key by key. The recursion is as deep as the settings.
fn merge(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (key, value) in over {
                merge(under.entry(key).or_insert(Value::Null), value);
            }
        }
        (under, over) => *under = over,
    }
}

/// Omits the settings themselves, which may contain secrets.
impl fmt::Debug for SettingsOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = |settings: &Json| -> Vec<String> {
            settings.raw().members().map(|(key, _)| key.get().into_owned()).collect()
        };
        let mut shown = f.debug_struct("SettingsOptions");
        match &self.settings {
            Some(Settings::Object(settings)) => shown.field("settings", &keys(settings)),
            Some(Settings::File(path)) => shown.field("settings", path),
            None => &mut shown,
        }
        .field("sandbox", &self.sandbox.as_ref().map(keys))
        .field("managed", &self.managed.as_ref().map(keys))
        .field("sources", &self.sources)
        .field("project_config_root", &self.project_config_root)
        .field("checkpoints", &self.checkpoints)
        .finish()
    }
}
