//! The checks, in the order in which they are shown.

use std::env;
use std::io::Read as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tidings::find::{self, OLDEST};
use tidings_commands::human;
use tidings_commands::sessions::RootArgs;
use tidings_journal::{JOURNAL_FILE, SqliteJournal};
use tidings_protocol::TESTED_CLAUDE_CODE;
use tidings_transcript::ErrorKind;
use tidings_transcript::cleanup_period::CleanupPeriod;
use tidings_transcript::roots::Roots;
use uuid::Uuid;

use super::DoctorCheck;
use crate::commands::serve;

/// Variables that hold a login, or select a provider with its own login.
const LOGINS: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
];

pub(super) fn all(root: &RootArgs) -> anyhow::Result<Vec<DoctorCheck>> {
    let config = root.config_folder();
    let mut checks = claude()?;
    checks.push(login(&config));
    checks.push(config_folder(&config));
    checks.push(sessions(&config));
    // Without `claude` there is no version, and neither a login nor its folders are expected.
    if checks.first().is_some_and(|claude| !claude.ok) {
        for check in checks.iter_mut().skip(1).filter(|check| !check.ok) {
            *check = DoctorCheck::needed(check.name).skipped("not checked, since `claude` is missing");
        }
    }
    checks.push(cleanup(&config));
    checks.push(git());
    checks.push(settings());
    checks.push(port());
    // Errors in the settings are reported by their own check.
    let data = serve::configured_data().ok().or_else(RootArgs::data_folder);
    checks.push(journal(data.as_deref()));
    checks.push(notifications(data.as_deref()));
    checks.push(writable(DoctorCheck::needed("store"), data, &serve::variable("data")));
    checks.push(writable(DoctorCheck::useful("cache"), RootArgs::cache_folder(), "TIDINGS_CACHE_DIR"));
    Ok(checks)
}

/// Checks that the journal of the server exists, is readable, and that no event is damaged.
fn journal(data: Option<&Path>) -> DoctorCheck {
    let check = DoctorCheck::useful("journal");
    let Some(path) = data.map(|data| data.join(JOURNAL_FILE)) else { return check.found("none yet") };
    let mark = path.with_file_name(format!("{JOURNAL_FILE}-mark"));
    if !path.exists() && mark.exists() {
        let hint = "restore it from a backup, or start with `tidings serve --new-journal`";
        return check.wrong(format!("missing: {}", path.display()), hint);
    }
    if !path.exists() {
        return check.found("none yet");
    }
    match SqliteJournal::losses_of(&path) {
        Ok(losses) if losses.is_empty() => {}
        Ok(losses) => {
            let losses: Vec<String> = losses.iter().map(ToString::to_string).collect();
            return check.wrong(format!("damaged: {}", losses.join("; ")), RESTORE);
        }
        Err(error) => return check.wrong(error.to_string(), error.hint()),
    }
    match SqliteJournal::inspect(&path) {
        Ok(0) => check.found("no event is damaged"),
        Ok(1) => check.wrong("1 event is damaged", RESTORE),
        Ok(count) => check.wrong(format!("{count} events are damaged"), RESTORE),
        Err(error) => check.wrong(error.to_string(), error.hint()),
    }
}

/// Checks whether the targets of notifications accept them, as the journal of the server knows.
fn notifications(data: Option<&Path>) -> DoctorCheck {
    let check = DoctorCheck::useful("notify");
    let path = data.map(|data| data.join(JOURNAL_FILE)).filter(|path| path.exists());
    let Some(path) = path else { return check.found("nothing was sent yet") };
    let targets = match tidings_bridge::notify::target_health(&path) {
        Ok(targets) => targets,
        Err(error) => return check.wrong(error.to_string(), error.hint().to_owned()),
    };
    let failing: Vec<String> = targets
        .iter()
        .filter_map(|target| Some(format!("{}: {}", target.id, target.error.as_ref()?)))
        .collect();
    match (targets.len(), failing.is_empty()) {
        (0, _) => check.found("nothing was sent yet").hint("subscribe a phone in the settings of the page"),
        (count, true) => {
            check.found(format!("{} accept notifications", human::plural(count as u64, "target")))
        }
        (_, false) => check.wrong(
            failing.join("; "),
            "test the target in the settings of the page; `tidings inbox` shows what waits meanwhile",
        ),
    }
}

