//! Paths among the settings.

use std::ffi::OsString;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use tidings_commands::settings_file;

/// A path among the settings. In the file it may begin with `~/`, since no shell reads the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SettingPath(PathBuf);

impl Deref for SettingPath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl From<OsString> for SettingPath {
    fn from(text: OsString) -> Self {
        SettingPath(text.into())
    }
}

impl From<PathBuf> for SettingPath {
    fn from(path: PathBuf) -> Self {
        SettingPath(path)
    }
}

impl From<SettingPath> for PathBuf {
    fn from(path: SettingPath) -> Self {
        path.0
    }
}

impl<'de> Deserialize<'de> for SettingPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let path = PathBuf::deserialize(deserializer)?;
        expanded(path, settings_file::home().as_deref()).map(SettingPath).map_err(D::Error::custom)
    }
}

/// Replaces `~` by the home folder.
fn expanded(path: PathBuf, home: Option<&Path>) -> Result<PathBuf, &'static str> {
    match path.strip_prefix("~") {
        Ok(rest) => Ok(home.ok_or("there is no home folder for `~`")?.join(rest)),
        Err(_) => Ok(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tilde_stands_for_the_home_folder() {
        let home = Path::new("/home/ada");
        for (path, expected) in
            [("~/a", "/home/ada/a"), ("~", "/home/ada/"), ("/e", "/e"), ("~f/g", "~f/g"), ("/c~/~", "/c~/~")]
        {
            assert_eq!(expanded(path.into(), Some(home)).unwrap(), Path::new(expected), "{path}");
        }
        assert!(expanded("~/a".into(), None).unwrap_err().contains("no home folder"));
        assert_eq!(expanded("/a".into(), None).unwrap(), Path::new("/a"));
    }

    #[test]
    fn only_the_file_expands_a_tilde() {
        let home = settings_file::home().unwrap();
        let read: Vec<SettingPath> =
            toml::from_str::<toml::Table>("paths = [\"~/a\", \"/b\"]").unwrap()["paths"]
                .clone()
                .try_into()
                .unwrap();
        assert_eq!(read, [home.join("a"), "/b".into()].map(SettingPath));
        assert_eq!(&*SettingPath::from(OsString::from("~/a")), Path::new("~/a"));
    }
}
