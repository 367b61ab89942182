//! Finds `claude` and its version.
//!
//! This is the only module of the crate that reads the environment.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::str::FromStr;

use tidings_protocol::TESTED_CLAUDE_CODE;

use crate::agent_name::AgentName;
use crate::error::{Error, ErrorKind};
use crate::limits::VERSION_TIMEOUT;

/// Variables that name the program; the first that is set wins.
const VARIABLES: &[&str] = &["CLAUDE_CLI_PATH", "CLAUDE_PATH"];

/// Install locations, relative to the home folder.
const IN_HOME: &[&str] = &[
    ".local/bin/claude",
    ".claude/local/claude",
    ".npm-global/bin/claude",
    "node_modules/.bin/claude",
    ".yarn/bin/claude",
    ".bun/bin/claude",
];

/// System-wide install locations.
const FOR_ALL: &[&str] = &["/usr/local/bin/claude", "/opt/homebrew/bin/claude", "/usr/bin/claude"];

/// Environment variables that a program or script needs to run at all.
const NEEDED_TO_RUN: &[&str] =
    &["APPDATA", "HOME", "LANG", "LOCALAPPDATA", "PATH", "SYSTEMROOT", "TEMP", "TMPDIR", "USERPROFILE"];

/// The hint of errors about a missing program. It is addressed to Rust developers; a command line program
/// words it with its own options.
pub const INSTALL: &str = "install Claude Code (`curl -fsSL https://claude.ai/install.sh | bash`), \
                       or name it with `Options::program` or CLAUDE_CLI_PATH";

/// The locations searched for `claude`. [`Search::default`] searches the system-wide install locations only.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// An explicit path or name. It is used first, and nothing else is tried if it does not exist.
    pub program: Option<PathBuf>,
    /// Folders, in the format of the variable `PATH`.
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

/// The oldest supported version: the one that the long tests run beside the newest.
///
/// Older ones pass over parts of the handshake, such as the system prompt, without a word.
pub const OLDEST: Version = Version { major: 2, minor: 1, patch: 197 };

impl Search {
    /// The locations that the environment names: `CLAUDE_CLI_PATH`, `PATH` and the home folder.
    pub fn from_environment() -> Self {
        let named = VARIABLES.iter().find_map(std::env::var_os).filter(|value| !value.is_empty());
        Search {
            program: named.map(PathBuf::from),
            path: std::env::var_os("PATH"),
            home: std::env::home_dir(),
        }
    }

    /// Finds the program.
    pub fn find(&self) -> Result<PathBuf, Error> {
        if let Some(program) = &self.program {
            return self.named(program);
        }
        if let Ok(found) = which::which_in("claude", self.path.as_ref(), Path::new("/")) {
            return Ok(found);
        }
        let in_home = self.home.iter().flat_map(|home| IN_HOME.iter().map(|path| home.join(path)));
        let candidates = in_home.chain(FOR_ALL.iter().map(PathBuf::from));
        candidates.into_iter().find(|path| which::which(path).is_ok()).ok_or_else(|| {
            Error::new(ErrorKind::NotFound, "Claude Code was not found: no `claude` on the PATH", INSTALL)
        })
    }

    /// Resolves an explicitly given program: a path, or a name to search for.
    fn named(&self, program: &Path) -> Result<PathBuf, Error> {
        let is_name = program.components().count() == 1 && !program.exists();
        if is_name && let Ok(found) = which::which_in(program, self.path.as_ref(), Path::new("/")) {
            return Ok(found);
        }
        let shown = program.display();
        let problem = match program.metadata() {
            Err(_) => format!("There is no program `{shown}`"),
            Ok(found) if found.is_dir() => format!("This is a folder, not a program: `{shown}`"),
            Ok(_) if is_script(program) || which::which(program).is_ok() => return Ok(program.to_owned()),
            Ok(_) => {
                let message = format!("The file is not executable: `{shown}`");
                return Err(Error::new(ErrorKind::NotFound, message, "make it executable with `chmod +x`"));
            }
        };
        Err(Error::new(ErrorKind::NotFound, problem, INSTALL))
    }
}

