//! Change notifications of the operating system.

use std::path::{Path, PathBuf};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::{Error, ErrorKind};

/// A change notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Woken {
    /// These files or folders changed.
    Paths(Vec<PathBuf>),
    /// Unknown files changed.
    Somewhere,
}

/// Watches folders until it is dropped.
#[derive(Debug)]
pub struct Wake {
    watcher: RecommendedWatcher,
}

impl Wake {
    /// Calls `tell` from a separate thread whenever something below one of the folders changes.
    ///
    /// Fails if the system has no such service or no room for another watch; then the caller has to poll.
    pub fn new(folders: &[PathBuf], tell: impl Fn(Woken) + Send + 'static) -> Result<Self, Error> {
        let handler = move |event: notify::Result<Event>| match event {
            // Reading is not a change, and our own reading would wake us forever.
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => {}
            Ok(event) if event.need_rescan() || event.paths.is_empty() => tell(Woken::Somewhere),
            Ok(event) => tell(Woken::Paths(event.paths)),
            Err(_) => tell(Woken::Somewhere),
        };
        let watcher = notify::recommended_watcher(handler).map_err(|error| refused(&error, None))?;
        let mut wake = Wake { watcher };
        for folder in folders {
            wake.watcher
                .watch(folder, RecursiveMode::Recursive)
                .map_err(|error| refused(&error, Some(folder)))?;
        }
        Ok(wake)
    }
}

fn refused(error: &notify::Error, folder: Option<&Path>) -> Error {
    let place = folder.map(|folder| format!(" `{}`", folder.display())).unwrap_or_default();
    let message = format!("Failed to watch{place}: {error}");
    Error::new(ErrorKind::Io, message, "polling once a second works everywhere")
}
