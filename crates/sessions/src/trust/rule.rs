//! Trust after a permission rule is added: the agent writes a rule that the user has just approved into the
//! folder's local settings. That change alone must not end the trust in the folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Trust, canonical_folder, inspect};
use crate::Error;

/// The state of a trusted folder before a rule is added to it.
#[derive(Debug, Clone)]
pub(crate) struct TrustBaseline {
    folder: PathBuf,
    digest: String,
    rest: String,
    local: BTreeMap<PathBuf, Value>,
}

/// The change of a folder after a rule was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrustChange {
    /// Nothing has changed yet.
    Same,
    /// Only rules were added, and the folder stays trusted.
    Agreed,
    /// Something else has changed, and the user has to inspect it.
    Doubtful,
}

impl Trust {
    /// The current state of a folder; `None` if it is not trusted, since then its settings are not used.
    /// Blocks on disk I/O.
    pub(crate) fn before_rule(&self, folder: &Path) -> Result<Option<TrustBaseline>, Error> {
        let folder = canonical_folder(folder)?;
        let (found, trusted) = self.look(&folder)?;
        let before = TrustBaseline { folder, digest: found.digest, rest: found.rest, local: found.local };
        Ok(trusted.then_some(before))
    }

    /// Trusts the current state if it differs from `before` only by added `allow` rules. Blocks on disk I/O.
    pub(crate) fn after_rule(&self, before: &TrustBaseline) -> Result<TrustChange, Error> {
        let now = inspect(&before.folder);
        if now.digest == before.digest {
            return Ok(TrustChange::Same);
        }
        let is_all = now.rest == before.rest
            && now.local.iter().all(|(path, settings)| only_allows_more(before.local.get(path), settings))
            && before.local.keys().all(|path| now.local.contains_key(path));
        if !is_all {
            return Ok(TrustChange::Doubtful);
        }
        self.agree(&before.folder, &now.digest)?;
        Ok(TrustChange::Agreed)
    }
}

/// True if the settings differ only by additional entries in `permissions.allow`.
fn only_allows_more(before: Option<&Value>, now: &Value) -> bool {
    let nothing = Value::Object(serde_json::Map::new());
    let before = before.unwrap_or(&nothing);
    let allowed = |settings: &Value| match settings.pointer("/permissions/allow") {
        Some(Value::Array(rules)) => Some(rules.clone()),
        None => Some(Vec::new()),
        Some(_) => None,
    };
    let (Some(old), Some(new)) = (allowed(before), allowed(now)) else { return false };
    old.iter().all(|rule| new.contains(rule)) && without_allowed(before) == without_allowed(now)
}

/// The settings without `permissions.allow`, and without `permissions` if that is empty then.
fn without_allowed(settings: &Value) -> Value {
    let mut settings = settings.clone();
    if let Some(all) = settings.as_object_mut()
        && let Some(Value::Object(permissions)) = all.get_mut("permissions")
    {
        permissions.remove("allow");
        if permissions.is_empty() {
            all.remove("permissions");
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn t10_only_a_rule_that_allows_more_is_followed() {
        let table = [
            (json!({}), json!({"permissions":{"allow":["Bash(ls)"]}}), true),
            (json!({"model":"a"}), json!({"model":"a","permissions":{"allow":["Bash(ls)"]}}), true),
            (
                json!({"permissions":{"allow":["Read"],"deny":["Write"]}}),
                json!({"permissions":{"allow":["Read","Bash(ls)"],"deny":["Write"]}}),
                true,
            ),
            (json!({}), json!({"permissions":{"allow":["Bash(ls)"]},"hooks":{"Stop":[]}}), false),
            (json!({"model":"a"}), json!({"model":"b","permissions":{"allow":["Bash(ls)"]}}), false),
            (json!({"permissions":{"deny":["Write"]}}), json!({"permissions":{"allow":["Bash(ls)"]}}), false),
            (json!({"permissions":{"allow":["Read"]}}), json!({"permissions":{"allow":["Bash(ls)"]}}), false),
            (json!({}), json!({"permissions":{"allow":"Bash(ls)"}}), false),
            (json!({}), json!({"permissions":{"defaultMode":"bypassPermissions"}}), false),
            (json!({}), json!("half of a file"), false),
        ];
        for (before, now, expected) in table {
            assert_eq!(only_allows_more(Some(&before), &now), expected, "{before} {now}");
        }
        assert!(only_allows_more(None, &json!({"permissions":{"allow":["Bash(ls)"]}})), "a new file");
    }
}
