//! `delete_session` of the official SDKs.

use std::path::PathBuf;

use super::SessionFile;
use super::scope::not_found;
use crate::error::At as _;
use crate::{Error, ErrorKind};

/// `delete_session`: removes a session's file, and the folder beside it with its sub-agents, tool results and
/// marks.
///
/// Returns the removed paths. If the folder is a symbolic link, only the link is removed.
pub fn delete_session(session: &SessionFile) -> Result<Vec<PathBuf>, Error> {
    let file = &session.path;
    match std::fs::remove_file(file).at("delete", file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(not_found(&session.id)),
        removed => removed?,
    }
    let mut removed = vec![file.clone()];
    let folder = session.dir();
    if let Ok(metadata) = std::fs::symlink_metadata(&folder) {
        if metadata.is_dir() {
            std::fs::remove_dir_all(&folder).at("delete", &folder)?;
        } else {
            std::fs::remove_file(&folder).at("delete", &folder)?;
        }
        removed.push(folder);
    }
    Ok(removed)
}
