//! Projects of sessions: names that the copies of a project share on all servers of a fleet.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use tidings_api::SessionView;

use crate::limits::NAMED_PROJECTS_MAX;

/// The projects of this server's folders. Without a fleet it stays empty.
#[derive(Debug, Default)]
pub struct Projects(Mutex<BTreeMap<String, String>>);

impl Projects {
    /// Sets the project of a folder, or removes it; true if that changes something.
    pub fn set(&self, folder: &str, project: Option<String>) -> bool {
        let mut all = self.0.lock();
        match project {
            None => all.remove(folder).is_some(),
            Some(project) if all.get(folder) == Some(&project) => false,
            Some(_) if all.len() >= NAMED_PROJECTS_MAX && !all.contains_key(folder) => false,
            Some(project) => {
                all.insert(folder.to_owned(), project);
                true
            }
        }
    }

    /// All of them, by folder.
    pub fn all(&self) -> BTreeMap<String, String> {
        self.0.lock().clone()
    }

    /// The view of one of this server's sessions, with its project.
    pub(super) fn add_to(&self, view: SessionView) -> SessionView {
        let project = self.0.lock().get(project_folder(&view)).cloned();
        SessionView { project, ..view }
    }
}

/// The folder of a session's project: a worktree belongs to the project that it was made in.
pub fn project_folder(view: &SessionView) -> &str {
    view.worktree.as_ref().map_or(&view.cwd, |worktree| &worktree.project)
}
