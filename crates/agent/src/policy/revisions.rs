//! Git commands that bring commits into the working copy, from where they are built and run.

use std::path::Path;

use crate::permissions::{GitFolder, SimpleCommand};

/// True if a command may bring code of another repository into the working copy.
///
/// Fetching stores foreign commits under remote names, tags and hashes. So only names of local branches count
/// as the project's own.
pub(super) fn brings_foreign_code(command: &SimpleCommand, folder: &str) -> bool {
    let Some((subcommand, rest)) = command.git_parts() else {
        return false;
    };
    let Some(operands) = command.operands() else {
        // A command that no shape covers is not known to stay local.
        return matches!(subcommand, "pull" | "merge" | "rebase" | "am" | "apply" | "submodule");
    };
    let has = |names: &[&str]| rest.iter().any(|word| names.contains(&word.text.as_str()));
    // The shapes have subcommands of two words.
    let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
    let paths_behind = rest.iter().skip_while(|word| word.text != "--").skip(1).count();
    let revisions = &operands[..operands.len().saturating_sub(paths_behind)];
    let git = GitFolder::find(Path::new(folder));
    let is_own = |revision: &&str| is_own(revision, git.as_ref());
    let all_own = |revisions: &[&str]| revisions.iter().all(is_own);
    match subcommand {
        "pull" => true,
        // Without a name it merges what the branch follows.
        "merge" => !(has(&["--continue"]) || (!revisions.is_empty() && all_own(revisions))),
        "cherry-pick" | "revert" | "checkout" | "switch" => !all_own(revisions),
        // The second operand of these is where the new branch begins.
        "branch" if !has(&["-l", "--list", "-m", "--move"]) => {
            !all_own(revisions.get(1..).unwrap_or_default())
        }
        "worktree" => !all_own(revisions.get(1..).unwrap_or_default()),
        // The others are files.
        "reset" => !all_own(revisions.get(..1).unwrap_or_default()),
        "stash" if has(&["pop", "apply"]) => !revisions.iter().all(|revision| is_stash(revision)),
        _ => false,
    }
}

/// True if a revision is the current commit, a local branch, or an ancestor of one.
fn is_own(revision: &str, git: Option<&GitFolder>) -> bool {
    let base = revision.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '~' | '^'));
    // The digits at the end may belong to the name.
    let is_branch = |name: &str| git.is_some_and(|git| git.is_branch(name));
    let is_base = matches!(base, "HEAD" | "@") || is_branch(base);
    let is_ancestor =
        revision.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with(['~', '^']));
    revision == "-" || is_branch(revision) || (is_base && is_ancestor)
}

/// True if a word is an entry of the stash.
fn is_stash(revision: &str) -> bool {
    let number = revision.strip_prefix("stash@{").and_then(|rest| rest.strip_suffix('}')).unwrap_or(revision);
    !number.is_empty() && number.len() < 6 && number.bytes().all(|b| b.is_ascii_digit())
}
