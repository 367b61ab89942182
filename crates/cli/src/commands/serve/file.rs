//! Settings from a TOML file.

use std::path::Path;

use tidings_commands::settings_file;

use super::declared::DeclaredSettings;

/// Reads the file at its default path; the defaults if there is none.
pub(super) fn read_default() -> anyhow::Result<DeclaredSettings> {
    settings_file::default_path()
        .filter(|path| path.exists())
        .map_or_else(|| Ok(DeclaredSettings::default()), |path| read(&path))
}

/// Reads a file of settings, and checks it. What it does not have is the default.
pub(super) fn read(path: &Path) -> anyhow::Result<DeclaredSettings> {
    let settings = settings_file::read(path)?;
    check(&settings).map_err(|reason| settings_file::refused(path, &reason))?;
    Ok(settings)
}

/// Rejects relative data and socket paths, which would depend on the folder that the server is started in.
fn check(settings: &DeclaredSettings) -> Result<(), String> {
    for (key, path) in [("data", &settings.data), ("unix", &settings.unix)] {
        if let Some(path) = path.as_ref().filter(|path| !path.is_absolute()) {
            return Err(format!(
                "`{key}` must be an absolute path, or begin with `~/`: `{}`",
                path.display()
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_are_refused() {
        for text in ["data = \"a\"", "unix = \"./a.sock\"", "data = \"\""] {
            let refused = check(&toml::from_str(text).unwrap()).unwrap_err();
            assert!(refused.contains("absolute path"), "{text}: {refused}");
        }
        check(&toml::from_str("data = \"~/a\"\ntls_cert = \"b.crt\"").unwrap()).unwrap();
    }
}
