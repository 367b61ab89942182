//! Projects of phones: a folder, and the current session in it.

use tidings_api::SessionView;
use tidings_journal::limits::LIST_MAX;
use tidings_journal::{ErrorKind, JournalError, Key, Project, ProjectFolder};
use tidings_sessions::Caller;

use super::outgoing::{ProjectState, Refusal};
use crate::api::{Api, visibility};

/// Opens a folder as a project. A project that is already open is returned or refused, depending on the
/// protocol family.
pub(super) async fn open(
    api: &Api,
    caller: &Caller,
    path: &str,
    if_open: IfOpen,
) -> Result<Project, Refusal> {
    let folder = api
        .sessions
        .folder(caller, path)
        .map_err(|error| Refusal::new("INVALID_PATH", error.message().to_owned()))?;
    let folder = ProjectFolder::new(folder).map_err(|error| refusal(&error))?;
    if let Some(project) = find(api, caller, folder.as_str()).await? {
        return match if_open {
            IfOpen::Return => Ok(project),
            IfOpen::Refuse => {
                let message = format!("The project `{}` is already open", folder.as_str());
                Err(Refusal::new("PROJECT_EXISTS", message))
            }
        };
    }
    let now = api.sessions.config().clock.now();
    api.sessions.broadcast().journal().open_project(folder, None, now).await.map_err(|error| refusal(&error))
}

/// Handling of a project that is already open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IfOpen {
    Return,
    Refuse,
}

/// Finds a project that the caller may see.
pub(super) async fn find(api: &Api, caller: &Caller, id: &str) -> Result<Option<Project>, Refusal> {
    let all = all(api, caller).await?;
    Ok(all.into_iter().find(|project| project.folder.as_str() == id))
}

/// All projects that the caller may see.
pub(super) async fn all(api: &Api, caller: &Caller) -> Result<Vec<Project>, Refusal> {
    let journal = api.sessions.broadcast().journal();
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

/// The session of a project; `None` if it has none, if it was deleted, or if the caller may not see it.
pub(super) async fn session(api: &Api, caller: &Caller, project: &Project) -> Option<SessionView> {
    visibility::session(&api.sessions, caller, project.session.as_ref()?.as_str()).await.ok()
}

pub(super) async fn state(api: &Api, caller: &Caller, project: &Project) -> ProjectState {
    ProjectState::new(project, session(api, caller, project).await.as_ref())
}

/// Sets or clears the session of a project.
pub(super) async fn set(api: &Api, project: &Project, session: Option<Key>) -> Result<(), Refusal> {
    let now = api.sessions.config().clock.now();
    let opened = api.sessions.broadcast().journal().open_project(project.folder.clone(), session, now);
    opened.await.map(drop).map_err(|error| refusal(&error))
}

pub(super) async fn close(api: &Api, project: &Project) -> Result<(), Refusal> {
    api.sessions.broadcast().journal().close_project(&project.folder).await.map_err(|error| refusal(&error))
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
