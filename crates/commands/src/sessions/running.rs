//! Sessions of running agents.

use std::collections::HashSet;

use tidings_transcript::roots::Roots;
use tidings_transcript::running;

/// Returns the ids of sessions whose agent is running.
pub(crate) fn ids(roots: &Roots) -> HashSet<String> {
    let running = roots.paths().iter().flat_map(|root| running::list(root));
    running.map(|running| running.session_id).collect()
}
