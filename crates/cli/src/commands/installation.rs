//! `tidings self`: the version, how it was installed, where its data is, and how to update it.

use std::env;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use tidings_commands::error::Exit;
use tidings_commands::output::Output;
use tidings_commands::sessions::RootArgs;

use crate::commands::serve;

/// Show the version, how it was installed, where its data is, and how to update it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SelfArgs {
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const EXAMPLES: &str = "\
Examples:
  tidings self
  tidings self --json | jq -r .update

It reads paths only; nothing is downloaded, and no server is asked for a newer version.";

/// The installation; also the JSON output.
#[derive(Debug, Serialize)]
struct Installation {
    version: &'static str,
    program: PathBuf,
    installed_by: &'static str,
    /// Command or advice that installs the newest version.
    update: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache: Option<PathBuf>,
    /// Settings file of the server, which may not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    settings: Option<PathBuf>,
    /// The user's service that `tidings serve --install` wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<PathBuf>,
}

impl SelfArgs {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let program = env::current_exe()?;
        let program = program.canonicalize().unwrap_or(program);
        let way = InstallWay::of(&program);
        let installation = Installation {
            version: env!("CARGO_PKG_VERSION"),
            installed_by: way.name(),
            update: way.update(&program),
            program,
            data: serve::configured_data().ok().or_else(RootArgs::data_folder),
            cache: RootArgs::cache_folder(),
            settings: serve::default_file(),
            service: serve::service_file().filter(|path| path.exists()),
        };
        if self.json {
            out.json(&installation)?;
        } else {
            out.text(&installation.text())?;
        }
        Ok(Exit::Success)
    }
}

impl Installation {
    fn text(&self) -> String {
        let path = |path: &Option<PathBuf>| {
            path.as_ref().map_or_else(|| "none".to_owned(), |path| path.display().to_string())
        };
        let settings = match &self.settings {
            Some(file) if !file.exists() => format!("{}, which does not exist", file.display()),
            settings => path(settings),
        };
        let rows = [
            ("version", self.version.to_owned()),
            ("program", self.program.display().to_string()),
            ("installed by", self.installed_by.to_owned()),
            ("to update", self.update.clone()),
            ("data", path(&self.data)),
            ("cache", path(&self.cache)),
            ("settings", settings),
            ("service", path(&self.service)),
        ];
        rows.map(|(name, value)| format!("{name:<13} {value}\n")).concat()
    }
}

/// The way in which the program came onto the machine, told from its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InstallWay {
    Npm,
    UvTool,
    Uvx,
    Pipx,
    Pip,
    Debian,
    Homebrew,
    Nix,
    Cargo,
    Checkout,
    ByHand,
}

impl InstallWay {
    fn of(program: &Path) -> Self {
        let text = program.to_string_lossy().replace('\\', "/");
        let has = |part: &str| text.contains(part);
        let folder = program.parent().unwrap_or(Path::new("/"));
        if has("/node_modules/tidings-") {
            InstallWay::Npm
        } else if has("/uv/tools/") {
            InstallWay::UvTool
        } else if has("/uv/") && has("/archive-v") {
            InstallWay::Uvx
        } else if has("/pipx/venvs/") {
            InstallWay::Pipx
        } else if has("/Cellar/tidings/") {
            InstallWay::Homebrew
        } else if text.starts_with("/nix/store/") {
            InstallWay::Nix
        } else if is_in_checkout(folder) {
            InstallWay::Checkout
        } else if folder.join("../.crates.toml").exists() {
            InstallWay::Cargo
        } else if has_python_package(folder) {
            InstallWay::Pip
        } else if text == "/usr/bin/tidings" && Path::new("/var/lib/dpkg/info/tidings.list").exists() {
            InstallWay::Debian
        } else {
            InstallWay::ByHand
        }
    }

