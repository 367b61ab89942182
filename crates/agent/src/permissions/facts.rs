//! Facts about a session that its policy needs. What is not known is asked about.

use std::path::Path;

use super::paths;
use super::sources::CodeSources;

/// The facts about a session by which its requests are judged.
///
/// Each is required, and each can say that it is not known: then no policy allows a call because of it.
///
/// ```
/// use tidings_agent::permissions::{SessionFacts, SessionFolder};
///
/// let facts = SessionFacts::in_folder("/home/ada/demo");
/// assert_eq!(facts.folder, SessionFolder::Known("/home/ada/demo".to_owned()));
/// assert_eq!(SessionFacts::unknown().folder, SessionFolder::Unknown);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionFacts {
    /// The folder in which the session works.
    pub folder: SessionFolder,
    /// The kind of session.
    pub kind: SessionKind,
    /// The repositories from which code may come: those that the project had when the session began.
    pub sources: CodeSources,
    /// Folders that no policy and no grant opens, such as the data folder of the server. An entry may begin
    /// with `~`.
    pub protected: Vec<String>,
}

/// The folder of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionFolder {
    /// Its path, without symbolic links.
    Known(String),
    /// It is not known, so that no path counts as inside.
    Unknown,
}

/// Kinds of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionKind {
    /// This program drives the agent.
    Driven,
    /// A person has started the agent, and hooks report its requests.
    Observed,
    /// A recording, in which nothing is decided.
    Recorded,
}

impl SessionFacts {
    /// Creates the facts about a session.
    pub fn new(
        folder: SessionFolder,
        kind: SessionKind,
        sources: CodeSources,
        protected: Vec<String>,
    ) -> Self {
        SessionFacts { folder, kind, sources, protected }
    }

    /// The facts about a driven session of which nothing is known.
    pub fn unknown() -> Self {
        Self::new(SessionFolder::Unknown, SessionKind::Driven, CodeSources::Unknown, Vec::new())
    }

    /// The facts about a driven session of which only the folder is known. The path is not resolved.
    pub fn in_folder(folder: impl Into<String>) -> Self {
        SessionFacts { folder: SessionFolder::Known(folder.into()), ..Self::unknown() }
    }

    /// The facts about a session of a recording.
    pub(crate) fn recorded(folder: Option<&str>) -> Self {
        let folder = folder.map_or(SessionFolder::Unknown, |folder| SessionFolder::Known(folder.to_owned()));
        SessionFacts { folder, kind: SessionKind::Recorded, ..Self::unknown() }
    }

    /// The same facts for an agent that says where it works now. A place outside of the session's folder
    /// makes the folder unknown.
    #[must_use]
    pub(crate) fn at(&self, place: &SessionFolder) -> Self {
        let folder = match (self.folder.path(), place) {
            (Some(folder), SessionFolder::Known(place)) if paths::lies_in(place, folder) => {
                SessionFolder::Known(place.clone())
            }
            _ => SessionFolder::Unknown,
        };
        SessionFacts { folder, ..self.clone() }
    }

    /// True if a path leads to a protected folder.
    pub(crate) fn protects(&self, path: &str) -> bool {
        // A session may work in a part of a protected folder.
        let is_own = |protected: &str| {
            self.folder.path().is_some_and(|folder| {
                paths::lies_in(folder, protected) && folder != protected && paths::lies_in(path, folder)
            })
        };
        self.protected.iter().any(|protected| paths::lies_in(path, protected) && !is_own(protected))
    }

    /// True if a protected folder lies below a path.
    pub(crate) fn protects_below(&self, path: &str) -> bool {
        self.protected.iter().any(|protected| paths::lies_in(protected, path))
    }

    /// True if a text mentions a protected folder.
    pub(crate) fn protects_mentioned(&self, text: &str) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        self.protected.iter().filter(|protected| protected.len() > 1).any(|protected| {
            text.match_indices(protected.as_str()).any(|(at, found)| {
                !text[..at].ends_with(is_part) && !text[at + found.len()..].starts_with(is_part)
            })
        })
    }
}

impl SessionFolder {
    /// Resolves a folder on this machine. It is unknown unless it is an absolute path of an existing folder.
    pub fn on_disk(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        let real = if path.is_absolute() { path.canonicalize().ok() } else { None };
        match real.filter(|real| real.is_dir()).and_then(|real| real.to_str().map(str::to_owned)) {
            Some(real) => SessionFolder::Known(real),
            None => SessionFolder::Unknown,
        }
    }

    /// The path, if it is known.
    pub fn path(&self) -> Option<&str> {
        match self {
            SessionFolder::Known(path) => Some(path),
            SessionFolder::Unknown => None,
        }
    }
}
