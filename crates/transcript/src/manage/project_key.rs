//! Maps a working folder to the folder of its sessions; the mapping cannot be reversed.

use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization as _;

/// Longer names are cut, and a hash is appended.
const KEY_CHARS_MAX: usize = 200;

/// The real path of a folder, from which keys are made: links resolved, characters composed. A part that does
/// not exist stays as it is.
pub(super) fn canonical(folder: &Path) -> String {
    let mut missing = Vec::new();
    let mut there = folder;
    let real = loop {
        match std::fs::canonicalize(there) {
            Ok(real) => break real,
            Err(_) => match (there.parent(), there.file_name()) {
                (Some(parent), Some(name)) => {
                    missing.push(name);
                    there = parent;
                }
                _ => break there.to_owned(),
            },
        }
    };
    let path: PathBuf = missing.iter().rev().fold(real, |path, name| path.join(name));
    path.to_string_lossy().nfc().collect()
}

/// The name under which the CLI stores the sessions of a folder.
pub fn project_key(folder: &Path) -> String {
    let path = canonical(folder);
    let key = ProjectKeys::of(&path).0.swap_remove(0);
    match key.get(..KEY_CHARS_MAX) {
        Some(cut) if key.len() > KEY_CHARS_MAX => format!("{cut}-{}", hash(&path)),
        _ => key,
    }
}

/// The hash after a name that was cut: that of strings in JavaScript, in base 36.
fn hash(path: &str) -> String {
    let add = |hash: i32, unit: u16| hash.wrapping_mul(31).wrapping_add(i32::from(unit));
    let mut left = path.encode_utf16().fold(0, add).unsigned_abs();
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(left % 36, 36));
        left /= 36;
        if left == 0 {
            return digits.iter().rev().collect();
        }
    }
}

/// The names under which the sessions of a folder may be stored, the CLI's own first.
///
/// The CLI replaces UTF-16 units and the Python SDK code points, so a path with an emoji has two names. The
/// hashes after cut names differ as well, so any hash counts as a match.
pub(super) struct ProjectKeys(Vec<String>);

impl ProjectKeys {
    pub(super) fn of(path: &str) -> Self {
        let units: String = path
            .encode_utf16()
            .map(|unit| char::from_u32(unit.into()).filter(char::is_ascii_alphanumeric).unwrap_or('-'))
            .collect();
        let points: String = path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let mut keys = vec![units];
        if points != keys[0] {
            keys.push(points);
        }
        ProjectKeys(keys)
    }

    /// Returns true if a project folder with this name belongs to the path.
    pub(super) fn fit(&self, name: &str) -> bool {
        self.0.iter().any(|key| match key.get(..KEY_CHARS_MAX) {
            Some(cut) if key.len() > KEY_CHARS_MAX => {
                name.strip_prefix(cut).is_some_and(|rest| rest.starts_with('-'))
            }
            _ => key == name,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s1_35_keys_are_made_from_paths_and_cut_ones_fit_by_their_beginning() {
        let long = format!("/home/{}", "x".repeat(300));
        let cut = format!("-home-{}", "x".repeat(194));
        for (path, name, fits) in [
            ("/home/dev/demo", "-home-dev-demo", true),
            ("/home/dev/demo", "-home-dev-demo-2", false),
            ("/home/dev/my_app.rs", "-home-dev-my-app-rs", true),
            ("/home/dev/über", "-home-dev--ber", true),
            // The CLI counts two units where the Python SDK counts one character.
            ("/home/🦀", "-home---", true),
            ("/home/🦀", "-home--", true),
            (&long, &format!("{cut}-1a2b3c"), true),
            (&long, &cut, false),
            (&long, &format!("{cut}y-1a2b3c"), false),
        ] {
            assert_eq!(ProjectKeys::of(path).fit(name), fits, "{path} {name}");
        }
    }

    /// The hash is that of the Python SDK for the same path.
    #[test]
    fn the_key_of_a_folder_is_the_first_that_fits() {
        assert_eq!(project_key(Path::new("/no-such/my_app.rs")), "-no-such-my-app-rs");
        let long = format!("/no-such/{}", "x".repeat(300));
        let key = project_key(Path::new(&long));
        assert!(ProjectKeys::of(&long).fit(&key), "{key}");
        assert_eq!(key, format!("-no-such-{}-m1dw9h", "x".repeat(191)));
    }

    #[test]
    fn a_folder_that_is_gone_still_has_its_key() {
        let temp = tempfile::tempdir().unwrap();
        let real = std::fs::canonicalize(temp.path()).unwrap();
        let gone = temp.path().join("no/such");
        assert_eq!(canonical(&gone), real.join("no/such").to_string_lossy());
    }
}
