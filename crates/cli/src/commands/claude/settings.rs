//! The hooks in the arguments of `claude`.

use std::ffi::OsString;
use std::path::Path;

use serde_json::{Map, Value};

const SETTINGS: &str = "--settings";

/// Adds hooks to the arguments, as `--settings`. Settings that the user gives are kept: the hooks are added
/// to them. Returns none if they cannot be read; Claude Code reports that itself.
pub(super) fn with_hooks(args: &[OsString], hooks: Map<String, Value>) -> Option<Vec<OsString>> {
    let mut own = Map::from_iter([("hooks".to_owned(), Value::Object(hooks))]);
    let mut rest: Vec<OsString> = Vec::new();
    let mut given = None;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        // The arguments after it are no flags.
        if arg == "--" {
            rest.push(arg.clone());
            rest.extend(args.cloned());
            break;
        }
        let inline = arg.to_str().and_then(|arg| arg.strip_prefix("--settings=")).map(str::to_owned);
        match inline {
            Some(value) => given = Some(value),
            None if arg == SETTINGS => given = Some(args.next()?.to_str()?.to_owned()),
            None => rest.push(arg.clone()),
        }
    }
    if let Some(given) = given {
        own = merge(read(&given)?, own);
    }
    let text = serde_json::to_string(&own).ok()?;
    Some([OsString::from(SETTINGS), OsString::from(text)].into_iter().chain(rest).collect())
}

/// The settings that an argument names: JSON, or a file with JSON.
fn read(given: &str) -> Option<Map<String, Value>> {
    let text = if given.trim_start().starts_with('{') {
        given.to_owned()
    } else {
        fs_err::read_to_string(Path::new(given)).ok()?
    };
    match serde_json::from_str(&text).ok()? {
        Value::Object(settings) => Some(settings),
        _ => None,
    }
}

/// The first settings, with the hooks of the second added for each event.
fn merge(mut settings: Map<String, Value>, own: Map<String, Value>) -> Map<String, Value> {
    for (event, groups) in own.into_iter().filter_map(|(_, hooks)| hooks.as_object().cloned()).flatten() {
        let hooks = settings.entry("hooks").or_insert_with(|| Value::Object(Map::new()));
        let Some(hooks) = hooks.as_object_mut() else { continue };
        let list = hooks.entry(event).or_insert_with(|| Value::Array(Vec::new()));
        if let (Some(list), Value::Array(groups)) = (list.as_array_mut(), groups) {
            list.extend(groups);
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn merged(args: &[&str]) -> Option<(Value, Vec<String>)> {
        let Value::Object(hooks) = json!({"Stop": [{"hooks": ["ours"]}]}) else { return None };
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        let args = with_hooks(&args, hooks)?;
        let text = |arg: &OsString| arg.to_str().unwrap_or_default().to_owned();
        assert_eq!(args[0], "--settings");
        Some((serde_json::from_str(&text(&args[1])).ok()?, args[2..].iter().map(text).collect()))
    }

    #[test]
    fn hooks_are_added_to_the_settings_of_the_user() {
        let ours = json!({"hooks": {"Stop": [{"hooks": ["ours"]}]}});
        assert_eq!(
            merged(&["--model", "x"]).unwrap(),
            (ours.clone(), vec!["--model".to_owned(), "x".to_owned()])
        );
        let theirs = r#"{"model":"y","hooks":{"Stop":[{"hooks":["theirs"]}]}}"#;
        let both = json!({"model":"y","hooks":{"Stop":[{"hooks":["theirs"]},{"hooks":["ours"]}]}});
        assert_eq!(merged(&["--settings", theirs, "-c"]).unwrap(), (both.clone(), vec!["-c".to_owned()]));
        assert_eq!(merged(&[&format!("--settings={theirs}")]).unwrap(), (both.clone(), vec![]));
        let file = tempfile::NamedTempFile::new().unwrap();
        fs_err::write(file.path(), theirs).unwrap();
        assert_eq!(merged(&["--settings", file.path().to_str().unwrap()]).unwrap().0, both);
        let prompt = vec!["--".to_owned(), "--settings".to_owned(), "{}".to_owned()];
        assert_eq!(merged(&["--", "--settings", "{}"]).unwrap(), (ours, prompt));
    }

    #[test]
    fn settings_that_cannot_be_read_are_left_to_claude() {
        for value in ["{", "no-such-file.json", "[]"] {
            assert!(merged(&["--settings", value]).is_none(), "{value}");
        }
        assert!(merged(&["--settings"]).is_none());
    }
}
