//! Finding `claude`, and asking which version it is.
//!
//! This is the one module of the crate that reads the environment: where a program lies is written nowhere else.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::str::FromStr;

use crate::error::{Error, ErrorKind};
use crate::limits::VERSION_TIMEOUT;

/// Variables that name the program, the first that is set counts.
const VARIABLES: &[&str] = &["CLAUDE_CLI_PATH", "CLAUDE_PATH"];

/// Where installers put it, from the home folder.
const IN_HOME: &[&str] = &[
    ".local/bin/claude",
    ".claude/local/claude",
    ".npm-global/bin/claude",
    "node_modules/.bin/claude",
    ".yarn/bin/claude",
    ".bun/bin/claude",
];

/// Where installers put it for everybody.
const FOR_ALL: &[&str] = &["/usr/local/bin/claude", "/opt/homebrew/bin/claude", "/usr/bin/claude"];

/// What a program needs to be run at all, be it a script or not.
const NEEDED_TO_RUN: &[&str] =
    &["APPDATA", "HOME", "LANG", "LOCALAPPDATA", "PATH", "SYSTEMROOT", "TEMP", "TMPDIR", "USERPROFILE"];

/// The hint of errors about a program that is not there. It speaks to those who write Rust; a command with options of its
/// own says it in their words.
pub const INSTALL: &str = "install Claude Code (`curl -fsSL https://claude.ai/install.sh | bash`), \
                       or name it with `Options::program` or CLAUDE_CLI_PATH";

/// Where to look for `claude`. [`Search::default`] looks nowhere but in the usual places for everybody.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// Taken before everything else, and nothing else is tried if it is not there.
    pub program: Option<PathBuf>,
    /// Folders, in the form of the variable PATH.
    pub path: Option<OsString>,
    /// The home folder.
    pub home: Option<PathBuf>,
}

/// A version of Claude Code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// 2 in `2.1.325`.
    pub major: u32,
    /// 1 in `2.1.325`.
    pub minor: u32,
    /// 325 in `2.1.325`.
    pub patch: u32,
}

/// The oldest version that this crate drives: the control protocol came with it.
pub const OLDEST: Version = Version { major: 2, minor: 0, patch: 0 };

impl Search {
    /// What the environment says: `CLAUDE_CLI_PATH`, `PATH` and the home folder.
    pub fn from_environment() -> Self {
        let named = VARIABLES.iter().find_map(std::env::var_os).filter(|value| !value.is_empty());
        Search {
            program: named.map(PathBuf::from),
            path: std::env::var_os("PATH"),
            home: std::env::home_dir(),
        }
    }

    /// The program.
    pub fn find(&self) -> Result<PathBuf, Error> {
        if let Some(program) = &self.program {
            return self.named(program);
        }
        if let Ok(found) = which::which_in("claude", self.path.as_ref(), Path::new("/")) {
            return Ok(found);
        }
        let in_home = self.home.iter().flat_map(|home| IN_HOME.iter().map(|place| home.join(place)));
        let places = in_home.chain(FOR_ALL.iter().map(PathBuf::from));
        places.into_iter().find(|place| which::which(place).is_ok()).ok_or_else(|| {
            Error::new(ErrorKind::NotFound, "Claude Code was not found: no `claude` on the PATH", INSTALL)
        })
    }

    /// A program that somebody named: a path, or a name to look for.
    fn named(&self, program: &Path) -> Result<PathBuf, Error> {
        let is_name = program.components().count() == 1 && !program.exists();
        if is_name && let Ok(found) = which::which_in(program, self.path.as_ref(), Path::new("/")) {
            return Ok(found);
        }
        let shown = program.display();
        let problem = match program.metadata() {
            Err(_) => format!("There is no program `{shown}`"),
            Ok(found) if found.is_dir() => format!("A folder is no program: `{shown}`"),
            Ok(_) if is_script(program) || which::which(program).is_ok() => return Ok(program.to_owned()),
            Ok(_) => {
                let message = format!("The file may not be executed: `{shown}`");
                return Err(Error::new(ErrorKind::NotFound, message, "make it executable with `chmod +x`"));
            }
        };
        Err(Error::new(ErrorKind::NotFound, problem, INSTALL))
    }
}

/// Where `claude` is, as far as the environment tells.
pub fn claude() -> Result<PathBuf, Error> {
    Search::from_environment().find()
}

/// The folder of Claude Code's settings and sessions: `CLAUDE_CONFIG_DIR`, or `.claude` in the home folder.
pub fn config_folder() -> Option<PathBuf> {
    let named = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|value| !value.is_empty());
    named.map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".claude")))
}

/// Asks a program for its version.
pub async fn version(program: &Path) -> Result<Version, Error> {
    let mut command = tokio::process::Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    // Whoever only tells its version needs no secret for it (T14).
    command.env_clear().envs(variables(NEEDED_TO_RUN));
    let failed = |message: String| Error::new(ErrorKind::NotFound, message, INSTALL);
    let shown = program.display();
    let output = match tokio::time::timeout(VERSION_TIMEOUT, command.output()).await {
        Err(_) => return Err(Error::timeout("--version", VERSION_TIMEOUT)),
        Ok(Err(source)) => return Err(failed(format!("Failed to run `{shown}`")).caused_by(source)),
        Ok(Ok(output)) => output,
    };
    let text = String::from_utf8_lossy(&output.stdout);
    text.parse().map_err(|()| failed(format!("Not Claude Code, it tells no version: `{shown}`")))
}

/// Refuses a version that is too old.
pub(crate) fn check(version: Version) -> Result<(), Error> {
    if version >= OLDEST {
        return Ok(());
    }
    let message = format!("Claude Code {version} is too old, at least {OLDEST} is needed");
    Err(Error::new(ErrorKind::VersionTooOld, message, "run `claude update`, or install it anew"))
}

/// The value of each of these variables that is set here.
pub(crate) fn variables<S: AsRef<OsStr>>(names: &[S]) -> Vec<(OsString, OsString)> {
    names.iter().filter_map(|name| Some((name.as_ref().to_owned(), std::env::var_os(name)?))).collect()
}

/// Every variable that is set here.
#[cfg(all(unix, feature = "host"))]
pub(crate) fn all_variables() -> std::collections::BTreeMap<OsString, OsString> {
    std::env::vars_os().collect()
}

/// Whether a program needs a runtime to run it.
pub(crate) fn is_script(program: &Path) -> bool {
    let extension = program.extension().and_then(OsStr::to_str);
    extension.is_some_and(|extension| ["js", "mjs", "cjs", "ts", "tsx", "jsx"].contains(&extension))
}

impl FromStr for Version {
    type Err = ();

    /// Reads the first three numbers; `2.1.325 (Claude Code)` is what the program itself prints.
    fn from_str(text: &str) -> Result<Self, ()> {
        let word = text.split_whitespace().next().ok_or(())?;
        let core = word.trim_start_matches('v').split(['-', '+']).next().unwrap_or_default();
        let numbers: Vec<u32> = core.split('.').map(str::parse).collect::<Result<_, _>>().map_err(drop)?;
        match numbers[..] {
            [major, minor, patch] => Ok(Version { major, minor, patch }),
            _ => Err(()),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests;
