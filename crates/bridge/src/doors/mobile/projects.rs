//! Projects: a folder, and the session that works in it now.

use tidings_protocol::api::SessionView;

use super::outgoing::{ProjectState, Refusal};
use crate::caller::Caller;
use crate::doors::Doors;
use crate::doors::reach;
use crate::journal::{ErrorKind, JournalError, Key, Project, ProjectFolder};
use crate::limits::LIST_MAX;

/// Opens a folder as a project; an open one is left as it is, or is an error, as the phone's family has it.
pub(super) async fn open(
    doors: &Doors,
    caller: &Caller,
    path: &str,
    twice: Twice,
) -> Result<Project, Refusal> {
    let folder = doors
        .sessions
        .folder(caller, path)
        .map_err(|error| Refusal::new("INVALID_PATH", error.message().to_owned()))?;
    let folder = ProjectFolder::new(folder).map_err(|error| refusal(&error))?;
    if let Some(project) = find(doors, caller, folder.as_str()).await? {
        return match twice {
            Twice::Fine => Ok(project),
            Twice::Refused => {
                let message = format!("The project `{}` is open already", folder.as_str());
                Err(Refusal::new("PROJECT_EXISTS", message))
            }
        };
    }
    let now = doors.sessions.config().clock.now();
    doors.sessions.hub().journal().open_project(folder, None, now).await.map_err(|error| refusal(&error))
}

/// What happens to a project that is open already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Twice {
    Fine,
    Refused,
}

/// The project, if there is one that the caller may see.
pub(super) async fn find(doors: &Doors, caller: &Caller, id: &str) -> Result<Option<Project>, Refusal> {
    let all = all(doors, caller).await?;
    Ok(all.into_iter().find(|project| project.folder.as_str() == id))
}

/// All projects that the caller may see.
pub(super) async fn all(doors: &Doors, caller: &Caller) -> Result<Vec<Project>, Refusal> {
    let journal = doors.sessions.hub().journal();
    let mut all = Vec::new();
    let mut after: Option<ProjectFolder> = None;
    loop {
        let page = journal.projects(after.as_ref()).await.map_err(|error| refusal(&error))?;
        let is_last = page.len() < LIST_MAX;
        after = page.last().map(|project| project.folder.clone());
        all.extend(page.into_iter().filter(|project| caller.sees(project.folder.as_str())));
        if is_last {
            return Ok(all);
        }
    }
}

/// The session of a project; none if it has none, if that was deleted, or if the caller may not see it.
pub(super) async fn session(doors: &Doors, caller: &Caller, project: &Project) -> Option<SessionView> {
    reach::session(&doors.sessions, caller, project.session.as_ref()?.as_str()).await.ok()
}

pub(super) async fn state(doors: &Doors, caller: &Caller, project: &Project) -> ProjectState {
    ProjectState::new(project, session(doors, caller, project).await.as_ref())
}

/// Gives a project another session, or none.
pub(super) async fn set(doors: &Doors, project: &Project, session: Option<Key>) -> Result<(), Refusal> {
    let now = doors.sessions.config().clock.now();
    let opened = doors.sessions.hub().journal().open_project(project.folder.clone(), session, now);
    opened.await.map(drop).map_err(|error| refusal(&error))
}

pub(super) async fn close(doors: &Doors, project: &Project) -> Result<(), Refusal> {
    doors.sessions.hub().journal().close_project(&project.folder).await.map_err(|error| refusal(&error))
}

fn refusal(error: &JournalError) -> Refusal {
    let code = match error.kind() {
        ErrorKind::Nested => "PROJECT_NESTING",
        ErrorKind::NotFound => "PROJECT_NOT_FOUND",
        ErrorKind::Invalid => "INVALID_PATH",
        ErrorKind::TooLarge => "PROJECT_LIMIT",
        ErrorKind::Full => "DISK_SPACE_LOW",
        _ => "INTERNAL_ERROR",
    };
    Refusal::new(code, error.to_string())
}
