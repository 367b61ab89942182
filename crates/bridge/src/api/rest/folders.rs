//! Folders in which a session can be started, for a picker.

use std::path::{Path as FilePath, PathBuf};

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use tidings_agent::permissions::is_sensitive_folder;
use tidings_api::{Code, FolderItem, FolderList};
use tidings_sessions::limits::FOLDER_ENTRIES_MAX;
use tidings_sessions::{Caller, Error, Sessions, paths};

use crate::api::Api;
use crate::http::{Answer, Query};
use crate::limits::FOLDER_ITEMS_MAX;

#[derive(Debug, Deserialize)]
pub(crate) struct FoldersQuery {
    #[serde(default)]
    path: String,
    #[serde(default)]
    q: String,
}

/// Lists the folders in a folder, or the folders to start from.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/folders", tag = "workspace",
    params(
        ("path" = Option<String>, Query, description = "An absolute path, or one that begins with `~`"),
        ("q" = Option<String>, Query, description = "The beginning of the names, ignoring case"),
    ),
    responses((status = 200, description = "The folders, at most 500", body = FolderList)),
))]
pub(crate) async fn list_folders(
    State(api): State<Api>,
    caller: Caller,
    Query(FoldersQuery { path, q }): Query<FoldersQuery>,
) -> Answer<FolderList> {
    let listed =
        tokio::task::spawn_blocking(move || list(&Picker { sessions: api.sessions, caller }, &path, &q));
    let listed = listed.await.map_err(|_| Error::new(Code::Internal, "Failed to list folders", ""))?;
    listed.map(Json)
}

/// The folders that one caller may choose from.
struct Picker {
    sessions: Sessions,
    caller: Caller,
}

impl Picker {
    /// The resolved path of a folder that may be listed.
    fn allowed(&self, path: &str) -> Result<String, Error> {
        let real = self.sessions.folder(&self.caller, path)?;
        if is_sensitive_folder(&real) {
            let message = format!("`{path}` is a folder of credentials");
            return Err(Error::new(Code::Forbidden, message, "choose another folder"));
        }
        Ok(real)
    }

    /// The folder behind an entry, if it may be listed. Links are followed.
    fn item(&self, folder: &FilePath, name: &str) -> Option<FolderItem> {
        let path = folder.join(name);
        // Most entries are files, which need no further check.
        if !path.metadata().ok()?.is_dir() || is_hidden(name) || is_sensitive_folder(path.to_str()?) {
            return None;
        }
        let path = self.allowed(path.to_str()?).ok()?;
        let git = FilePath::new(&path).join(".git").exists();
        Some(FolderItem { name: name.to_owned(), path, git })
    }

    /// The folders to start from: those of the credential, or else of the server; none if there is no limit.
    fn starting_points(&self) -> Vec<String> {
        let roots = self.sessions.config().roots.iter().filter_map(|root| root.to_str().map(str::to_owned));
        let points: Vec<String> =
            if self.caller.folders.is_empty() { roots.collect() } else { self.caller.folders.clone() };
        points.into_iter().filter_map(|point| self.allowed(&point).ok()).collect()
    }
}

fn list(picker: &Picker, path: &str, q: &str) -> Result<FolderList, Error> {
    let home = picker.sessions.config().home().and_then(|home| picker.allowed(home).ok());
    let is_limited = !picker.caller.folders.is_empty() || !picker.sessions.config().roots.is_empty();
    if path.is_empty() && is_limited {
        let point = |path: String| {
            let git = FilePath::new(&path).join(".git").exists();
            FolderItem { name: path.clone(), path, git }
        };
        let items = picker.starting_points().into_iter().map(point).collect();
        return Ok(FolderList { home, items, ..FolderList::default() });
    }
    let path = if path.is_empty() { home.as_deref().unwrap_or("/") } else { path };
    let (sent, path) = (path, picker.allowed(path)?);
    let folder = PathBuf::from(&path);
    let parent = folder.parent().and_then(FilePath::to_str).and_then(|parent| picker.allowed(parent).ok());
    let (items, more) = items(picker, &folder, q).map_err(|error| match error.code() {
        // The reason names the path behind a link.
        Code::Invalid => {
            let message = format!("The folder `{sent}` cannot be read");
            Error::new(Code::Invalid, message, "choose another folder")
        }
        _ => error,
    })?;
    Ok(FolderList { path: Some(path), parent, home, items, more })
}

/// The folders in a folder whose names begin with a text; true if some were left out.
fn items(picker: &Picker, folder: &FilePath, q: &str) -> Result<(Vec<FolderItem>, bool), Error> {
    paths::unchanged(&picker.sessions.config().roots, folder)?;
    let entries = fs_err::read_dir(folder)
        .map_err(|error| Error::new(Code::Invalid, error.to_string(), "choose another folder"))?;
    let (q, mut names, mut looked) = (q.to_lowercase(), Vec::new(), 0);
    for entry in entries.flatten() {
        looked += 1;
        if looked > FOLDER_ENTRIES_MAX {
            break;
        }
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let Ok(name) = entry.file_name().into_string() else { continue };
        if !is_file && name.to_lowercase().starts_with(&q) {
            names.push(name);
        }
    }
    names.sort_by_cached_key(|name| (name.to_lowercase(), name.clone()));
    let mut items = Vec::new();
    for name in names {
        if let Some(item) = picker.item(folder, &name) {
            if items.len() == FOLDER_ITEMS_MAX {
                return Ok((items, true));
            }
            items.push(item);
        }
    }
    Ok((items, looked > FOLDER_ENTRIES_MAX))
}

fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}
