//! `tidings serve --install`: writes the user's service and starts it.

use std::env;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Serialize;
use tidings_base::files;
use tidings_commands::error::{CannotRun, Exit};
use tidings_commands::output::{Output, printable};

/// The systemd unit; packages install it with the path of their program.
const UNIT: &str = include_str!("tidings.service");

/// The line of [`UNIT`] that starts the program, without its arguments.
const START: &str = "ExecStart=/usr/bin/env tidings";

/// Name of the launchd job.
const LABEL: &str = "dev.tidings.serve";

/// Result of an installation; also the JSON output.
#[derive(Debug, Serialize)]
struct InstalledService {
    path: PathBuf,
    program: PathBuf,
    /// Copy of a file that was there before and differed.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<PathBuf>,
}

/// Service manager of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServiceManager {
    Systemd,
    Launchd,
}

/// Path of the user's service file, which may not exist; none where there is no supported service manager.
pub(crate) fn service_file() -> Option<PathBuf> {
    ServiceManager::of_system()?.file()
}

/// Writes the service for this program and starts it, or starts it again.
pub(super) fn install(json: bool, out: &mut Output) -> anyhow::Result<Exit> {
    refuse_settings(env::args().skip(1))?;
    let Some((manager, path)) =
        ServiceManager::of_system().and_then(|manager| Some((manager, manager.file()?)))
    else {
        return Err(CannotRun {
            code: "unsupported",
            message: "There is no service manager that Tidings knows".to_owned(),
            hint: "start `tidings serve` with the service manager of this system",
        }
        .into());
    };
    let program = env::current_exe()?;
    let previous = write(&path, &manager.text(&program)?)?;
    for command in manager.commands(&path) {
        run(&command)?;
    }
    let installed = InstalledService { path, program, previous };
    if json {
        out.json(&installed)?;
        return Ok(Exit::Success);
    }
    let shown = |path: &Path| printable(&path.display().to_string());
    let mut text =
        format!("Started {} as a service: {}\n", shown(&installed.program), shown(&installed.path));
    if let Some(previous) = &installed.previous {
        let _ = writeln!(text, "The file that was there before is now {}", shown(previous));
    }
    text.push_str(manager.advice());
    out.text(&text)?;
    Ok(Exit::Success)
}

impl ServiceManager {
    fn of_system() -> Option<Self> {
        match env::consts::OS {
            "linux" => Some(ServiceManager::Systemd),
            "macos" => Some(ServiceManager::Launchd),
            _ => None,
        }
    }

    fn file(self) -> Option<PathBuf> {
        let home = env::home_dir().filter(|home| home.is_absolute());
        match self {
            ServiceManager::Systemd => {
                let xdg = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
                let config = xdg.or_else(|| home.map(|home| home.join(".config")))?;
                Some(config.join("systemd/user/tidings.service"))
            }
            ServiceManager::Launchd => Some(home?.join(format!("Library/LaunchAgents/{LABEL}.plist"))),
        }
    }

    fn text(self, program: &Path) -> anyhow::Result<String> {
        let Some(program) = program.to_str() else {
            return Err(CannotRun {
                code: "failed",
                message: format!("The path of the program is not UTF-8: `{}`", program.display()),
                hint: "move the program to a folder with a plain name",
            }
            .into());
        };
        Ok(match self {
            ServiceManager::Systemd => {
                UNIT.replacen(START, &format!("ExecStart={}", systemd_word(program)), 1)
            }
            ServiceManager::Launchd => plist(program),
        })
    }

    /// Commands that start the service, or restart it. Agents of a running server outlive the restart.
    fn commands(self, path: &Path) -> Vec<Vec<String>> {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        match self {
            ServiceManager::Systemd => vec![
                words(&["systemctl", "--user", "daemon-reload"]),
                words(&["systemctl", "--user", "enable", "tidings.service"]),
                words(&["systemctl", "--user", "restart", "tidings.service"]),
            ],
            // `-w` also undoes an earlier `unload -w`.
            ServiceManager::Launchd => vec![
                words(&["launchctl", "unload", &path.to_string_lossy()]),
                words(&["launchctl", "load", "-w", &path.to_string_lossy()]),
            ],
        }
    }

    fn advice(self) -> &'static str {
        match self {
            ServiceManager::Systemd => {
                "To follow its log:       journalctl --user -fu tidings
To keep it running without a login session: loginctl enable-linger
To pair a browser:       tidings pair
To remove it:            systemctl --user disable --now tidings
"
            }
            ServiceManager::Launchd => "To pair a browser: tidings pair\n",
        }
    }
}

