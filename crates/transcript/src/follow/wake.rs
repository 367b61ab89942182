//! Told by the system that files changed.

use std::path::{Path, PathBuf};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::{Error, ErrorKind};

/// What the system said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Woken {
    /// These files or folders changed.
    Paths(Vec<PathBuf>),
    /// Some did, and nobody knows which.
    Somewhere,
}

/// Watches folders for as long as it lives.
#[derive(Debug)]
pub struct Wake {
    watcher: RecommendedWatcher,
}

impl Wake {
    /// Calls `tell` from a thread of its own whenever something below one of the folders changes.
    ///
    /// Fails where the system has no such service or no room for another watch; a clock must do then.
    pub fn new(folders: &[PathBuf], tell: impl Fn(Woken) + Send + 'static) -> Result<Self, Error> {
        let handler = move |event: notify::Result<Event>| match event {
            // Reading is no change, and our own reading would wake us for ever.
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
    Error::new(ErrorKind::Io, message, "looking once a second works everywhere")
}
