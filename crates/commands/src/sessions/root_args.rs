//! Folders and output format of every command on stored sessions, and the look-up of a session by name.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;

use clap::Args;
use tidings_transcript::cache::Cache;
use tidings_transcript::roots::{Roots, SessionFiles};

use crate::error::CannotRun;
use crate::output::{Output, PLAIN, YELLOW, printable};
use crate::pick;

/// Arguments of every command on stored sessions: the folders to read, and the output format.
#[derive(Debug, Args)]
pub struct RootArgs {
    /// Read this folder instead of `$CLAUDE_CONFIG_DIR` or ~/.claude, or instead of the folder of the agent
    /// that --backend names; can be given several times
    #[arg(long = "root", value_name = "DIR", global = true)]
    roots: Vec<PathBuf>,

    /// Print JSON for scripts: one object, or one object per line for lists
    #[arg(long, global = true)]
    pub json: bool,
}

impl RootArgs {
    /// The folders that were given.
    pub(crate) fn given(&self) -> &[PathBuf] {
        &self.roots
    }

    /// Folders to read: those given, or those that the CLI itself uses.
    pub(crate) fn roots(&self) -> anyhow::Result<Roots> {
        if !self.roots.is_empty() {
            return Ok(Roots::new(self.roots.iter().cloned()));
        }
        if let Some(folders) = env::var_os("CLAUDE_CONFIG_DIR").filter(|value| !value.is_empty()) {
            // Some tools put several folders here, separated by commas.
            let folders = folders.to_string_lossy().split(',').map(PathBuf::from).collect::<Vec<_>>();
            return Ok(Roots::new(folders));
        }
        let home = env::home_dir().unwrap_or_default();
        // Older versions used the second.
        let usual = [home.join(".claude"), home.join(".config/claude")];
        let there: Vec<PathBuf> =
            usual.iter().filter(|path| path.join("projects").is_dir()).cloned().collect();
        if there.is_empty() {
            return Err(CannotRun {
                code: "not_found",
                message: format!("No sessions under `{}`", usual[0].display()),
                hint: "run Claude Code once, or name another folder with --root",
            }
            .into());
        }
        Ok(Roots::new(there))
    }

    /// Configuration folder of Claude Code, which may not exist; the first if several were given.
    pub fn config_folder(&self) -> PathBuf {
        self.roots.first().cloned().unwrap_or_else(RootArgs::config_folder_of_user)
    }

    /// Configuration folder of Claude Code by environment and default.
    pub fn config_folder_of_user() -> PathBuf {
        let named = || {
            let folders = env::var_os("CLAUDE_CONFIG_DIR").filter(|value| !value.is_empty())?;
            folders.to_string_lossy().split(',').next().map(PathBuf::from)
        };
        named().unwrap_or_else(|| env::home_dir().unwrap_or_default().join(".claude"))
    }

    /// Our data folder: `TIDINGS_DATA_DIR`, or `tidings` in the user's data folder.
    pub fn data_folder() -> Option<PathBuf> {
        let given = env::var_os("TIDINGS_DATA_DIR").filter(|path| !path.is_empty()).map(PathBuf::from);
        let xdg = || env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || env::home_dir().filter(|home| home.is_absolute()).map(|home| home.join(".local/share"));
        given.or_else(|| xdg().or_else(home).map(|folder| folder.join("tidings")))
    }

    /// Finds a session by name. Without one, the user chooses a session in the terminal, and scripts get an
    /// error.
    pub(crate) fn named_session(&self, name: Option<&OsStr>, out: &Output) -> anyhow::Result<SessionFiles> {
        match name {
            Some(name) => Ok(self.roots()?.find(name)?),
            None if self.can_pick() => pick::stored(&self.roots()?, out),
            None => Err(pick::unnamed().into()),
        }
    }

    /// Finds a session by name. Without one, the user chooses a session in the terminal, and scripts get the
    /// newest.
    pub(crate) fn session(&self, name: Option<&OsStr>, out: &Output) -> anyhow::Result<SessionFiles> {
        if name.is_some() || self.can_pick() {
            return self.named_session(name, out);
        }
        let roots = self.roots()?;
        let newest = roots.scan()?.sessions.into_iter().find(|session| session.main.is_some());
        newest.ok_or_else(|| {
            CannotRun {
                code: "not_found",
                message: "There are no sessions yet".to_owned(),
                hint: "run Claude Code once, or name another folder with --root",
            }
            .into()
        })
    }

    /// True if the user can choose a session, and no JSON is expected.
    pub(crate) fn can_pick(&self) -> bool {
        !self.json && pick::can_pick()
    }

    /// Folder of caches and the index: `TIDINGS_CACHE_DIR`, or `tidings` in the user's cache folder.
    pub fn cache_folder() -> Option<PathBuf> {
        let given = env::var_os("TIDINGS_CACHE_DIR").filter(|path| !path.is_empty()).map(PathBuf::from);
        let xdg = || env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || env::home_dir().filter(|home| home.is_absolute()).map(|home| home.join(".cache"));
        given.or_else(|| xdg().or_else(home).map(|folder| folder.join("tidings")))
    }

    /// Opens the cache of facts about session files; an empty one if there is no cache folder.
    pub(crate) fn cache() -> Cache {
        Self::cache_folder().map_or_else(Cache::none, |folder| Cache::open(&folder.join("sessions.cache")))
    }

    /// Saves the cache. A failure is only a warning, since the next run is merely slower.
    pub(crate) fn save(cache: &mut Cache, out: &Output) -> anyhow::Result<()> {
        if let Err(error) = cache.save() {
            let error = anyhow::Error::from(error);
            out.note(&format!("{YELLOW}warning{PLAIN}: {}", printable(&format!("{error:#}"))))?;
        }
        Ok(())
    }
}
