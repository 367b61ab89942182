//! A rule that somebody has just agreed to is written into the folder's own settings by the agent. That change alone must
//! not cost the folder its trust.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Trust, inspect, whole};
use crate::error::Error;

/// A trusted folder before a rule is added to it.
#[derive(Debug, Clone)]
pub(crate) struct Before {
    folder: PathBuf,
    digest: String,
    rest: String,
    local: BTreeMap<PathBuf, Value>,
}

/// What became of the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// Nothing has changed yet.
    Same,
    /// A rule was added and nothing else, and the folder stays trusted.
    Agreed,
    /// Something else has changed, and somebody has to look at it.
    Doubtful,
}

impl Trust {
    /// The folder as it is; none if it is not trusted, since then nothing of it is used. It waits for the disk.
    pub(crate) fn before_rule(&self, folder: &Path) -> Result<Option<Before>, Error> {
        let folder = whole(folder)?;
        let (found, trusted) = self.look(&folder)?;
        let before = Before { folder, digest: found.digest, rest: found.rest, local: found.local };
        Ok(trusted.then_some(before))
    }

    /// Agrees to what is there now, if it differs by more rules that allow something and by nothing else. It waits for
    /// the disk.
    pub(crate) fn after_rule(&self, before: &Before) -> Result<After, Error> {
        let now = inspect(&before.folder);
        if now.digest == before.digest {
            return Ok(After::Same);
        }
        let is_all = now.rest == before.rest
            && now.local.iter().all(|(path, settings)| only_allows_more(before.local.get(path), settings))
            && before.local.keys().all(|path| now.local.contains_key(path));
        if !is_all {
            return Ok(After::Doubtful);
        }
        self.agree(&before.folder, &now.digest)?;
        Ok(After::Agreed)
    }
}

/// Whether one file of settings is another with more in `permissions.allow`.
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

/// The settings without the rules that allow something, and without what is empty for the lack of them.
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