const RESTORE: &str =
    "all other events are readable; stop the server and restore a backup if these events are needed";

/// Finds the `claude` program, and checks that its version is supported.
fn claude() -> anyhow::Result<Vec<DoctorCheck>> {
    let (cli, version) = (DoctorCheck::needed("claude"), DoctorCheck::needed("version"));
    let pin = |version: &str| format!("`npm i -g @anthropic-ai/claude-code@{version}`");
    let program = match find::claude() {
        Ok(program) => program,
        Err(error) => {
            let hint = format!(
                "{}; or the version that Tidings is tested with: {}",
                install(),
                pin(TESTED_CLAUDE_CODE)
            );
            return Ok(vec![cli.wrong(error.to_string(), hint), version.wrong("none", "")]);
        }
    };
    let cli = cli.found(program.display().to_string());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let version = match runtime.block_on(find::version(&program)) {
        Err(error) => version.wrong(error.to_string(), format!("reinstall it: {}", pin(TESTED_CLAUDE_CODE))),
        Ok(found) if found < OLDEST => {
            let hint = format!(
                "run `claude update`, or install the version that Tidings is tested with: {}",
                pin(TESTED_CLAUDE_CODE)
            );
            version.wrong(format!("{found} is too old, at least {OLDEST} is needed"), hint)
        }
        Ok(found) => {
            let hint = match found.to_string() {
                own if own == TESTED_CLAUDE_CODE => format!("to pin this version: {}", pin(&own)),
                _ => format!("to install the tested version: {}", pin(TESTED_CLAUDE_CODE)),
            };
            version.found(found.beside_tested()).hint(hint)
        }
    };
    Ok(vec![cli, version])
}

fn install() -> &'static str {
    "install Claude Code (`curl -fsSL https://claude.ai/install.sh | bash`), or set CLAUDE_CLI_PATH"
}

/// Checks that there is a login, without printing it.
fn login(config: &Path) -> DoctorCheck {
    let check = DoctorCheck::needed("login");
    let set = |name: &&&str| env::var_os(name).is_some_and(|value| !value.is_empty());
    if let Some(name) = LOGINS.iter().find(set) {
        return check.found(format!("{name} is set"));
    }
    if config.join(".credentials.json").is_file() {
        return check.found("stored in the config folder");
    }
    if has_key(&config.join("settings.json"), "apiKeyHelper") {
        return check.found("apiKeyHelper in the settings");
    }
    // With a system keychain, the account is the only visible sign of a login.
    let beside = config.join(".claude.json");
    let at_home = env::home_dir().filter(|_| env::var_os("CLAUDE_CONFIG_DIR").is_none());
    let profiles = [Some(beside), at_home.map(|home| home.join(".claude.json"))];
    if profiles.into_iter().flatten().any(|profile| has_key(&profile, "oauthAccount")) {
        return check.found("an account is set up, its secret is in the system's keychain");
    }
    check.wrong("none", "run `claude` and type /login, or set ANTHROPIC_API_KEY")
}

/// True if a JSON file has a key that is not null.
fn has_key(path: &Path, key: &str) -> bool {
    const BYTES_MAX: u64 = 16 << 20;
    let mut text = String::new();
    let read = fs_err::File::open(path).and_then(|file| file.take(BYTES_MAX).read_to_string(&mut text));
    let value = read.ok().and_then(|_| serde_json::from_str::<serde_json::Value>(&text).ok());
    value.is_some_and(|value| value.get(key).is_some_and(|value| !value.is_null()))
}

