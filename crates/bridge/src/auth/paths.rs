//! Folders that clients name.

use std::path::{Path, PathBuf};

use crate::error::{Code, Error};
use crate::limits::TEXT_BYTES_MAX;

/// The folder that a client means, with every link in it resolved; refused if it is not inside one of the roots.
///
/// Without roots every folder will do. What is given back is what has to be used: the path that was given may lead
/// elsewhere by then.
pub fn inside(roots: &[PathBuf], path: &Path) -> Result<PathBuf, Error> {
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.contains(&0) || bytes.len() > TEXT_BYTES_MAX || !path.is_absolute() {
        return Err(Error::new(
            Code::Invalid,
            "It is no path of a folder",
            "give the whole path, from the root",
        ));
    }
    let found = path.canonicalize().ok().filter(|found| found.is_dir());
    // Whoever may not work there does not learn what there is, either.
    let within = |found: &PathBuf| roots.is_empty() || roots.iter().any(|root| contains(root, found));
    match found {
        Some(found) if within(&found) => Ok(found),
        None if roots.is_empty() || roots.iter().any(|root| path.starts_with(root)) => {
            let message = format!("There is no folder `{}`", path.display());
            Err(Error::new(Code::Invalid, message, "name a folder that exists by its whole path"))
        }
        _ => {
            let message = format!("The server does not work in `{}`", path.display());
            Err(Error::new(
                Code::OutsideRoots,
                message,
                "start it with --allow-folder, or choose another folder",
            ))
        }
    }
}

/// Refuses the folder of a session if it is not what it was when the session was made: gone, outside of the roots, or a
/// link to another folder. Call it each time before something runs there or its files are shown.
pub fn unchanged(roots: &[PathBuf], folder: &Path) -> Result<(), Error> {
    if inside(roots, folder)? == folder {
        return Ok(());
    }
    let message = format!("`{}` leads to another folder than before", folder.display());
    Err(Error::new(Code::OutsideRoots, message, "put the folder back, or start a session in the other one"))
}

fn contains(root: &Path, found: &Path) -> bool {
    root.canonicalize().is_ok_and(|root| found.starts_with(root))
}
