//! Checks of folders in requests.

use std::path::{Path, PathBuf};

use tidings_api::Code;
use tidings_journal::limits::TEXT_BYTES_MAX;

use crate::Error;

/// Resolves all links in the path of a folder, and refuses it if it is not inside one of the roots.
///
/// Without roots every folder is allowed. Use the returned path: the given one may lead elsewhere later.
pub fn inside(roots: &[PathBuf], path: &Path) -> Result<PathBuf, Error> {
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.contains(&0) || bytes.len() > TEXT_BYTES_MAX || !path.is_absolute() {
        return Err(Error::new(Code::Invalid, "Not an absolute path of a folder", "send the absolute path"));
    }
    let found = path.canonicalize().ok().filter(|found| found.is_dir());
    // Outside of the roots, the error must not reveal whether the folder exists.
    let within = |found: &PathBuf| roots.is_empty() || roots.iter().any(|root| contains(root, found));
    match found {
        Some(found) if within(&found) => Ok(found),
        None if roots.is_empty() || roots.iter().any(|root| path.starts_with(root)) => {
            let message = format!("The folder `{}` does not exist", path.display());
            Err(Error::new(Code::Invalid, message, "send the absolute path of an existing folder"))
        }
        _ => {
            let message = format!("The folder `{}` is not allowed on this server", path.display());
            Err(Error::new(
                Code::OutsideRoots,
                message,
                "start it with --allow-folder, or choose another folder",
            ))
        }
    }
}

/// Refuses the folder of a session if it has changed since the session was created: missing, outside of the
/// roots, or a link to another folder. Call it each time before something runs there or its files are shown.
pub fn unchanged(roots: &[PathBuf], folder: &Path) -> Result<(), Error> {
    if inside(roots, folder)? == folder {
        return Ok(());
    }
    let message = format!("`{}` now leads to another folder", folder.display());
    Err(Error::new(Code::OutsideRoots, message, "put the folder back, or start a session in the other one"))
}

fn contains(root: &Path, found: &Path) -> bool {
    root.canonicalize().is_ok_and(|root| found.starts_with(root))
}