fn config_folder(config: &Path) -> DoctorCheck {
    let check = DoctorCheck::needed("config");
    let shown = config.display();
    // Claude Code creates the folder when it runs for the first time.
    let there = config.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    match try_to_write(there) {
        Ok(()) if there != config => check.found(format!("none yet: {shown}")),
        Ok(()) => check.found(shown.to_string()),
        Err(error) => {
            check.wrong(format!("{shown}: {error}"), "make it writable: Claude Code stores its files in it")
        }
    }
}

fn sessions(config: &Path) -> DoctorCheck {
    let check = DoctorCheck::useful("sessions");
    match Roots::new([config]).scan() {
        Err(error) if error.kind() == ErrorKind::NotFound => check.found("none yet"),
        Err(error) => check.wrong(error.to_string(), error.hint()),
        Ok(found) => {
            let bytes = found.sessions.iter().map(tidings_transcript::roots::SessionFiles::bytes).sum();
            let number = u64::try_from(tidings_transcript::list::count(&found.sessions)).unwrap_or(u64::MAX);
            check.found(format!("{}, {}", human::plural(number, "session"), human::bytes(bytes)))
        }
    }
}

/// Reports after how many days Claude Code deletes sessions.
fn cleanup(config: &Path) -> DoctorCheck {
    let check = DoctorCheck::useful("cleanup");
    let CleanupPeriod { days, configured } = CleanupPeriod::of(config);
    let found = format!("sessions are deleted after {}", human::plural(days, "day"));
    let keep = "`tidings sessions archive` keeps copies";
    match (days, configured) {
        (0, _) => check.wrong(found, format!("raise cleanupPeriodDays in settings.json; {keep}")),
        (_, true) => check.found(found),
        (_, false) => check
            .found(format!("{found}, the default"))
            .hint(format!("set cleanupPeriodDays in settings.json to keep them longer; {keep}")),
    }
}

fn git() -> DoctorCheck {
    let check = DoctorCheck::useful("git");
    let mut git = Command::new("git");
    let result = git.arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output();
    match result {
        Ok(output) if output.status.success() => check.found(String::from_utf8_lossy(&output.stdout).trim()),
        _ => check.wrong("none", "install git; without it, sessions of other worktrees are not found"),
    }
}

/// Validates the server's settings file at its default path.
fn settings() -> DoctorCheck {
    let check = DoctorCheck::needed("settings");
    let Some(path) = serve::default_file().filter(|path| path.exists()) else {
        return check.found("no file, the defaults are used");
    };
    match serve::check_file(&path) {
        Ok(()) => check.found(path.display().to_string()),
        Err(error) => check.wrong(format!("{error:#}"), tidings_commands::error::hint(&error)),
    }
}

fn port() -> DoctorCheck {
    let check = DoctorCheck::useful("port");
    let address = match serve::configured_listen() {
        Ok(Some(address)) => address,
        Ok(None) => return check.found("none, the server listens on its socket only"),
        Err(error) => return check.wrong(format!("{error:#}"), tidings_commands::error::hint(&error)),
    };
    match TcpListener::bind(address) {
        Ok(_) => check.found(format!("{address} is free")),
        Err(error) => {
            check.wrong(format!("{address}: {error}"), "another process listens there, maybe Tidings itself")
        }
    }
}

/// Checks that files can be written to a folder, which may not exist yet.
fn writable(check: DoctorCheck, folder: Option<PathBuf>, variable: &str) -> DoctorCheck {
    let Some(folder) = folder else {
        return check.wrong("no home folder", format!("set {variable}"));
    };
    let shown = folder.display();
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    match try_to_write(there) {
        Ok(()) => check.found(shown.to_string()),
        Err(error) => check.wrong(
            format!("{shown}: {error}"),
            format!("make it writable, or set {variable} to another folder"),
        ),
    }
}

/// Writes an empty file and removes it again.
fn try_to_write(folder: &Path) -> std::io::Result<()> {
    let file = folder.join(format!(".tidings-doctor-{}", Uuid::new_v4()));
    std::fs::File::create_new(&file)?;
    std::fs::remove_file(&file)
}
