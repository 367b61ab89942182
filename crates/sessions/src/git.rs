//! Runs `git` in a folder without running programs that the repository configures.
//!
//! The configuration of a repository can name programs: file system monitors, filters, diff drivers,
//! transport helpers. All of them are switched off here (F120, F124). A repository can also name a work tree
//! elsewhere; its files are not shown.

mod remote;
mod stage;
mod worktree;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tidings_agent::permissions::is_sensitive_file;
use tidings_api::{Code, WorkingTree};
use tidings_base::files;
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;

pub(crate) use self::stage::CommitAuthor;

use crate::Error;
use crate::limits::{
    DIFF_BYTES_MAX, GIT_BYTES_MAX, GIT_WAIT, GIT_WRITE_WAIT, STAGED_PATHS_MAX, UNTRACKED_MAX,
};

/// The id of the empty tree, which exists in every repository.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// Arguments that list the filters of a repository.
const FILTERS: [&str; 4] = ["config", "-z", "--get-regexp", r"^filter\."];

/// `git` in one folder.
#[derive(Debug)]
pub struct Git {
    program: PathBuf,
    folder: PathBuf,
    /// Filter settings of this repository, which every run overrides with an empty value.
    unset: BTreeSet<OsString>,
}

/// Files with the names of credentials in a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrets {
    /// Their changes are shown.
    Show,
    /// Their changes are left out.
    Hide,
}

/// The output of a run of `git`.
#[derive(Debug)]
struct GitOutput {
    bytes: Vec<u8>,
    is_cut: bool,
    is_ok: bool,
}

