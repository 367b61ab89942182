//! `tidings` without a command: an overview of what was found, and the most useful commands.

use std::fmt::Write as _;
use std::time::Duration;

use jiff::Timestamp;
use tidings_api::ServerPhase;
use tidings_commands::error::Exit;
use tidings_commands::human;
use tidings_commands::output::{BOLD, DIM, Output, PLAIN, printable};
use tidings_commands::sessions::RootArgs;
use tidings_transcript::roots::{Roots, SessionFiles};

use crate::commands::remote::RemoteArgs;

const COMMANDS: &[(&str, &str)] = &[
    ("tidings serve", "serve sessions to browsers and phones"),
    ("tidings run \"what is this?\"", "run one prompt through Claude Code"),
    ("tidings sessions list", "list the sessions on disk"),
    ("tidings sessions cost", "show their cost by day"),
    ("tidings doctor", "check what is missing, and how to fix it"),
    ("tidings --help", "list all commands"),
];

/// Timeout for the list of the server's sessions.
const SERVER_TIMEOUT: Duration = Duration::from_secs(2);

pub(crate) fn run(out: &mut Output) -> anyhow::Result<Exit> {
    let found = [("Claude Code", claude()), ("sessions", sessions()), ("server", server()?)];
    let mut text = format!("{BOLD}Tidings {}{PLAIN}\n\n", env!("CARGO_PKG_VERSION"));
    for (name, status) in found {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "  {}  {}", human::padded(name, 11), printable(&status));
    }
    text.push('\n');
    for (command, purpose) in COMMANDS {
        let _ = writeln!(text, "  {}  {DIM}{purpose}{PLAIN}", human::padded(command, 29));
    }
    out.text(&text)?;
    Ok(Exit::Success)
}

fn claude() -> String {
    match tidings::find::claude() {
        Ok(path) => path.display().to_string(),
        Err(_) => "not found; `tidings doctor` shows how to install it".to_owned(),
    }
}

fn sessions() -> String {
    let Ok(found) = Roots::new([RootArgs::config_folder_of_user()]).scan() else {
        return "none yet".to_owned();
    };
    let mut folders: Vec<_> = found.sessions.iter().map(|session| &session.folder).collect();
    folders.sort();
    folders.dedup();
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let sessions = human::plural(number(tidings_transcript::list::count(&found.sessions)), "session");
    let projects = human::plural(number(folders.len()), "project");
    let bytes = human::bytes(found.sessions.iter().map(SessionFiles::bytes).sum());
    let last =
        found.sessions.iter().filter_map(|session| session.main.as_ref()).map(|file| file.modified).max();
    let last = last.and_then(|last| Timestamp::try_from(last).ok());
    let last = last.map(|last| format!(", the last one {} ago", human::age(last, Timestamp::now())));
    format!("{sessions} in {projects}, {bytes}{}", last.unwrap_or_default())
}

/// State of the server that commands talk to.
fn server() -> anyhow::Result<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let remote = RemoteArgs { data: None, server: None, json: false }.remote();
    let Ok(remote) = remote else { return Ok("none; `tidings serve` starts one".to_owned()) };
    // Inside of the runtime, since its timer measures the timeout.
    let list = runtime.block_on(async { tokio::time::timeout(SERVER_TIMEOUT, remote.sessions()).await });
    let Ok(Ok(all)) = list else { return Ok("does not answer; `tidings serve` starts one".to_owned()) };
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let waiting = all.iter().filter(|session| session.state == ServerPhase::NeedsYou).count();
    let sessions = human::plural(number(all.len()), "session");
    Ok(match waiting {
        0 => format!("running, {sessions}"),
        _ => format!("running, {sessions}; {waiting} waiting for you, see `tidings ps`"),
    })
}
