//! `tidings hook install`: writes the plugin folder.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use fs_err as fs;
use tidings::find::{self, Version};
use tidings_base::files;
use tidings_commands::error::{CannotRun, Exit};
use tidings_commands::output::{Output, printable};
use uuid::Uuid;

use super::entries::{EntriesState, SettingsEntries};
use super::folder::{
    HOOKS, InstallRecord, MANIFEST, PluginFolder, PluginState, RECORD, Scope, foreign, link,
};
use super::plugin::{HookProgram, Manifest, NAME};
use super::settings::{MANAGED, SessionSettings};
use super::status::PLUGIN_FOLDERS_SINCE;
use super::{HookForm, HookInstallArgs, data_folder};

/// The oldest version that was seen to run the hooks as entries of the settings and to describe its
/// processes. 2.0.60 does not, and skips a settings file that has an event which it does not know.
const ENTRIES_SINCE: Version = Version { major: 2, minor: 1, patch: 112 };

impl HookInstallArgs {
    pub(super) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let folder = PluginFolder::of(self.target.scope)?;
        let entries = SettingsEntries::of(self.target.scope)?;
        if self.form()? == HookForm::Settings {
            return self.run_entries(&entries, &folder, out);
        }
        let state = folder.state()?;
        let path = folder.path();
        let is_update = match state {
            PluginState::Absent => false,
            PluginState::Installed { .. } => true,
            PluginState::Foreign => return Err(foreign(&path).into()),
            PluginState::Link(path) => return Err(link(&path).into()),
        };
        let other = check_others(&folder)?;
        let hooks = HookProgram { program: program()?, data: data_argument(self.data.as_ref())? };
        let files = PluginFiles::new(&folder, &hooks)?;
        if self.target.dry_run {
            return files.print(&path, out);
        }
        // With both, every event would be reported twice.
        entries.uninstall()?;
        if is_update {
            files.replace(&path)?;
        } else {
            files.create(&folder)?;
        }
        out.text(&format!("{}\n", printable(&path.display().to_string())))?;
        self.report(is_update, other, out)
    }

    /// Says what happens now.
    fn report(&self, is_update: bool, other: Option<String>, out: &mut Output) -> anyhow::Result<Exit> {
        let done = if is_update { "Updated" } else { "Installed" };
        let sessions = match self.target.scope {
            Scope::User => "Every session that you start from now on",
            Scope::Project => "Every session that you start in this folder from now on",
        };
        out.note(&format!(
            "{done} the hooks. {sessions} reports to the server of this machine; running sessions do not."
        ))?;
        if let Some(other) = other {
            out.note(&other)?;
        }
        out.note(
            "Start the server with `tidings serve` if it does not run, and go on using `claude`. \
             `tidings hook status` checks the hooks.",
        )?;
        Ok(Exit::Success)
    }

    /// The form that was asked for, or the one that the installed Claude Code reads.
    fn form(&self) -> anyhow::Result<HookForm> {
        let version = || -> anyhow::Result<Option<Version>> {
            let Ok(program) = find::claude() else { return Ok(None) };
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            Ok(runtime.block_on(find::version(&program)).ok())
        };
        let form = match (self.form, version()?) {
            (Some(form), None) => return Ok(form),
            (None, Some(version)) if version < PLUGIN_FOLDERS_SINCE => (HookForm::Settings, version),
            (None, _) => return Ok(HookForm::Plugin),
            (Some(form), Some(version)) => (form, version),
        };
        match form {
            (HookForm::Settings, version) if version < ENTRIES_SINCE => {
                let message = format!(
                    "Claude Code {version} is too old: versions before {ENTRIES_SINCE} do not describe their \
                     processes, or reject settings with these hooks"
                );
                Err(CannotRun { code: "unsupported", message, hint: "run `claude update`" }.into())
            }
            (form, _) => Ok(form),
        }
    }

    /// Installs the hooks as entries of the settings file.
    fn run_entries(
        &self,
        entries: &SettingsEntries,
        folder: &PluginFolder,
        out: &mut Output,
    ) -> anyhow::Result<Exit> {
        let hooks = HookProgram { program: program()?, data: data_argument(self.data.as_ref())? };
        let shown = printable(&entries.path.display().to_string());
        if self.target.dry_run {
            out.note("Would write this file, after a copy of it was saved:")?;
            out.text(&format!("# {shown}\n{}", entries.text_with(&hooks)?))?;
            return Ok(Exit::Success);
        }
        let is_update = entries.state()? != EntriesState::Absent;
        entries.install(&hooks)?;
        if matches!(folder.state()?, PluginState::Installed { .. }) {
            // With both, every event would be reported twice after an update of Claude Code.
            super::uninstall::remove(folder)?;
        }
        out.text(&format!("{shown}\n"))?;
        self.report(is_update, None, out)
    }
}

