//! Settings in a file.

use std::env;
use std::path::{Path, PathBuf};

use super::settings::Layer;
use crate::error::CannotRun;

/// Where the file lies unless somebody names another.
pub(super) fn usual() -> Option<PathBuf> {
    let xdg = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    Some(xdg.or_else(|| home().map(|home| home.join(".config")))?.join("tidings/serve.toml"))
}

/// What the file says that lies where it usually does. Without one, nothing is said.
pub(super) fn read_usual() -> anyhow::Result<Layer> {
    usual().filter(|path| path.exists()).map_or_else(|| Ok(Layer::default()), |path| read(&path))
}

pub(super) fn read(path: &Path) -> anyhow::Result<Layer> {
    let text = fs_err::read_to_string(path)?;
    let refused = |reason: &str| CannotRun {
        code: CannotRun::USAGE,
        message: format!("Failed to read `{}`: {reason}", path.display()),
        hint: HINT,
    };
    let said: Layer = toml::from_str(&text).map_err(|error| {
        let place = error.span().map(|span| place(&text, span.start)).unwrap_or_default();
        refused(&format!("{place}{}", error.message()))
    })?;
    Ok(whole_paths(said, home().as_deref()).map_err(|reason| refused(&reason))?)
}

const HINT: &str = "a setting has the name of its flag with _ for -, see `tidings serve --help`; docs/operating.md has \
                    a table of all, packaging/serve.toml an example of each";

/// The line and the key. What stands behind the key may be a secret.
fn place(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let number = before.matches('\n').count() + 1;
    let key = text.lines().nth(number - 1).and_then(|line| Some(line.split_once('=')?.0.trim()));
    key.map_or_else(|| format!("line {number}: "), |key| format!("line {number}, `{key}`: "))
}

/// No shell reads the file, so that `~/` is made a path here. Where everything is kept must not depend on the folder
/// that the server was started in.
fn whole_paths(mut said: Layer, home: Option<&Path>) -> Result<Layer, String> {
    let single =
        [&mut said.data, &mut said.unix, &mut said.claude_path, &mut said.tls_cert, &mut said.tls_key];
    let paths = single.into_iter().flatten().chain(said.allow_folders.iter_mut().flatten());
    for path in paths {
        if let Ok(rest) = path.strip_prefix("~") {
            *path = home.ok_or("there is no home folder for `~`")?.join(rest);
        }
    }
    for (key, path) in [("data", &said.data), ("unix", &said.unix)] {
        if let Some(path) = path.as_ref().filter(|path| !path.is_absolute()) {
            return Err(format!(
                "`{key}` has to be a whole path, or to begin with `~/`: `{}`",
                path.display()
            ));
        }
    }
    Ok(said)
}

fn home() -> Option<PathBuf> {
    env::home_dir().filter(|home| home.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_folder_is_meant_by_a_tilde() {
        let text = "data = \"~/a\"\nunix = \"~/a.sock\"\ntls_cert = \"~/b.crt\"\nclaude_path = \"/c~/~\"\n\
                    allow_folders = [\"~/d\", \"/e\", \"~\", \"~f/g\"]\n";
        let said = whole_paths(toml::from_str(text).unwrap(), Some(Path::new("/home/ada"))).unwrap();
        assert_eq!(said.data.unwrap(), Path::new("/home/ada/a"));
        assert_eq!(said.unix.unwrap(), Path::new("/home/ada/a.sock"));
        assert_eq!(said.tls_cert.unwrap(), Path::new("/home/ada/b.crt"));
        assert_eq!(said.claude_path.unwrap(), Path::new("/c~/~"));
        let folders = ["/home/ada/d", "/e", "/home/ada", "~f/g"].map(PathBuf::from);
        assert_eq!(said.allow_folders.unwrap(), folders);
    }

    #[test]
    fn what_depends_on_the_folder_of_the_start_is_refused() {
        for text in ["data = \"a\"", "unix = \"./a.sock\"", "data = \"\""] {
            let refused = whole_paths(toml::from_str(text).unwrap(), None).unwrap_err();
            assert!(refused.contains("whole path"), "{text}: {refused}");
        }
    }

    #[test]
    fn a_mistake_is_told_with_its_key_and_without_its_value() {
        let text = "# first\nsecret = \"s3cret\"\n";
        assert_eq!(place(text, text.find("\"s3").unwrap()), "line 2, `secret`: ");
        assert_eq!(place("[[notify]\n", 9), "line 1: ");
    }
}
