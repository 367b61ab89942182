//! A store in a folder, with the files that Claude Code would write.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use tidings_protocol::json::Json;

use super::files::{entries_of, open_private, transcripts_below, write_entries};
use super::{
    SessionKey, SessionStore, StoreCall, StoredSession, is_safe_name, is_safe_subpath, storage_error,
    without_repeated,
};
use crate::error::{Error, ErrorKind};

/// A [`SessionStore`] in a folder, such as a mounted share.
///
/// Its files are named as those in the folder `projects` of Claude Code, so the tools for session files read
/// them. Only the user can read the files that it creates.
#[derive(Debug, Clone)]
pub struct FolderStore {
    root: PathBuf,
    /// Appends of one process come one after the other.
    appends: Arc<Mutex<()>>,
}

impl FolderStore {
    /// A store in this folder, which is created when something is appended.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        FolderStore { root: folder.into(), appends: Arc::default() }
    }

    /// The file of a transcript.
    fn file(&self, key: &SessionKey) -> Result<PathBuf, Error> {
        let is_safe = is_safe_name(&key.project)
            && is_safe_name(&key.session)
            && key.subpath.as_deref().is_none_or(is_safe_subpath);
        if !is_safe {
            let message = format!("A folder cannot keep the session `{}`", key.session);
            return Err(Error::new(ErrorKind::Invalid, message, "keys become names of files"));
        }
        let project = self.root.join(&key.project);
        Ok(match &key.subpath {
            None => project.join(format!("{}.jsonl", key.session)),
            Some(subpath) => project.join(&key.session).join(format!("{subpath}.jsonl")),
        })
    }

    fn append_now(&self, key: &SessionKey, entries: &[Json]) -> Result<(), Error> {
        let file = self.file(key)?;
        let _one_at_a_time = self.appends.lock();
        append_entries(&file, entries)
            .map_err(|source| storage_error(format!("Failed to append to `{}`", file.display()), source))
    }

    /// Runs file operations on a blocking thread.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&FolderStore) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let store = self.clone();
        super::files::blocking(move || work(&store)).await
    }
}

impl SessionStore for FolderStore {
    fn append<'a>(&'a self, key: &'a SessionKey, entries: &'a [Json]) -> StoreCall<'a, ()> {
        Box::pin(async move {
            if entries.is_empty() {
                return Ok(());
            }
            let (key, entries) = (key.clone(), entries.to_vec());
            self.run(move |store| store.append_now(&key, &entries)).await
        })
    }

    fn load<'a>(&'a self, key: &'a SessionKey) -> StoreCall<'a, Option<Vec<Json>>> {
        Box::pin(async move {
            let key = key.clone();
            self.run(move |store| {
                let file = store.file(&key)?;
                Ok(if_there(&file, std::fs::read(&file))?.map(|bytes| without_repeated(entries_of(&bytes))))
            })
            .await
        })
    }

    fn list<'a>(&'a self, project: &'a str) -> StoreCall<'a, Vec<StoredSession>> {
        Box::pin(async move {
            let project = project.to_owned();
            self.run(move |store| {
                if !is_safe_name(&project) {
                    return Ok(Vec::new());
                }
                let folder = store.root.join(&project);
                let Some(found) = if_there(&folder, std::fs::read_dir(&folder))? else {
                    return Ok(Vec::new());
                };
                let listed = found.flatten().filter_map(|file| {
                    let name = file.file_name().into_string().ok()?;
                    let about = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
                    let modified = jiff::Timestamp::try_from(about.modified().ok()?).ok()?.as_millisecond();
                    Some(StoredSession::new(name.strip_suffix(".jsonl")?, modified))
                });
                Ok(listed.collect())
            })
            .await
        })
    }

    fn subpaths<'a>(&'a self, key: &'a SessionKey) -> StoreCall<'a, Vec<String>> {
        Box::pin(async move {
            let main = SessionKey::new(&key.project, &key.session);
            self.run(move |store| {
                let folder = store.file(&main)?.with_extension("");
                Ok(transcripts_below(&folder).into_iter().map(|(subpath, _)| subpath).collect())
            })
            .await
        })
    }

    fn delete<'a>(&'a self, key: &'a SessionKey) -> StoreCall<'a, ()> {
        Box::pin(async move {
            let key = key.clone();
            self.run(move |store| {
                let file = store.file(&key)?;
                if_there(&file, std::fs::remove_file(&file))?;
                if key.subpath.is_none() {
                    let folder = file.with_extension("");
                    if_there(&folder, std::fs::remove_dir_all(&folder))?;
                }
                Ok(())
            })
            .await
        })
    }
}

/// The result of an operation; `None` if there is no such file.
fn if_there<T>(path: &Path, result: io::Result<T>) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(storage_error(format!("Failed to read or change `{}`", path.display()), error)),
    }
}

fn append_entries(path: &Path, entries: &[Json]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = open_private().read(true).append(true).create(true).open(path)?;
    let mut lines = Vec::new();
    // A process that was killed may have left half a line.
    if !ends_with_line(&mut file)? {
        lines.push(b'\n');
    }
    write_entries(&mut lines, entries)?;
    file.write_all(&lines)
}

fn ends_with_line(file: &mut std::fs::File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}
