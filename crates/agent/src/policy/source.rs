//! The place that a command fetches from.

use serde::{Deserialize, Serialize};

use super::matching::fetched;
use crate::permissions::{CodeSources, CommandKind, SessionFacts, SimpleCommand};

/// The place that a command on the network fetches from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FetchSource {
    /// This machine.
    Machine,
    /// A remote repository that the project had when the session began.
    KnownRemote,
    /// Any other place, or a command that does more than fetch.
    Outside,
}

/// Hosts that are this machine.
const MACHINE: &[&str] = &["localhost", "127.0.0.1", "::1"];

/// The place that a command fetches from; `None` if it does not use the network.
pub(super) fn of(command: &SimpleCommand, facts: &SessionFacts) -> Option<FetchSource> {
    if command.kind() != CommandKind::Network {
        return None;
    }
    if command.git_parts().is_some_and(|(subcommand, _)| subcommand == "fetch") {
        let is_known = fetches_known(command, facts);
        return Some(if is_known { FetchSource::KnownRemote } else { FetchSource::Outside });
    }
    let is_here = fetched(command)
        .is_some_and(|hosts| !hosts.is_empty() && hosts.iter().all(|host| MACHINE.contains(&host.as_str())));
    Some(if is_here { FetchSource::Machine } else { FetchSource::Outside })
}

/// True if `git fetch` fetches branches of a remote that the project had when the session began. A refspec
/// could make a local branch of them, and `pull/1/head` is the branch of a stranger.
fn fetches_known(command: &SimpleCommand, facts: &SessionFacts) -> bool {
    let (Some(operands), Some(folder)) = (command.operands(), facts.folder.path()) else {
        return false;
    };
    let is_branch = |name: &String| {
        let first = name.split('/').next().unwrap_or_default();
        let is_foreign =
            matches!(first, "pull" | "pulls" | "merge-requests" | "refs" | "changes" | "pull-requests");
        !is_foreign && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'))
    };
    let remote = operands.first().map(String::as_str);
    operands.iter().skip(1).all(is_branch) && facts.sources.still_have(&CodeSources::read(folder), remote)
}
