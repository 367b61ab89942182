//! Settings from a TOML file.

use std::env;
use std::path::{Path, PathBuf};

use super::layer::Layer;
use crate::error::CannotRun;

/// Default path of the file.
pub(super) fn default_path() -> Option<PathBuf> {
    let xdg = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    Some(xdg.or_else(|| home().map(|home| home.join(".config")))?.join("tidings/serve.toml"))
}

/// Reads the file at its default path; empty settings if there is none.
pub(super) fn read_default() -> anyhow::Result<Layer> {
    default_path().filter(|path| path.exists()).map_or_else(|| Ok(Layer::default()), |path| read(&path))
}

pub(super) fn read(path: &Path) -> anyhow::Result<Layer> {
    let text = fs_err::read_to_string(path)?;
    let refused = |reason: &str| CannotRun {
        code: CannotRun::USAGE,
        message: format!("Failed to read `{}`: {reason}", path.display()),
        hint: HINT,
    };
    let layer: Layer = toml::from_str(&text).map_err(|error| {
        let location = error.span().map(|span| location(&text, span.start)).unwrap_or_default();
        refused(&format!("{location}{}", error.message()))
    })?;
    Ok(absolute_paths(layer, home().as_deref()).map_err(|reason| refused(&reason))?)
}

const HINT: &str = "a setting is named like its flag with _ for -; `tidings serve --help` lists the flags";

/// Line number and key of an error, without the value, which may be a secret.
fn location(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let number = before.matches('\n').count() + 1;
    let key = text.lines().nth(number - 1).and_then(|line| Some(line.split_once('=')?.0.trim()));
    key.map_or_else(|| format!("line {number}: "), |key| format!("line {number}, `{key}`: "))
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

fn home() -> Option<PathBuf> {
    env::home_dir().filter(|home| home.is_absolute())
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn errors_name_the_key_without_its_value() {
        let text = "# first\nsecret = \"s3cret\"\n";
        assert_eq!(location(text, text.find("\"s3").unwrap()), "line 2, `secret`: ");
        assert_eq!(location("[[notify]\n", 9), "line 1: ");
    }
}
