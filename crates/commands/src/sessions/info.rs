//! `tidings sessions info`: metadata of sessions, as the official SDKs return it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use tidings_transcript::manage::{Page, Scope, SessionInfo, list_sessions, session_info};
use tidings_transcript::{Error, ErrorKind};

use super::{RootArgs, worktrees};
use crate::error::Exit;
use crate::output::{BOLD, DIM, Output, PLAIN, printable};

/// Print session metadata as the official SDKs return it
///
/// Equivalent to `list_sessions` and `get_session_info` of the SDKs, which read the beginning and the end of
/// each file. `list` shows more.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InfoArgs {
    /// Session id [default: all sessions]
    id: Option<String>,

    /// Only sessions of this folder and the other worktrees of its repository
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,

    /// Exclude the other worktrees
    #[arg(long, requires = "directory")]
    no_worktrees: bool,

    /// Maximum number of sessions
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Number of sessions to skip
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: usize,
}

const EXAMPLES: &str = "\
Examples:
  tidings sessions info --json
  tidings sessions info --directory . --limit 10
  tidings sessions info 5a15c0fc-95e4-428e-a126-8a8cf06dfac6";

impl InfoArgs {
    pub(crate) fn run(&self, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let roots = root.roots()?;
        let others = match &self.directory {
            Some(folder) if !self.no_worktrees => worktrees::of(folder),
            _ => Vec::new(),
        };
        let scope = match &self.directory {
            Some(folder) => Scope::project(&roots, folder, &others),
            None => Scope::everywhere(&roots),
        };
        let infos = match &self.id {
            Some(name) => vec![one(root, &scope, self.directory.as_deref(), name)?],
            None => list_sessions(&scope, Page { offset: self.offset, limit: self.limit })?,
        };
        for info in &infos {
            if root.json {
                out.json(info)?;
            } else {
                out.text(&render(info))?;
            }
        }
        Ok(Exit::Success)
    }
}

/// Finds one session by its id; without a folder, a prefix of the id is enough.
fn one(root: &RootArgs, scope: &Scope<'_>, folder: Option<&Path>, name: &str) -> anyhow::Result<SessionInfo> {
    let id = if folder.is_some() { name.to_owned() } else { root.roots()?.find(name)?.id };
    let info = session_info(scope, &id)?;
    let missing = || {
        let message = format!("No metadata of session `{name}`");
        Error::new(
            ErrorKind::NotFound,
            message,
            "it has no title and no prompt, or it belongs to another folder",
        )
    };
    Ok(info.ok_or_else(missing)?)
}

fn render(info: &SessionInfo) -> String {
    let mut text =
        format!("{BOLD}{}{PLAIN}  {}\n", info.session_id, printable(&info.summary.replace('\n', " ")));
    let facts = [
        ("folder", &info.cwd),
        ("branch", &info.git_branch),
        ("title", &info.custom_title),
        ("first prompt", &info.first_prompt),
        ("tag", &info.tag),
    ];
    for (name, value) in facts {
        if let Some(value) = value {
            // Writing into a String cannot fail.
            let _ = writeln!(text, "{DIM}{name:>14}{PLAIN}  {}", printable(value));
        }
    }
    text
}
