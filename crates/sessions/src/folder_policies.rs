//! Policies and other defaults of sessions, per folder. Sessions that people start themselves have the policy
//! of their folder, and the form for a new session begins with all of them.
//!
//! They are stored in the data folder of the server: a file inside of a project could be written by the agent
//! that it is about.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use tidings::permissions::PermissionMode;
use tidings_api::{Code, FolderDefaults, FolderPolicy, Policy};

use super::capabilities::unknown_policy;
use super::{paths, private};
use crate::Error;
use crate::limits::{FOLDER_POLICIES_MAX, MODEL_NAME_BYTES_MAX};

/// The policies. Handles are cheap to clone.
#[derive(Debug, Clone)]
pub struct FolderPolicies(Arc<PoliciesState>);

#[derive(Debug)]
struct PoliciesState {
    path: PathBuf,
    stored: Mutex<StoredPolicies>,
}

/// The content of the file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct StoredPolicies {
    version: u32,
    folders: BTreeMap<PathBuf, Policy>,
    #[serde(default)]
    models: BTreeMap<PathBuf, String>,
    #[serde(default)]
    modes: BTreeMap<PathBuf, String>,
}

impl FolderPolicies {
    /// Reads the file of policies.
    pub fn open(path: PathBuf) -> Result<Self, Error> {
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
        Ok(FolderPolicies(Arc::new(PoliciesState { path, stored: Mutex::new(stored) })))
    }

    /// The policy for a session that a person starts in a folder: that of the nearest folder above it that
    /// has one, or `ask`.
    pub fn of(&self, folder: &Path) -> Policy {
        let stored = self.lock();
        folder.ancestors().find_map(|folder| stored.folders.get(folder)).copied().unwrap_or(Policy::Ask)
    }

    /// All policies, by folder.
    pub fn list(&self) -> Vec<FolderPolicy> {
        let item = |(folder, policy): (&PathBuf, &Policy)| FolderPolicy {
            folder: folder.display().to_string(),
            policy: *policy,
        };
        self.lock().folders.iter().map(item).collect()
    }

    /// All defaults, by folder.
    pub fn defaults(&self) -> Vec<FolderDefaults> {
        let stored = self.lock();
        let folders: BTreeSet<&PathBuf> =
            stored.folders.keys().chain(stored.models.keys()).chain(stored.modes.keys()).collect();
        folders.into_iter().map(|folder| stored.defaults_of(folder)).collect()
    }

    /// Sets the policy of a folder, or removes it. Returns the folder with its links resolved, and the policy
    /// that applies there now. Blocks on disk I/O.
    pub fn set(&self, folder: &Path, policy: Option<Policy>) -> Result<FolderPolicy, Error> {
        if policy == Some(Policy::Unknown) {
            return Err(unknown_policy());
        }
        let folder = if policy.is_some() { resolved(folder)? } else { resolved_if_there(folder) };
        self.change(|stored| put(&mut stored.folders, &folder, policy))?;
        Ok(FolderPolicy { policy: self.of(&folder), folder: folder.display().to_string() })
    }

    /// Sets all defaults of a folder; absent ones are removed. Returns them, with the links of the folder
    /// resolved. Blocks on disk I/O.
    pub fn set_defaults(&self, wanted: FolderDefaults) -> Result<FolderDefaults, Error> {
        let FolderDefaults { folder, model, permission_mode, policy } = wanted;
        let is_removal = model.is_none() && permission_mode.is_none() && policy.is_none();
        if policy == Some(Policy::Unknown) {
            return Err(unknown_policy());
        }
        if let Some(mode) = permission_mode.as_deref().filter(|mode| !PermissionMode::KNOWN.contains(mode)) {
            let hint = "use a mode of the CLI, such as default, acceptEdits or plan";
            return Err(Error::new(Code::Invalid, format!("Unknown permission mode `{mode}`"), hint));
        }
        if model.as_ref().is_some_and(|model| model.is_empty() || model.len() > MODEL_NAME_BYTES_MAX) {
            return Err(Error::new(Code::Invalid, "The name of the model is empty or too long", ""));
        }
        let folder = Path::new(&folder);
        let folder = if is_removal { resolved_if_there(folder) } else { resolved(folder)? };
        self.change(|stored| {
            put(&mut stored.folders, &folder, policy);
            put(&mut stored.models, &folder, model);
            put(&mut stored.modes, &folder, permission_mode);
        })?;
        Ok(self.lock().defaults_of(&folder))
    }

    fn change(&self, change: impl FnOnce(&mut StoredPolicies)) -> Result<(), Error> {
        let mut stored = self.lock();
        let mut changed = stored.clone();
        change(&mut changed);
        let sizes = [changed.folders.len(), changed.models.len(), changed.modes.len()];
        if sizes.into_iter().any(|size| size > FOLDER_POLICIES_MAX) {
            let hint = "remove some of them";
            return Err(Error::new(Code::TooMany, "Too many folders have a policy or defaults", hint));
        }
        let text = serde_json::to_vec_pretty(&changed)
            .map_err(|error| Error::new(Code::Internal, error.to_string(), ""))?;
        private::replace(&self.0.path, &text)?;
        *stored = changed;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, StoredPolicies> {
        self.0.stored.lock()
    }
}

impl StoredPolicies {
    fn defaults_of(&self, folder: &Path) -> FolderDefaults {
        FolderDefaults {
            folder: folder.display().to_string(),
            model: self.models.get(folder).cloned(),
            permission_mode: self.modes.get(folder).cloned(),
            policy: self.folders.get(folder).copied(),
        }
    }
}

/// The folder with its links resolved.
fn resolved(folder: &Path) -> Result<PathBuf, Error> {
    paths::inside(&[], folder)
}

/// The same, or the folder as it was named: one that is gone can still be removed.
fn resolved_if_there(folder: &Path) -> PathBuf {
    resolved(folder).unwrap_or_else(|_| folder.to_owned())
}

fn put<T>(map: &mut BTreeMap<PathBuf, T>, folder: &Path, value: Option<T>) {
    match value {
        Some(value) => drop(map.insert(folder.to_owned(), value)),
        None => drop(map.remove(folder)),
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
        let open = || FolderPolicies::open(root.join("policies.json")).unwrap();
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
    #[test]
    fn defaults_share_the_policy_and_are_removed_one_by_one() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let folder = root.display().to_string();
        let open = || FolderPolicies::open(root.join("policies.json")).unwrap();
        let policies = open();
        policies.set(&root, Some(Policy::Standard)).unwrap();
        let wanted = FolderDefaults {
            folder: folder.clone(),
            model: Some("haiku".to_owned()),
            permission_mode: Some("plan".to_owned()),
            policy: Some(Policy::Unattended),
        };
        assert_eq!(policies.set_defaults(wanted.clone()).unwrap(), wanted);
        assert_eq!(open().of(&root), Policy::Unattended, "sessions that people start have it, too");
        assert_eq!(open().defaults(), std::slice::from_ref(&wanted));
        let only_model = FolderDefaults { permission_mode: None, policy: None, ..wanted.clone() };
        policies.set_defaults(only_model.clone()).unwrap();
        assert_eq!((open().of(&root), open().defaults()), (Policy::Ask, vec![only_model]));
        let wrong = FolderDefaults { permission_mode: Some("yolo".to_owned()), ..wanted };
        assert_eq!(policies.set_defaults(wrong).unwrap_err().code(), Code::Invalid);
        policies.set_defaults(FolderDefaults { folder, ..FolderDefaults::default() }).unwrap();
        assert_eq!(open().defaults(), []);
    }
}
