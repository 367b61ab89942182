//! What is looked at, in the order in which it is shown.

use std::env;
use std::io::Read as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tidings::find::{self, OLDEST};
use tidings_bridge::SqliteJournal;
use tidings_transcript::retention::Retention;
use tidings_transcript::roots::Roots;
use uuid::Uuid;

use super::Check;
use crate::commands::backup::JOURNAL;
use crate::commands::serve;
use crate::commands::sessions::Place;
use crate::human;

/// The version that Tidings is tested with.
const TESTED: &str = "2.1.325";

/// Variables that hold a login, or say that somebody else's is used.
const LOGINS: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
];

pub(super) fn all(place: &Place) -> anyhow::Result<Vec<Check>> {
    let config = place.config_folder();
    let mut checks = claude()?;
    checks.push(login(&config));
    checks.push(config_folder(&config));
    checks.push(sessions(&config));
    // Without the program there is no version, and it has neither logged in nor made its folders.
    if checks.first().is_some_and(|claude| !claude.ok) {
        for check in checks.iter_mut().skip(1).filter(|check| !check.ok) {
            *check = Check::needed(check.name).found("not checked, since `claude` is missing");
        }
    }
    checks.push(cleanup(&config));
    checks.push(git());
    checks.push(settings());
    checks.push(port());
    // What is wrong with the settings is told by the check of them.
    let data = serve::usual_data().ok().or_else(Place::data_folder);
    checks.push(journal(data.as_deref()));
    checks.push(writable(Check::needed("store"), data, "TIDINGS_DATA_DIR"));
    checks.push(writable(Check::useful("cache"), Place::cache_folder(), "TIDINGS_CACHE_DIR"));
    Ok(checks)
}

/// The journal of the server: there, readable, and each event as it was written.
fn journal(data: Option<&Path>) -> Check {
    let check = Check::useful("journal");
    let Some(path) = data.map(|data| data.join(JOURNAL)) else { return check.found("none yet") };
    let mark = path.with_file_name(format!("{JOURNAL}-mark"));
    if !path.exists() && mark.exists() {
        let hint = "put it back or restore a backup, or start with `tidings serve --new-journal`";
        return check.wrong(format!("it is missing: {}", path.display()), hint);
    }
    if !path.exists() {
        return check.found("none yet");
    }
    match SqliteJournal::inspect(&path) {
        Ok(0) => check.found("every event is whole"),
        Ok(1) => check.wrong("1 event is damaged", RESTORE),
        Ok(count) => check.wrong(format!("{count} events are damaged"), RESTORE),
        Err(error) => check.wrong(error.to_string(), error.hint()),
    }
}

const RESTORE: &str =
    "everything else is shown; stop the server and restore a backup if the events are needed";

/// Where the program is, and whether it is new enough.
fn claude() -> anyhow::Result<Vec<Check>> {
    let (cli, version) = (Check::needed("claude"), Check::needed("version"));
    let pin = |version: &str| format!("`npm i -g @anthropic-ai/claude-code@{version}`");
    let program = match find::claude() {
        Ok(program) => program,
        Err(error) => {
            let hint = format!("{}; or this version, with which we test: {}", install(), pin(TESTED));
            return Ok(vec![cli.wrong(error.to_string(), hint), version.wrong("none", "")]);
        }
    };
    let cli = cli.found(program.display().to_string());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let version = match runtime.block_on(find::version(&program)) {
        Err(error) => version.wrong(error.to_string(), format!("install it anew: {}", pin(TESTED))),
        Ok(found) if found < OLDEST => {
            let hint = format!("run `claude update`, or get the one that we test with: {}", pin(TESTED));
            version.wrong(format!("{found} is too old, at least {OLDEST} is needed"), hint)
        }
        Ok(found) => {
            let found = found.to_string();
            version.hint(format!("to keep this one: {}", pin(&found))).found(found)
        }
    };
    Ok(vec![cli, version])
}

fn install() -> &'static str {
    "install Claude Code (`curl -fsSL https://claude.ai/install.sh | bash`), or name it in CLAUDE_CLI_PATH"
}

/// Whether there is a login. What it is, is nobody's business.
fn login(config: &Path) -> Check {
    let check = Check::needed("login");
    let set = |name: &&&str| env::var_os(name).is_some_and(|value| !value.is_empty());
    if let Some(name) = LOGINS.iter().find(set) {
        return check.found(format!("{name} is set"));
    }
    if config.join(".credentials.json").is_file() {
        return check.found("kept in the config folder");
    }
    if has_key(&config.join("settings.json"), "apiKeyHelper") {
        return check.found("apiKeyHelper in the settings");
    }
    // Where the system keeps secrets itself, only this tells that there is one.
    let beside = config.join(".claude.json");
    let at_home = env::home_dir().filter(|_| env::var_os("CLAUDE_CONFIG_DIR").is_none());
    let profiles = [Some(beside), at_home.map(|home| home.join(".claude.json"))];
    if profiles.into_iter().flatten().any(|profile| has_key(&profile, "oauthAccount")) {
        return check.found("an account is known, its secret is kept by the system");
    }
    check.wrong("none", "run `claude` and type /login, or set ANTHROPIC_API_KEY")
}

