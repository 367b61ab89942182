//! Asks `git` about a folder, without letting the folder say what runs.
//!
//! A repository's own configuration can name programs: monitors, filters, drivers for differences, helpers for
//! transport. None of them is run here, whatever the repository says (F120, F124).

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tidings_protocol::api::WorkingTree;
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;

use crate::error::{Code, Error};
use crate::limits::{DIFF_BYTES_MAX, GIT_BYTES_MAX, GIT_WAIT, UNTRACKED_MAX};

/// The tree without files, which every repository knows.
const NOTHING: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// `git` in one folder.
#[derive(Debug)]
pub(crate) struct Git {
    program: PathBuf,
    folder: PathBuf,
    /// Filters of this repository, each set to nothing.
    unset: Vec<String>,
}

/// What `git` printed, and whether it would have printed more.
#[derive(Debug)]
struct Printed {
    bytes: Vec<u8>,
    is_cut: bool,
    is_fine: bool,
}

impl Git {
    /// `git` for a folder; none where there is no such program, or no repository.
    ///
    /// The program is looked for in those folders of `PATH` that have a full path, so that none is taken from the
    /// folder that is asked about.
    pub(crate) async fn open(environment: &[(String, String)], folder: &str) -> Result<Option<Git>, Error> {
        if !Path::new(folder).is_dir() {
            return Ok(None);
        }
        let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.as_str());
        let folders = path.unwrap_or("/usr/local/bin:/usr/bin:/bin").split(':').map(Path::new);
        let mut programs = folders.filter(|folder| folder.is_absolute()).map(|folder| folder.join("git"));
        let Some(program) = programs.find(|program| program.is_file()) else { return Ok(None) };
        let mut git = Git { program, folder: PathBuf::from(folder), unset: Vec::new() };
        if !git.run(&["rev-parse", "--is-inside-work-tree"]).await?.is_fine {
            return Ok(None);
        }
        let filters = git.run(&["config", "--name-only", "-z", "--get-regexp", r"^filter\."]).await?;
        git.unset = names(&filters.bytes).map(|name| format!("{name}=")).collect();
        Ok(Some(git))
    }

    /// Paths of the files that are under version control, or could be.
    pub(crate) async fn files(&self) -> Result<(Vec<String>, bool), Error> {
        let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
        let printed = self.run(&args).await?;
        Ok((whole_names(&printed), printed.is_cut))
    }

    /// How the folder differs from its last commit.
    pub(crate) async fn working_tree(&self) -> Result<WorkingTree, Error> {
        let has_commit = self.run(&["rev-parse", "--verify", "--quiet", "HEAD"]).await?.is_fine;
        let base = if has_commit { "HEAD" } else { NOTHING };
        let how = ["--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty", "--relative"];
        let args: Vec<&str> = ["diff"].into_iter().chain(how).chain([base, "--", "."]).collect();
        let diff = self.run(&args).await?;
        let others = self.run(&["ls-files", "-z", "--others", "--exclude-standard"]).await?;
        let mut untracked = whole_names(&others);
        let untracked_cut = others.is_cut || untracked.len() > UNTRACKED_MAX;
        untracked.truncate(UNTRACKED_MAX);
        let shown = &diff.bytes[..diff.bytes.len().min(DIFF_BYTES_MAX)];
        Ok(WorkingTree {
            repository: true,
            diff: String::from_utf8_lossy(shown).into_owned(),
            diff_cut: diff.is_cut || diff.bytes.len() > DIFF_BYTES_MAX,
            untracked,
            untracked_cut,
        })
    }

    async fn run(&self, args: &[&str]) -> Result<Printed, Error> {
        let mut command = Command::new(&self.program);
        let settings =
            ["core.fsmonitor=false", "core.hooksPath=/dev/null", "diff.external=", "core.pager=cat"];
        for setting in settings.into_iter().chain(self.unset.iter().map(String::as_str)) {
            command.args(["-c", setting]);
        }
        command
            .args(["--no-pager", "--no-optional-locks", "--literal-pathspecs"])
            .args(args)
            .current_dir(&self.folder)
            .env_clear()
            .envs([
                ("PATH", "/usr/bin:/bin"),
                ("LC_ALL", "C.UTF-8"),
                ("GIT_CONFIG_NOSYSTEM", "1"),
                ("GIT_CONFIG_GLOBAL", "/dev/null"),
                ("GIT_TERMINAL_PROMPT", "0"),
                ("GIT_NO_LAZY_FETCH", "1"),
                ("GIT_ALLOW_PROTOCOL", "none"),
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let failed = |error: std::io::Error| {
            let hint = "check that `git` runs, and that the folder is there";
            Error::new(Code::Internal, format!("`git` could not be asked: {error}"), hint)
        };
        let work = async {
            let mut child = command.spawn()?;
            let mut bytes = Vec::new();
            if let Some(stdout) = child.stdout.take() {
                stdout.take(GIT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).await?;
            }
            let is_cut = bytes.len() > GIT_BYTES_MAX;
            bytes.truncate(GIT_BYTES_MAX);
            if is_cut {
                child.kill().await?;
            }
            let is_fine = child.wait().await?.success() || is_cut;
            Ok(Printed { bytes, is_cut, is_fine })
        };
        let late = |_| Error::new(Code::Timeout, "`git` takes too long here", "look at the folder yourself");
        tokio::time::timeout(GIT_WAIT, work).await.map_err(late)?.map_err(failed)
    }
}

fn names(bytes: &[u8]) -> impl Iterator<Item = String> {
    let names = bytes.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| String::from_utf8_lossy(name).into_owned())
}

/// Names without the last one where it was cut off.
fn whole_names(printed: &Printed) -> Vec<String> {
    let bytes = match printed.bytes.iter().rposition(|byte| *byte == 0) {
        Some(end) => &printed.bytes[..end],
        None => &[],
    };
    names(bytes).collect()
}
