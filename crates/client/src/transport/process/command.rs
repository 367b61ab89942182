//! The command to start: arguments, files and environment.

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

/// The variable that marks all processes of a session, so that they can be found when their parents are gone.
pub(super) const OWNER: &str = "TIDINGS_OWNER";

/// A command, with the files that must exist until it has ended.
pub(super) struct PreparedCommand {
    pub(super) command: Command,
    pub(super) files: Option<TempDir>,
}

/// The mark of the children of this process.
pub(super) fn host_mark() -> &'static str {
    static MARK: OnceLock<String> = OnceLock::new();
    MARK.get_or_init(|| Uuid::new_v4().simple().to_string())
}

/// The mark of the children of one session of this process.
pub(crate) fn owner(session: &str) -> String {
    format!("{}:{session}", host_mark())
}

pub(super) fn prepare(program: &Path, launch: &Launch) -> Result<PreparedCommand, Error> {
    let (program, args) = program_and_args(program, launch);
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
    Ok(PreparedCommand { command, files })
}

/// The program to start with its arguments: a script is started through its runtime.
pub(crate) fn program_and_args(program: &Path, launch: &Launch) -> (PathBuf, Vec<Arg>) {
    if !find::is_script(program) {
        return (program.to_owned(), launch.args.clone());
    }
    let runtime = launch.runtime.clone().unwrap_or_else(|| "node".into());
    let mut args: Vec<Arg> = launch.runtime_args.iter().cloned().map(Arg::Text).collect();
    args.push(Arg::Path(program.to_owned()));
    args.extend(launch.args.iter().cloned());
    (runtime, args)
}

/// Checks the working folder, since the system's own error does not say whether the program or the folder is
/// missing.
pub(crate) fn check_folder(cwd: &Path) -> Result<(), Error> {
    if cwd.is_dir() {
        return Ok(());
    }
    let problem = if cwd.exists() { "is not a folder" } else { "does not exist" };
    let message = format!("The working folder {problem}: `{}`", cwd.display());
    Err(Error::new(ErrorKind::Spawn, message, "set another one with `Options::cwd`"))
}

pub(crate) fn spawn_hint(source: &std::io::Error) -> &'static str {
    match source.kind() {
        std::io::ErrorKind::ArgumentListTooLong => {
            "the arguments and the environment together are too long: shorten `Options::env` or the environment"
        }
        std::io::ErrorKind::PermissionDenied => "check that the file is executable",
        std::io::ErrorKind::NotFound => "its interpreter may be missing: check the first line of the file",
        _ => "",
    }
}

/// Applies what every command needs, even a wrapped one: three pipes, its own process group, and our mark.
pub(crate) fn configure(command: &mut Command, owner: &str) {
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
        let message = format!("Failed to write `{name}` for the agent");
        Error::new(ErrorKind::Spawn, message, "free space in the folder for temporary files")
            .caused_by(source)
    })
}

/// Writes a file into a private folder: settings and server configurations contain secrets.
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

/// A folder for temporary files that only the user can read.
pub(crate) fn private_folder() -> std::io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("tidings-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir()
}

/// Sets the environment of a launch.
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