/// Finds `claude` in the locations that the environment names.
pub fn claude() -> Result<PathBuf, Error> {
    Search::from_environment().find()
}

/// The folder of Claude Code's settings and sessions: `CLAUDE_CONFIG_DIR`, or `.claude` in the home folder.
pub fn config_folder() -> Option<PathBuf> {
    let named = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|value| !value.is_empty());
    named.map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".claude")))
}

/// Runs a program with `--version` and parses the output. Without a tokio runtime it fails with
/// [`ErrorKind::Invalid`].
pub async fn version(program: &Path) -> Result<Version, Error> {
    crate::client::check_runtime()?;
    let mut command = tokio::process::Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    // Printing a version needs no secrets (T14).
    command.env_clear().envs(variables(NEEDED_TO_RUN));
    let failed = |message: String| Error::new(ErrorKind::NotFound, message, INSTALL);
    let shown = program.display();
    let output = match tokio::time::timeout(VERSION_TIMEOUT, command.output()).await {
        Err(_) => return Err(Error::timeout(&AgentName::default(), "--version", VERSION_TIMEOUT)),
        Ok(Err(source)) => return Err(failed(format!("Failed to run `{shown}`")).caused_by(source)),
        Ok(Ok(output)) => output,
    };
    let text = String::from_utf8_lossy(&output.stdout);
    text.parse().map_err(|()| failed(format!("Not Claude Code, `--version` prints no version: `{shown}`")))
}

/// Runs a program with `--version`, and refuses a version that is not supported.
pub async fn supported(program: &Path) -> Result<Version, Error> {
    let version = version(program).await?;
    check(version).map(|()| version)
}

/// Refuses a version that is too old.
pub(crate) fn check(version: Version) -> Result<(), Error> {
    if version >= OLDEST {
        return Ok(());
    }
    let message = format!("Claude Code {version} is too old, at least {OLDEST} is needed");
    Err(Error::new(ErrorKind::VersionTooOld, message, "run `claude update`, or reinstall it"))
}

/// The values of these variables, as far as they are set.
pub(crate) fn variables<S: AsRef<OsStr>>(names: &[S]) -> Vec<(OsString, OsString)> {
    names.iter().filter_map(|name| Some((name.as_ref().to_owned(), std::env::var_os(name)?))).collect()
}

/// The working folder of this process.
pub(crate) fn own_folder() -> Option<PathBuf> {
    std::env::current_dir().ok()
}

/// The name of the program that this process runs.
pub(crate) fn own_name() -> Option<String> {
    let program = std::env::current_exe().ok()?;
    Some(program.file_stem()?.to_string_lossy().into_owned())
}

/// All environment variables.
#[cfg(all(unix, feature = "host"))]
pub(crate) fn all_variables() -> std::collections::BTreeMap<OsString, OsString> {
    std::env::vars_os().collect()
}

/// True if the program is a script that needs a JavaScript runtime.
pub(crate) fn is_script(program: &Path) -> bool {
    let extension = program.extension().and_then(OsStr::to_str);
    extension.is_some_and(|extension| ["js", "mjs", "cjs", "ts", "tsx", "jsx"].contains(&extension))
}

impl FromStr for Version {
    type Err = ();

    /// Reads the first three numbers; the CLI itself prints `2.1.325 (Claude Code)`.
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

impl Version {
    /// The version, followed by the one that Tidings is tested with if that is another:
    /// `2.1.330, tested with 2.1.327`.
    pub fn beside_tested(self) -> String {
        let own = self.to_string();
        if own == TESTED_CLAUDE_CODE { own } else { format!("{own}, tested with {TESTED_CLAUDE_CODE}") }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests;
