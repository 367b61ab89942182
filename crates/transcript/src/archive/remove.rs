//! Removal of the copies of a session.

use std::path::Path;

use super::{Archive, Manifest, with_zst};
use crate::Error;
use crate::error::At as _;

impl Archive {
    /// Removes the copies of a session, earlier ones included. Its originals stay.
    pub fn remove(&self, manifest: &Manifest) -> Result<(), Error> {
        let _lock = self.lock()?;
        for file in &manifest.files {
            remove_file(&self.stored_path(&file.path))?;
            let mut number = 1_u64;
            loop {
                let earlier = self.folder.join("earlier").join(number.to_string());
                if !earlier.is_dir() {
                    break;
                }
                remove_file(&earlier.join(with_zst(&file.path)))?;
                number += 1;
            }
        }
        // Last, so that a session that is partly removed is still listed.
        remove_file(&self.manifest_path(&manifest.project, &manifest.session))
    }
}

fn remove_file(path: &Path) -> Result<(), Error> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).at("delete", path),
        _ => Ok(()),
    }
}
