//! The login and the settings of a user, for a session that is resumed in a configuration folder of its own.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::files::write_private;

/// Settings that would have effects there: plugins would be fetched again into the empty folder.
const NOT_COPIED: [&str; 2] = ["enabledPlugins", "extraKnownMarketplaces"];

/// Copies what is there.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    copy_file(&from.join(".credentials.json"), &to.join(".credentials.json"), without_refresh)?;
    for name in ["settings.json", "cowork_settings.json"] {
        copy_file(&from.join(name), &to.join(name), without_folders)?;
    }
    copy_file(&state_file(from), &to.join(".claude.json"), |state| state)
}

/// The state file of the CLI: in the configuration folder, or beside it if that is the default one.
fn state_file(config: &Path) -> PathBuf {
    let inside = config.join(".claude.json");
    let beside = config.with_file_name(".claude.json");
    if !inside.exists() && config.ends_with(".claude") { beside } else { inside }
}

fn copy_file(from: &Path, to: &Path, change: impl FnOnce(Value) -> Value) -> io::Result<()> {
    // Anything but a file, such as a pipe, is not read.
    if !from.is_file() {
        return Ok(());
    }
    let bytes = std::fs::read(from)?;
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let changed = match serde_json::from_slice::<Value>(text) {
        Ok(value) => change(value).to_string().into_bytes(),
        // The CLI sees what it would have seen.
        Err(_) => bytes,
    };
    write_private(to, &changed)
}

/// A refresh token can be used once, and the new one would be lost with the folder.
fn without_refresh(mut credentials: Value) -> Value {
    if let Some(login) = credentials.get_mut("claudeAiOauth").and_then(Value::as_object_mut) {
        login.remove("refreshToken");
    }
    credentials
}

fn without_folders(mut settings: Value) -> Value {
    if let Some(settings) = settings.as_object_mut() {
        for key in NOT_COPIED {
            settings.remove(key);
        }
        if let Some(env) = settings.get_mut("env").and_then(Value::as_object_mut) {
            env.remove("CLAUDE_CONFIG_DIR");
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_login_is_copied_without_the_means_to_refresh_it() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let write = |name: &str, text: String| std::fs::write(from.path().join(name), text).unwrap();
        let oauth = json!({"claudeAiOauth": {"accessToken": "a", "refreshToken": "r"}});
        write(".credentials.json", oauth.to_string());
        write(".claude.json", json!({"userID": "u"}).to_string());
        let settings = json!({
            "apiKeyHelper": "h", "enabledPlugins": {"p": true}, "env": {"CLAUDE_CONFIG_DIR": "/x", "A": "1"},
        });
        write("settings.json", format!("\u{feff}{settings}"));
        write("cowork_settings.json", "not JSON".to_owned());
        copy(from.path(), to.path()).unwrap();
        let read = |name: &str| std::fs::read_to_string(to.path().join(name)).unwrap();
        let parsed = |name: &str| serde_json::from_str::<Value>(&read(name)).unwrap();
        assert_eq!(parsed(".credentials.json"), json!({"claudeAiOauth": {"accessToken": "a"}}));
        assert_eq!(parsed(".claude.json"), json!({"userID": "u"}));
        assert_eq!(parsed("settings.json"), json!({"apiKeyHelper": "h", "env": {"A": "1"}}));
        assert_eq!(read("cowork_settings.json"), "not JSON");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(to.path().join(".credentials.json")).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}
