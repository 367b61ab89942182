//! The file of settings, in TOML: `tidings serve` reads all of it, other commands what concerns them.

use std::env;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::error::CannotRun;

/// Default path of the file.
pub fn default_path() -> Option<PathBuf> {
    let xdg = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    Some(xdg.or_else(|| home().map(|home| home.join(".config")))?.join("tidings/serve.toml"))
}

/// Reads a file; errors name the line and the key.
pub fn read<T: DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let text = fs_err::read_to_string(path)?;
    Ok(toml::from_str(&text).map_err(|error| {
        let location = error.span().map(|span| location(&text, span.start)).unwrap_or_default();
        refused(path, &format!("{location}{}", error.message()))
    })?)
}

/// The error of a file that cannot be used.
pub fn refused(path: &Path, reason: &str) -> CannotRun {
    CannotRun {
        code: CannotRun::USAGE,
        message: format!("Failed to read `{}`: {reason}", path.display()),
        hint: HINT,
    }
}

const HINT: &str = "a setting is named like its flag with _ for -; `tidings serve --help` lists the flags";

/// Line number and key of an error, without the value, which may be a secret.
fn location(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let number = before.matches('\n').count() + 1;
    let key = text.lines().nth(number - 1).and_then(|line| Some(line.split_once('=')?.0.trim()));
    key.map_or_else(|| format!("line {number}: "), |key| format!("line {number}, `{key}`: "))
}

/// The home folder of the user.
pub fn home() -> Option<PathBuf> {
    env::home_dir().filter(|home| home.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_key_without_its_value() {
        let text = "# first\nsecret = \"s3cret\"\n";
        assert_eq!(location(text, text.find("\"s3").unwrap()), "line 2, `secret`: ");
        assert_eq!(location("[[notify]\n", 9), "line 1: ");
    }
}
