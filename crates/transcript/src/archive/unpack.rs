//! Unpacking a conversation into an empty folder, to read it there.

use std::path::Path;

use jiff::Timestamp;

use super::copy::{self, Durability, Sum};
use super::{Archive, Manifest};
use crate::Error;
use crate::error::At as _;
use crate::roots::{Roots, SessionFiles};

impl Archive {
    /// Unpacks the conversation of a session into an empty folder, to read it there: its own file and those
    /// of its sub-agents and tools, with their times. [`Archive::restore`] returns a session to where it was.
    pub fn unpack(&self, manifest: &Manifest, to: &Path) -> Result<SessionFiles, Error> {
        for file in manifest.files.iter().filter(|file| file.path.starts_with("projects")) {
            let target = to.join(&file.path);
            let expected = Sum { bytes: file.bytes, sha256: file.sha256.clone() };
            copy::unpack(&self.stored_path(&file.path), &target, &expected, Durability::Scratch)?;
            if let Ok(modified) = file.seen_modified.parse::<Timestamp>() {
                let unpacked = std::fs::File::options().write(true).open(&target);
                unpacked.and_then(|file| file.set_modified(modified.into())).at("write", &target)?;
            }
        }
        Roots::new([to]).find(&manifest.session)
    }
}
