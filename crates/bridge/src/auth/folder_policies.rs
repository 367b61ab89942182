//! Policies for the sessions that people start themselves, per folder.
//!
//! They are stored in the data folder of the server: a file inside of a project could be written by the agent
//! that it is about.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use tidings_protocol::api::{FolderPolicy, Policy};

use super::{paths, private};
use crate::auth::secret::Random;
use crate::error::{Code, Error};
use crate::limits::FOLDER_POLICIES_MAX;

/// The policies. Handles are cheap to clone.
#[derive(Debug, Clone)]
pub struct FolderPolicies(Arc<PoliciesState>);

#[derive(Debug)]
struct PoliciesState {
    path: PathBuf,
    random: Random,
    stored: Mutex<StoredPolicies>,
}

/// The content of the file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct StoredPolicies {
    version: u32,
    folders: BTreeMap<PathBuf, Policy>,
}

impl FolderPolicies {
    pub(super) fn open(path: PathBuf, random: Random) -> Result<Self, Error> {
        let stored = match private::read(&path)? {
            None => StoredPolicies { version: 1, ..StoredPolicies::default() },
            Some(text) => serde_json::from_str(&text)
                .ok()
                .filter(|stored: &StoredPolicies| stored.version == 1)
                .ok_or_else(|| {
                    let message = format!("Failed to read the policies of folders in `{}`", path.display());
                    Error::new(Code::Internal, message, "move the file away and set the policies again")
                })?,
        };
        Ok(FolderPolicies(Arc::new(PoliciesState { path, random, stored: Mutex::new(stored) })))
    }

    /// The policy for a session that a person starts in a folder: that of the nearest folder above it that
    /// has one, or `ask`.
    pub fn of(&self, folder: &Path) -> Policy {
        let stored = self.lock();
        folder.ancestors().find_map(|folder| stored.folders.get(folder)).copied().unwrap_or(Policy::Ask)
    }

    /// All policies, by folder.
    pub(super) fn list(&self) -> Vec<FolderPolicy> {
        let item = |(folder, policy): (&PathBuf, &Policy)| FolderPolicy {
            folder: folder.display().to_string(),
            policy: *policy,
        };
        self.lock().folders.iter().map(item).collect()
    }

    /// Sets the policy of a folder, or removes it. Returns the folder with its links resolved, and the policy
    /// that applies there now. Blocks on disk I/O.
    pub(super) fn set(&self, folder: &Path, policy: Option<Policy>) -> Result<FolderPolicy, Error> {
        let folder = match paths::inside(&[], folder) {
            Ok(real) => real,
            // A folder that is gone can still be removed.
            Err(_) if policy.is_none() => folder.to_owned(),
            Err(error) => return Err(error),
        };
        let mut stored = self.lock();
        let mut changed = stored.clone();
        match policy {
            Some(policy) => drop(changed.folders.insert(folder.clone(), policy)),
            None => drop(changed.folders.remove(&folder)),
        }
        if changed.folders.len() > FOLDER_POLICIES_MAX {
            let hint = "remove some of them";
            return Err(Error::new(Code::TooMany, "Too many folders have a policy", hint));
        }
        let text = serde_json::to_vec_pretty(&changed)
            .map_err(|error| Error::new(Code::Internal, error.to_string(), ""))?;
        private::replace(&self.0.path, &text, &self.0.random)?;
        *stored = changed;
        drop(stored);
        Ok(FolderPolicy { policy: self.of(&folder), folder: folder.display().to_string() })
    }

    fn lock(&self) -> MutexGuard<'_, StoredPolicies> {
        self.0.stored.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_folder_decides_and_others_ask() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let (project, inner) = (root.join("project"), root.join("project/inner"));
        fs_err::create_dir_all(&inner).unwrap();
        let open = || FolderPolicies::open(root.join("policies.json"), Random::system()).unwrap();
        let policies = open();
        assert_eq!(policies.of(&project), Policy::Ask);
        policies.set(&project, Some(Policy::Standard)).unwrap();
        policies.set(&inner, Some(Policy::Deny)).unwrap();
        for policies in [policies, open()] {
            assert_eq!(policies.of(&project), Policy::Standard);
            assert_eq!(policies.of(&project.join("other")), Policy::Standard);
            assert_eq!(policies.of(&inner.join("deeper")), Policy::Deny);
            assert_eq!(policies.of(&root.join("project-2")), Policy::Ask);
        }
        let policies = open();
        fs_err::remove_dir(&inner).unwrap();
        assert_eq!(policies.set(&inner, None).unwrap().policy, Policy::Standard, "that of the folder above");
        assert!(policies.set(&inner, Some(Policy::Deny)).is_err(), "the folder does not exist");
        assert!(policies.set(Path::new("relative"), Some(Policy::Deny)).is_err());
        assert_eq!(policies.list().len(), 1);
    }
}