impl Git {
    /// Opens a folder; `None` if `git` is not installed or the folder is not in a repository.
    ///
    /// `git` is searched in the absolute folders of `PATH` only, so that the folder itself cannot provide it.
    pub async fn open(environment: &[(String, String)], folder: &str) -> Result<Option<Git>, Error> {
        if !Path::new(folder).is_dir() {
            return Ok(None);
        }
        let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.as_str());
        let folders = path.unwrap_or("/usr/local/bin:/usr/bin:/bin").split(':').map(Path::new);
        let mut programs = folders.filter(|folder| folder.is_absolute()).map(|folder| folder.join("git"));
        let Some(program) = programs.find(|program| program.is_file()) else { return Ok(None) };
        let mut git = Git { program, folder: PathBuf::from(folder), unset: BTreeSet::new() };
        let inside = git.run(&["rev-parse", "--is-inside-work-tree"]).await?;
        // The command also succeeds outside of the work tree, for a repository whose files lie elsewhere.
        if !inside.is_ok || inside.bytes.trim_ascii() != b"true" {
            return Ok(None);
        }
        git.disable_filters().await?;
        Ok(Some(git))
    }

    /// Overrides every filter with an empty value, and checks that the override works.
    async fn disable_filters(&mut self) -> Result<(), Error> {
        let found = self.run(&FILTERS).await?;
        if found.bytes.is_empty() {
            return Ok(());
        }
        self.unset = values(&found.bytes).into_keys().map(os_string).collect();
        let left = self.run(&FILTERS).await?;
        if found.is_cut
            || left.is_cut
            || values(&left.bytes).values().any(|value| value.is_none_or(|value| !value.is_empty()))
        {
            let message = "The repository has filters that cannot be disabled";
            return Err(Error::new(Code::Unprocessable, message, "run `git` in the folder yourself"));
        }
        Ok(())
    }

    /// Paths of tracked files and of untracked files that are not ignored; true if the list was cut.
    pub async fn files(&self) -> Result<(Vec<String>, bool), Error> {
        let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
        let output = self.run(&args).await?;
        Ok((whole_names(&output), output.is_cut))
    }

    /// The id of the last commit, if there is one.
    pub(crate) async fn head(&self) -> Result<Option<String>, Error> {
        self.commit("HEAD").await
    }

    /// The id of a commit, if it exists.
    async fn commit(&self, name: &str) -> Result<Option<String>, Error> {
        let found = self.run(&["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")]).await?;
        let id = String::from_utf8_lossy(found.bytes.trim_ascii()).into_owned();
        Ok(Some(id).filter(|id| found.is_ok && is_commit_id(id)))
    }

    /// The differences between the folder and its last commit.
    pub async fn working_tree(&self, secrets: Secrets) -> Result<WorkingTree, Error> {
        let base = self.head().await?;
        self.compare(base, secrets).await
    }

    /// The differences between the folder and a commit, with the contents of untracked files. If the commit
    /// does not exist any more, the last one takes its place.
    pub async fn since(&self, base: Option<&str>, secrets: Secrets) -> Result<WorkingTree, Error> {
        let base = match base.filter(|base| is_commit_id(base)) {
            Some(base) => self.commit(base).await?,
            None => None,
        };
        let base = match base {
            Some(base) => Some(base),
            None => self.head().await?,
        };
        let mut tree = self.compare(base, secrets).await?;
        let (folder, untracked) = (self.folder.clone(), tree.untracked.clone());
        let room = DIFF_BYTES_MAX.saturating_sub(tree.diff.len());
        let added = tokio::task::spawn_blocking(move || added_files(&folder, &untracked, room)).await;
        if let Ok((added, is_cut)) = added {
            tree.diff.push_str(&added);
            tree.diff_cut |= is_cut;
        }
        Ok(tree)
    }

    async fn compare(&self, base: Option<String>, secrets: Secrets) -> Result<WorkingTree, Error> {
        let base_tree = base.as_deref().unwrap_or(EMPTY_TREE);
        let hidden = match secrets {
            Secrets::Show => Vec::new(),
            Secrets::Hide => self.changed_secrets(base_tree).await?,
        };
        let how = [
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            // Submodules have configurations of their own, so `git` must not run in them.
            "--ignore-submodules=dirty",
            "--submodule=short",
            "--relative",
        ];
        let excluded: Vec<String> = hidden.iter().map(|name| format!(":(exclude,literal){name}")).collect();
        let args = [base_tree, "--", "."];
        let args = ["diff"].into_iter().chain(how).chain(args).chain(excluded.iter().map(String::as_str));
        let diff = self.run_with_patterns(&args.collect::<Vec<_>>()).await?;
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
            base,
            staged: self.staged().await?,
            hidden,
            branch: self.branch().await?,
        })
    }

    /// Changed files with the names of credentials.
    async fn changed_secrets(&self, base_tree: &str) -> Result<Vec<String>, Error> {
        let how = ["diff", "--name-only", "-z", "--no-ext-diff", "--no-textconv", "--no-renames"];
        let how = how.into_iter().chain(["--ignore-submodules=dirty", "--relative", base_tree, "--", "."]);
        let changed = self.run(&how.collect::<Vec<_>>()).await?;
        let secrets: Vec<String> =
            whole_names(&changed).into_iter().filter(|name| is_sensitive_file(name)).collect();
        if changed.is_cut || secrets.len() > STAGED_PATHS_MAX {
            let hint = "run `git` in the folder yourself";
            return Err(Error::new(Code::TooLarge, "Too many files have changed", hint));
        }
        Ok(secrets)
    }

    async fn run(&self, args: &[&str]) -> Result<GitOutput, Error> {
        let mut command = self.command();
        command.arg("--literal-pathspecs").args(args);
        output(command, GIT_WAIT).await
    }

    /// Runs a command that writes. It has more time, since it leaves locks behind if it is killed.
    async fn write(&self, args: &[&str], author: Option<&CommitAuthor>) -> Result<GitOutput, Error> {
        let mut command = self.command();
        command.arg("--literal-pathspecs").args(args);
        if let Some(CommitAuthor { name, email }) = author {
            for who in ["AUTHOR", "COMMITTER"] {
                command.env(format!("GIT_{who}_NAME"), name).env(format!("GIT_{who}_EMAIL"), email);
            }
        }
        output(command, GIT_WRITE_WAIT).await
    }

    /// Runs `git` with paths that may be patterns; the caller has quoted them.
    async fn run_with_patterns(&self, args: &[&str]) -> Result<GitOutput, Error> {
        let mut command = self.command();
        command.args(args);
        output(command, GIT_WAIT).await
    }

    /// `git` without the programs that the repository or the user configures.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        for setting in [
            "core.fsmonitor=false",
            "core.hooksPath=/dev/null",
            "diff.external=",
            "core.pager=cat",
            "core.editor=false",
            "commit.gpgSign=false",
            "gc.auto=0",
            "maintenance.auto=false",
            "submodule.recurse=false",
            "safe.bareRepository=explicit",
        ] {
            command.args(["-c", setting]);
        }
        command
            .args(["--no-pager", "--no-optional-locks"])
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
            // Set by environment variables, because a name after `-c` would end at its first `=`.
            .env("GIT_CONFIG_COUNT", self.unset.len().to_string())
            .envs(self.unset.iter().enumerate().map(|(n, name)| (format!("GIT_CONFIG_KEY_{n}"), name)))
            .envs((0..self.unset.len()).map(|n| (format!("GIT_CONFIG_VALUE_{n}"), "")))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        command
    }
}

