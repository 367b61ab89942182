//! The command that is started: arguments, files beside it, environment.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;
use uuid::Uuid;

use crate::error::{Error, ErrorKind};
use crate::find;
use crate::options::{Arg, EnvBase, Launch};

/// Marks everything that a session starts, so that it can be found when its parents are gone.
pub(super) const OWNER: &str = "TIDINGS_OWNER";

/// A command, and the files that must stay until it has ended.
pub(super) struct Prepared {
    pub(super) command: Command,
    pub(super) files: Option<TempDir>,
}

/// What marks the children of this process.
pub(super) fn host_mark() -> &'static str {
    static MARK: OnceLock<String> = OnceLock::new();
    MARK.get_or_init(|| Uuid::new_v4().simple().to_string())
}

/// What marks the children of one session of this process.
pub(crate) fn owner(session: &str) -> String {
    format!("{}:{session}", host_mark())
}

pub(super) fn prepare(program: &Path, launch: &Launch) -> Result<Prepared, Error> {
    let (program, args) = words(program, launch);
    let mut command = Command::new(program);
    let mut files = None;
    for arg in &args {
        command.arg(argument(arg, &mut files)?);
    }
    environment(&mut command, launch);
    if let Some(cwd) = &launch.cwd {
        command.current_dir(cwd).env("PWD", cwd);
    }
    #[cfg(unix)]
    if let Some(user) = launch.user {
        use std::os::unix::process::CommandExt as _;
        command.gid(user.gid).uid(user.uid);
    }
    Ok(Prepared { command, files })
}

/// What is started, and with which arguments: a script needs something that runs it.
pub(crate) fn words(program: &Path, launch: &Launch) -> (PathBuf, Vec<Arg>) {
    if !find::is_script(program) {
        return (program.to_owned(), launch.args.clone());
    }
    let runtime = launch.runtime.clone().unwrap_or_else(|| "node".into());
    let mut args: Vec<Arg> = launch.runtime_args.iter().cloned().map(Arg::Text).collect();
    args.push(Arg::Path(program.to_owned()));
    args.extend(launch.args.iter().cloned());
    (runtime, args)
}

/// The system's own error does not say whether the program or the folder is missing.
pub(crate) fn check_folder(cwd: &Path) -> Result<(), Error> {
    if cwd.is_dir() {
        return Ok(());
    }
    let problem = if cwd.exists() { "is no folder" } else { "does not exist" };
    let message = format!("The working folder {problem}: `{}`", cwd.display());
    Err(Error::new(ErrorKind::Spawn, message, "name another with `Options::cwd`"))
}

pub(crate) fn spawn_hint(source: &std::io::Error) -> &'static str {
    match source.kind() {
        std::io::ErrorKind::ArgumentListTooLong => {
            "the arguments and the environment together are too long: shorten `Options::env` or the environment"
        }
        std::io::ErrorKind::PermissionDenied => "check that the file may be executed",
        std::io::ErrorKind::NotFound => "its interpreter may be missing: look at the first line of the file",
        _ => "",
    }
}

/// What holds for every command, whoever made it: three pipes, a group of its own, and our mark.
pub(crate) fn seal(command: &mut Command, owner: &str) {
    command.env(OWNER, owner).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
}

fn argument(arg: &Arg, files: &mut Option<TempDir>) -> Result<OsString, Error> {
    let (name, contents) = match arg {
        Arg::Text(text) => return Ok(text.into()),
        Arg::Path(path) => return Ok(path.into()),
        Arg::File { name, contents } => (name, contents),
    };
    let written = write(files, name, contents);
    written.map_err(|source| {
        let message = format!("Failed to write `{name}` for Claude Code");
        Error::new(ErrorKind::Spawn, message, "make room in the folder for temporary files").caused_by(source)
    })
}

/// The folder is the user's alone, and so is each file: settings and servers carry secrets.
fn write(files: &mut Option<TempDir>, name: &str, contents: &str) -> std::io::Result<OsString> {
    let folder = match files {
        Some(folder) => folder,
        None => files.insert(private_folder()?),
    };
    let path = folder.path().join(name);
    let mut open = std::fs::OpenOptions::new();
    open.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut open, 0o600);
    open.open(&path)?.write_all(contents.as_bytes())?;
    Ok(path.into())
}

fn private_folder() -> std::io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("tidings-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir()
}

/// Sets the variables that a launch asks for.
pub(crate) fn environment(command: &mut Command, launch: &Launch) {
    let environment = &launch.environment;
    match &environment.base {
        EnvBase::Inherit => {
            for name in &environment.remove {
                command.env_remove(name);
            }
        }
        EnvBase::Only(names) => {
            command.env_clear().envs(find::variables(names));
        }
        EnvBase::Empty => {
            command.env_clear();
        }
    }
    for (name, value) in &environment.set_if_unset {
        if matches!(environment.base, EnvBase::Empty) || find::variables(&[name]).is_empty() {
            command.env(name, value);
        }
    }
    command.envs(&environment.set);
}
