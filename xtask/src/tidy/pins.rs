//! All places name the versions of Claude Code, the SDKs and other agents that `e2e` installs.

use super::Finding;
use crate::pins;
use crate::repo::TextFile;

pub(crate) fn check(files: &[TextFile]) -> Vec<Finding> {
    let advice = "cargo run -p xtask -- pins";
    pins::problems(files)
        .into_iter()
        .map(|(path, problem)| Finding::violation(path, 1, problem, advice))
        .collect()
}