/// A service has no command line to read: its settings belong in the file.
fn refuse_settings(args: impl Iterator<Item = String>) -> anyhow::Result<()> {
    const ALONE: [&str; 4] = ["serve", "--install", "--json", "--color"];
    let other = args.filter(|arg| arg.starts_with('-')).find(|arg| {
        let name = arg.split('=').next().unwrap_or_default();
        !ALONE.contains(&name)
    });
    match other {
        None => Ok(()),
        Some(other) => Err(CannotRun {
            code: CannotRun::USAGE,
            message: format!("The service does not take `{other}`"),
            hint: "put settings into ~/.config/tidings/serve.toml, which the service reads too",
        }
        .into()),
    }
}

/// A word of a command in a unit file.
fn systemd_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if text.chars().all(plain) {
        return text.to_owned();
    }
    let mut word = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => word.extend(['\\', c]),
            '%' | '$' => word.extend([c, c]),
            '\n' => word.push_str("\\n"),
            _ => word.push(c),
        }
    }
    word.push('"');
    word
}

/// The launchd job. It was never loaded on a Mac: only its text is tested.
fn plist(program: &str) -> String {
    let program = program.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>{LABEL}</string>
  <key>ProgramArguments</key>
  <array>
    <string>{program}</string>
    <string>serve</string>
    <string>--log</string>
    <string>json</string>
  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>AbandonProcessGroup</key>
  <true/>
  <key>ExitTimeOut</key>
  <integer>20</integer>
  <key>Umask</key>
  <integer>63</integer>
</dict>
</plist>
"#
    )
}

/// Writes the file in one step; returns the path of a copy of the previous one if that differed.
fn write(path: &Path, text: &str) -> anyhow::Result<Option<PathBuf>> {
    let before = match fs_err::read(path) {
        Ok(before) => Some(before),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
    };
    if before.as_deref() == Some(text.as_bytes()) {
        return Ok(None);
    }
    if let Some(folder) = path.parent() {
        fs_err::create_dir_all(folder)?;
    }
    let previous = match before {
        Some(before) => {
            let previous = path.with_extension("previous");
            fs_err::write(&previous, before)?;
            Some(previous)
        }
        None => None,
    };
    files::replace(path, text.as_bytes())?;
    Ok(previous)
}

fn run(command: &[String]) -> anyhow::Result<()> {
    let shown = command.join(" ");
    let failed = |reason: &str| CannotRun {
        code: "failed",
        message: format!("`{shown}` failed: {reason}"),
        hint: "log in as the user who runs the server (not with su or sudo), or start `tidings serve` yourself",
    };
    let [program, args @ ..] = command else { return Ok(()) };
    let output = Command::new(program).args(args).stdin(Stdio::null()).output();
    let output = output.map_err(|error| failed(&error.to_string()))?;
    // `launchctl unload` fails if the job is not loaded, which is what it is for.
    if !output.status.success() && args.first().is_none_or(|arg| arg != "unload") {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim()).into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_starts_the_installed_program() {
        let unit = ServiceManager::Systemd.text(Path::new("/opt/my tools/50%/tidings")).unwrap();
        assert!(unit.contains("\nExecStart=\"/opt/my tools/50%%/tidings\" serve --log json\n"), "{unit}");
        let unit = ServiceManager::Systemd.text(Path::new("/usr/bin/tidings")).unwrap();
        assert!(unit.contains("\nExecStart=/usr/bin/tidings serve --log json\n"), "{unit}");
    }

    #[test]
    fn the_launchd_job_escapes_the_path_of_the_program() {
        let job = ServiceManager::Launchd.text(Path::new("/Users/a & b/tidings")).unwrap();
        assert!(job.contains("<string>/Users/a &amp; b/tidings</string>"), "{job}");
        assert_eq!(job.matches("<dict>").count(), job.matches("</dict>").count());
    }

    #[test]
    fn a_service_takes_no_settings_from_the_command_line() {
        let args =
            |text: &str| refuse_settings(text.split(' ').map(str::to_owned).collect::<Vec<_>>().into_iter());
        assert!(args("serve --install --json").is_ok());
        assert!(args("--color never serve --install").is_ok());
        assert!(args("serve --install --listen 0.0.0.0:80").is_err());
        assert!(args("serve --allow-bypass --install").is_err());
    }
}