/// Runs a command to its end, or until it printed too much.
async fn output(mut command: Command, wait: Duration) -> Result<GitOutput, Error> {
    let failed = |error: std::io::Error| {
        let hint = "check that `git` runs and that the folder exists";
        Error::new(Code::Internal, format!("Failed to run `git`: {error}"), hint)
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
        let is_ok = child.wait().await?.success() || is_cut;
        Ok(GitOutput { bytes, is_cut, is_ok })
    };
    let late = |_| Error::new(Code::Timeout, "`git` took too long", "run `git` in the folder yourself");
    tokio::time::timeout(wait, work).await.map_err(late)?.map_err(failed)
}

fn is_commit_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Untracked files as a diff that adds them; true if some are left out. Links are not followed, and files of
/// credentials are named only.
fn added_files(folder: &Path, names: &[String], room: usize) -> (String, bool) {
    let (mut diff, mut is_cut) = (String::new(), false);
    for name in names {
        if is_sensitive_file(name) {
            continue;
        }
        let Ok(file) = files::open(&folder.join(name)) else { continue };
        let left = room.saturating_sub(diff.len());
        let is_inside = folder.join(name).canonicalize().is_ok_and(|path| path.starts_with(folder));
        if !is_inside || file.metadata().map_or(0, |found| found.len()) > left as u64 {
            is_cut = true;
            continue;
        }
        let mut bytes = Vec::new();
        if std::io::Read::read_to_end(&mut std::io::Read::take(file, left as u64), &mut bytes).is_err() {
            continue;
        }
        let added = added_file(name, &bytes);
        // Every line has a sign more than the file.
        if added.len() > left {
            is_cut = true;
        } else {
            diff.push_str(&added);
        }
    }
    (diff, is_cut)
}

/// The diff that adds a file, as `git` writes it.
fn added_file(name: &str, bytes: &[u8]) -> String {
    let head = format!("diff --git a/{name} b/{name}\nnew file mode 100644\n");
    if bytes.is_empty() {
        return head;
    }
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    let Some(text) = text else {
        return format!("{head}Binary files /dev/null and b/{name} differ\n");
    };
    let lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
    let count = lines.clone().count();
    let body = lines.flat_map(|line| ["+", line, "\n"]).collect::<String>();
    let end = if text.ends_with('\n') { "" } else { "\\ No newline at end of file\n" };
    format!("{head}--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,{count} @@\n{body}{end}")
}

/// The settings that `git` printed, with their last values; `None` is a setting without a value, which is on.
fn values(bytes: &[u8]) -> BTreeMap<&[u8], Option<&[u8]>> {
    let settings = bytes.split(|byte| *byte == 0).filter(|setting| !setting.is_empty());
    let parts = settings.map(|setting| match setting.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&setting[..end], Some(&setting[end + 1..])),
        None => (setting, None),
    });
    parts.collect()
}

/// A name as `git` wrote it, which may be invalid UTF-8.
#[cfg(unix)]
fn os_string(bytes: &[u8]) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes.to_owned())
}

#[cfg(not(unix))]
fn os_string(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

fn names(bytes: &[u8]) -> impl Iterator<Item = String> {
    let names = bytes.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| String::from_utf8_lossy(name).into_owned())
}

/// Complete names: a last name that was cut off is left out.
fn whole_names(output: &GitOutput) -> Vec<String> {
    let bytes = match output.bytes.iter().rposition(|byte| *byte == 0) {
        Some(end) => &output.bytes[..end],
        None => &[],
    };
    names(bytes).collect()
}
