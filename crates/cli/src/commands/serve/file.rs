//! Settings from a TOML file.

use std::path::Path;

use tidings_commands::settings_file;

use super::layer::Layer;

/// Reads the file at its default path; empty settings if there is none.
pub(super) fn read_default() -> anyhow::Result<Layer> {
    settings_file::default_path()
        .filter(|path| path.exists())
        .map_or_else(|| Ok(Layer::default()), |path| read(&path))
}

/// Reads a file of settings, and checks it.
pub(super) fn read(path: &Path) -> anyhow::Result<Layer> {
    let layer = settings_file::read(path)?;
    let checked = absolute_paths(layer, settings_file::home().as_deref());
    Ok(checked.map_err(|reason| settings_file::refused(path, &reason))?)
}

/// Expands `~/`, since no shell reads the file, and rejects relative data and socket paths, which would
/// depend on the folder that the server is started in.
fn absolute_paths(mut layer: Layer, home: Option<&Path>) -> Result<Layer, String> {
    let single =
        [&mut layer.data, &mut layer.unix, &mut layer.claude_path, &mut layer.tls_cert, &mut layer.tls_key];
    let fleet = [&mut layer.fleet_creds, &mut layer.fleet_nkey, &mut layer.fleet_ca];
    let paths = fleet
        .into_iter()
        .flatten()
        .chain(single.into_iter().flatten())
        .chain(layer.allow_folders.iter_mut().flatten());
    for path in paths {
        if let Ok(rest) = path.strip_prefix("~") {
            *path = home.ok_or("there is no home folder for `~`")?.join(rest);
        }
    }
    for (key, path) in [("data", &layer.data), ("unix", &layer.unix)] {
        if let Some(path) = path.as_ref().filter(|path| !path.is_absolute()) {
            return Err(format!(
                "`{key}` must be an absolute path, or begin with `~/`: `{}`",
                path.display()
            ));
        }
    }
    Ok(layer)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_tilde_stands_for_the_home_folder() {
        let text = "data = \"~/a\"\nunix = \"~/a.sock\"\ntls_cert = \"~/b.crt\"\nclaude_path = \"/c~/~\"\n\
                    allow_folders = [\"~/d\", \"/e\", \"~\", \"~f/g\"]\n";
        let layer = absolute_paths(toml::from_str(text).unwrap(), Some(Path::new("/home/ada"))).unwrap();
        assert_eq!(layer.data.unwrap(), Path::new("/home/ada/a"));
        assert_eq!(layer.unix.unwrap(), Path::new("/home/ada/a.sock"));
        assert_eq!(layer.tls_cert.unwrap(), Path::new("/home/ada/b.crt"));
        assert_eq!(layer.claude_path.unwrap(), Path::new("/c~/~"));
        let folders = ["/home/ada/d", "/e", "/home/ada", "~f/g"].map(PathBuf::from);
        assert_eq!(layer.allow_folders.unwrap(), folders);
    }

    #[test]
    fn relative_paths_are_refused() {
        for text in ["data = \"a\"", "unix = \"./a.sock\"", "data = \"\""] {
            let refused = absolute_paths(toml::from_str(text).unwrap(), None).unwrap_err();
            assert!(refused.contains("absolute path"), "{text}: {refused}");
        }
    }
}