/// Whether a JSON file has a key that is not null.
fn has_key(path: &Path, key: &str) -> bool {
    const BYTES_MAX: u64 = 16 << 20;
    let mut text = String::new();
    let read = fs_err::File::open(path).and_then(|file| file.take(BYTES_MAX).read_to_string(&mut text));
    let value = read.ok().and_then(|_| serde_json::from_str::<serde_json::Value>(&text).ok());
    value.is_some_and(|value| value.get(key).is_some_and(|value| !value.is_null()))
}

fn config_folder(config: &Path) -> Check {
    let check = Check::needed("config");
    let shown = config.display();
    if !config.is_dir() {
        return check
            .wrong(format!("there is no folder {shown}"), "run `claude` once, or set CLAUDE_CONFIG_DIR");
    }
    match try_to_write(config) {
        Ok(()) => check.found(shown.to_string()),
        Err(error) => check.wrong(
            format!("{shown}: {error}"),
            "let yourself write there: Claude Code keeps its files in it",
        ),
    }
}

fn sessions(config: &Path) -> Check {
    let check = Check::useful("sessions");
    match Roots::new([config]).scan() {
        Err(error) => check.wrong(error.to_string(), error.hint()),
        Ok(found) => {
            let bytes = found.sessions.iter().map(tidings_transcript::roots::SessionFiles::bytes).sum();
            let number = u64::try_from(tidings_transcript::list::count(&found.sessions)).unwrap_or(u64::MAX);
            check.found(format!("{}, {}", human::plural(number, "session"), human::bytes(bytes)))
        }
    }
}

/// How long Claude Code keeps sessions before it deletes them.
fn cleanup(config: &Path) -> Check {
    let check = Check::useful("cleanup");
    let Retention { days, configured } = Retention::of(config);
    let found = format!("sessions are deleted after {}", human::plural(days, "day"));
    let keep = "`tidings sessions archive` keeps copies";
    match (days, configured) {
        (0, _) => check.wrong(found, format!("raise cleanupPeriodDays in settings.json; {keep}")),
        (_, true) => check.found(found),
        (_, false) => check
            .found(format!("{found}, as nobody said otherwise"))
            .hint(format!("set cleanupPeriodDays in settings.json to keep them longer; {keep}")),
    }
}

fn git() -> Check {
    let check = Check::useful("git");
    let mut git = Command::new("git");
    let asked = git.arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output();
    match asked {
        Ok(output) if output.status.success() => check.found(String::from_utf8_lossy(&output.stdout).trim()),
        _ => check.wrong("none", "install git: without it sessions of other worktrees are not found"),
    }
}

/// The settings of a server that lie where it looks for them.
fn settings() -> Check {
    let check = Check::needed("settings");
    let Some(path) = serve::usual_file().filter(|path| path.exists()) else {
        return check.found("no file, the defaults count");
    };
    match serve::check_file(&path) {
        Ok(()) => check.found(path.display().to_string()),
        Err(error) => check.wrong(format!("{error:#}"), crate::error::hint(&error)),
    }
}

fn port() -> Check {
    let check = Check::useful("port");
    let address = match serve::usual_listen() {
        Ok(Some(address)) => address,
        Ok(None) => return check.found("none is wanted"),
        Err(error) => return check.wrong(format!("{error:#}"), crate::error::hint(&error)),
    };
    match TcpListener::bind(address) {
        Ok(_) => check.found(format!("{address} is free")),
        Err(error) => {
            check.wrong(format!("{address}: {error}"), "something listens there, perhaps Tidings itself")
        }
    }
}

/// Whether files can be written to a folder, which need not be there yet.
fn writable(check: Check, folder: Option<PathBuf>, variable: &str) -> Check {
    let Some(folder) = folder else {
        return check.wrong("there is no home folder", format!("set {variable}"));
    };
    let shown = folder.display();
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    match try_to_write(there) {
        Ok(()) => check.found(shown.to_string()),
        Err(error) => check
            .wrong(format!("{shown}: {error}"), format!("make it writable, or name another in {variable}")),
    }
}

/// Writes an empty file and takes it away again.
fn try_to_write(folder: &Path) -> std::io::Result<()> {
    let file = folder.join(format!(".tidings-doctor-{}", Uuid::new_v4()));
    std::fs::File::create_new(&file)?;
    std::fs::remove_file(&file)
}