    fn name(self) -> &'static str {
        match self {
            InstallWay::Npm => "npm",
            InstallWay::UvTool => "uv",
            InstallWay::Uvx => "uvx",
            InstallWay::Pipx => "pipx",
            InstallWay::Pip => "pip",
            InstallWay::Debian => "deb",
            InstallWay::Homebrew => "brew",
            InstallWay::Nix => "nix",
            InstallWay::Cargo => "cargo",
            InstallWay::Checkout => "checkout",
            InstallWay::ByHand => "hand",
        }
    }

    fn update(self, program: &Path) -> String {
        match self {
            InstallWay::Npm => "npm install -g tidings@latest".to_owned(),
            InstallWay::UvTool => "uv tool upgrade tidings-cli".to_owned(),
            InstallWay::Uvx => "uvx --from tidings-cli@latest tidings".to_owned(),
            InstallWay::Pipx => "pipx upgrade tidings-cli".to_owned(),
            InstallWay::Pip => {
                let python = program.with_file_name("python");
                format!("{} -m pip install --upgrade tidings-cli", python.display())
            }
            InstallWay::Debian => {
                "download the new package, then `sudo apt install ./tidings_*.deb`".to_owned()
            }
            InstallWay::Homebrew => "brew upgrade tidings".to_owned(),
            InstallWay::Nix => "nix profile upgrade tidings".to_owned(),
            InstallWay::Cargo => "cargo install --locked tidings-cli".to_owned(),
            InstallWay::Checkout => "git pull, then build it again".to_owned(),
            InstallWay::ByHand => "replace the program with that of the newest archive".to_owned(),
        }
    }
}

/// True in the build folder of a workspace: cargo leaves a lock beside the program, and marks a folder that
/// it has created.
fn is_in_checkout(folder: &Path) -> bool {
    folder.join(".cargo-lock").exists()
        || folder.ancestors().take(3).any(|folder| folder.join("CACHEDIR.TAG").exists())
}

/// True in the `bin` of a Python environment in which the wheel is installed.
fn has_python_package(bin: &Path) -> bool {
    let Ok(versions) = std::fs::read_dir(bin.join("../lib")) else { return false };
    let package = format!("tidings_cli-{}.dist-info", env!("CARGO_PKG_VERSION"));
    versions.flatten().any(|version| {
        ["site-packages", "dist-packages"]
            .iter()
            .any(|folder| version.path().join(folder).join(&package).exists())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_the_program_tells_how_it_was_installed() {
        for (path, way) in [
            ("/home/me/.npm/_npx/1a2b/node_modules/tidings-linux-x64/bin/tidings", InstallWay::Npm),
            ("/home/me/.local/share/uv/tools/tidings-cli/bin/tidings", InstallWay::UvTool),
            ("/home/me/.cache/uv/archive-v0/x7/bin/tidings", InstallWay::Uvx),
            ("/home/me/.local/share/pipx/venvs/tidings-cli/bin/tidings", InstallWay::Pipx),
            ("/opt/homebrew/Cellar/tidings/0.1.0/bin/tidings", InstallWay::Homebrew),
            ("/nix/store/abc-tidings-0.1.0/bin/tidings", InstallWay::Nix),
            ("/opt/tidings/bin/tidings", InstallWay::ByHand),
        ] {
            assert_eq!(InstallWay::of(Path::new(path)), way, "{path}");
        }
    }

    #[test]
    fn files_beside_the_program_tell_apart_cargo_pip_and_a_checkout() {
        for (mark, way) in [
            (".crates.toml", InstallWay::Cargo),
            (
                concat!("lib/python3.11/site-packages/tidings_cli-", env!("CARGO_PKG_VERSION"), ".dist-info"),
                InstallWay::Pip,
            ),
            ("CACHEDIR.TAG", InstallWay::Checkout),
            ("bin/.cargo-lock", InstallWay::Checkout),
        ] {
            let root = tempfile::tempdir().unwrap();
            let program = root.path().join("bin/tidings");
            std::fs::create_dir_all(root.path().join("bin")).unwrap();
            std::fs::create_dir_all(root.path().join(mark).parent().unwrap()).unwrap();
            std::fs::write(root.path().join(mark), "").unwrap();
            assert_eq!(InstallWay::of(&program), way, "{mark}");
            assert!(!way.update(&program).is_empty());
        }
    }
}
