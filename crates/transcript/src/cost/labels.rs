//! Branches and tags of sessions, for sums that are grouped by them.

use std::collections::HashMap;

use super::CostBy;
use crate::manage::SessionDetailsReader;
use crate::roots::{SessionFiles, SessionScan};

/// The label of each session, by its id: its last git branch or its tag, as the grouping asks. Other
/// groupings need none.
pub fn labels(by: CostBy, found: &SessionScan) -> HashMap<String, String> {
    if !matches!(by, CostBy::Branch | CostBy::Tag) {
        return HashMap::new();
    }
    let mut sessions: Vec<&SessionFiles> = found.sessions.iter().collect();
    // A session in several folders has the label of its last written version.
    sessions.sort_by_key(|session| session.modified());
    let mut reader = SessionDetailsReader::default();
    let mut labels = HashMap::new();
    for session in sessions {
        let Some(main) = &session.main else { continue };
        let Ok(Some(details)) = reader.read(&main.path) else { continue };
        let label = if by == CostBy::Tag { details.tag } else { details.git_branch };
        match label.filter(|label| !label.is_empty()) {
            Some(label) => drop(labels.insert(session.id.clone(), label)),
            None => drop(labels.remove(&session.id)),
        }
    }
    labels
}