/// Checks other copies of the plugin, since Claude Code loads only one of that name. It skips the project's
/// hooks if the user has them, so they are refused; returns a note about other cases.
fn check_others(folder: &PluginFolder) -> anyhow::Result<Option<String>> {
    let user = PluginFolder::of(Scope::User)?;
    let settings = SessionSettings::read(Path::new(MANAGED), &user.config, &env::current_dir()?);
    if let Some(plugin) = settings.marketplace_plugin() {
        return Ok(Some(format!(
            "Claude Code uses the plugin `{plugin}` from a marketplace instead, until you run \
             `claude plugin uninstall {plugin}`."
        )));
    }
    let project = PluginFolder::of(Scope::Project)?;
    // A project in the home folder has the same `.claude`.
    if user.path() == project.path() {
        return Ok(None);
    }
    match folder.scope {
        Scope::Project if matches!(user.state()?, PluginState::Installed { .. }) => {
            let message =
                format!("The hooks are already installed for the user: `{}`", user.path().display());
            let hint = "they cover this project too; `tidings hook uninstall` removes them";
            Err(CannotRun { code: "conflict", message, hint }.into())
        }
        Scope::User if matches!(project.state()?, PluginState::Installed { .. }) => Ok(Some(
            "This project has hooks of its own, which Claude Code skips now; \
             `tidings hook uninstall --scope project` removes them."
                .to_owned(),
        )),
        _ => Ok(None),
    }
}

/// Path of this program for the hooks: the one on the `PATH` if it leads here, since package managers keep
/// it valid over updates.
pub(super) fn program() -> anyhow::Result<String> {
    let own = env::current_exe().context("Failed to find the path of this program")?;
    let real =
        fs::canonicalize(&own).context("Failed to find this program; was it replaced while it ran?")?;
    let folders = env::var_os("PATH").unwrap_or_default();
    let candidates = env::split_paths(&folders).filter(|folder| folder.is_absolute());
    let mut candidates = candidates.map(|folder| folder.join(NAME));
    let on_path = candidates.find(|path| std::fs::canonicalize(path).is_ok_and(|found| found == real));
    text(on_path.unwrap_or(own))
}

/// Value of `--data` for the hooks: none if they find the folder without it.
pub(super) fn data_argument(given: Option<&PathBuf>) -> anyhow::Result<Option<String>> {
    let data = data_folder(given)?;
    let usual = env::home_dir().map(|home| home.join(".local/share/tidings"));
    if usual.is_some_and(|usual| usual == data) { Ok(None) } else { text(data).map(Some) }
}

/// A path as text, for JSON.
fn text(path: PathBuf) -> anyhow::Result<String> {
    path.into_os_string().into_string().map_err(|path| {
        let message = format!("This path is not valid UTF-8: `{}`", path.display());
        CannotRun { code: "failed", message, hint: "move it to a path with plain names" }.into()
    })
}

/// Names and contents of the plugin's files, in the order in which they are written.
struct PluginFiles([(&'static str, String); 3]);

impl PluginFiles {
    fn new(folder: &PluginFolder, hooks: &HookProgram) -> anyhow::Result<Self> {
        let record = match folder.state()? {
            PluginState::Installed { .. } => folder.record()?,
            _ => InstallRecord {
                created_config_folder: !folder.config.exists(),
                created_skills_folder: !folder.skills().exists(),
            },
        };
        let record = serde_json::to_string(&record)? + "\n";
        Ok(PluginFiles([(HOOKS, hooks.hooks()), (RECORD, record), (MANIFEST, Manifest::text())]))
    }

    fn print(&self, path: &Path, out: &mut Output) -> anyhow::Result<Exit> {
        out.note("Would write these files:")?;
        for (name, text) in &self.0 {
            let path = path.join(name);
            out.text(&format!("# {}\n{}", printable(&path.display().to_string()), text))?;
        }
        Ok(Exit::Success)
    }

    /// Fills a temporary folder and renames it, so that Claude Code never sees a part of the plugin. It loads
    /// no folder whose name begins with a dot.
    fn create(&self, folder: &PluginFolder) -> anyhow::Result<()> {
        let skills = folder.skills();
        fs::create_dir_all(&skills)?;
        let fresh = skills.join(format!(".{NAME}-{}", Uuid::new_v4().simple()));
        let created = self.fill(&fresh).and_then(|()| Ok(fs::rename(&fresh, folder.path())?));
        if created.is_err() {
            drop(fs::remove_dir_all(&fresh));
        }
        created
    }

    fn fill(&self, fresh: &Path) -> anyhow::Result<()> {
        fs::create_dir(fresh)?;
        self.replace(fresh)
    }

    /// Replaces each file atomically.
    fn replace(&self, path: &Path) -> anyhow::Result<()> {
        for (name, text) in &self.0 {
            let file = path.join(name);
            fs::create_dir_all(file.parent().unwrap_or(path))?;
            files::replace_durably(&file, text.as_bytes())?;
        }
        Ok(())
    }
}
