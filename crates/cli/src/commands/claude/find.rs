//! Finding the terminal of a session, for `tidings attach`.

use std::path::Path;

use tidings::host::terminal::TerminalHost;
use tidings_commands::sessions::RootArgs;
use tidings_transcript::id_prefix::{is_number, names_id};
use tidings_transcript::running;

/// The running terminal with this id, or with a Claude Code session of this id; a unique prefix is enough.
pub(crate) fn by_name(data: &Path, name: &str) -> Option<TerminalHost> {
    // Digits are the number of a session of the server.
    let fits = |id: &str| id == name || (!is_number(name) && names_id(name, id));
    only(data, |host, sessions| fits(&host.id) || sessions.iter().any(|id| fits(id)))
}

/// The running terminal of one of these Claude Code sessions.
pub(crate) fn by_session(data: &Path, cli_sessions: &[String]) -> Option<TerminalHost> {
    only(data, |_, sessions| sessions.iter().any(|id| cli_sessions.contains(id)))
}

fn only(data: &Path, fits: impl Fn(&TerminalHost, &[String]) -> bool) -> Option<TerminalHost> {
    let processes = running::list(&RootArgs::config_folder_of_user());
    let sessions = |host: &TerminalHost| -> Vec<String> {
        let of_it = processes.iter().filter(|process| process.pid == host.process.pid);
        of_it.map(|process| process.session_id.clone()).collect()
    };
    let fitting = TerminalHost::list(data).into_iter().filter(|host| fits(host, &sessions(host)));
    let mut fitting = fitting.filter(TerminalHost::is_alive);
    let found = fitting.next()?;
    fitting.next().is_none().then_some(found)
}
