//! Lookup of a server's sessions by number, key, id or prefix of a key or id.

use tidings_api::{Code, SessionView};
use tidings_commands::error::CannotRun;
use tidings_commands::output::{Output, printable};
use tidings_commands::{human, pick};
use tidings_remote::RemoteServer;
use tidings_transcript::id_prefix::{is_number, is_prefix, names_id};

use crate::commands::remote::RemoteArgs;

const NOT_FOUND: &str = "not_found";

/// Maximum number of sessions that an error about a prefix lists.
const CANDIDATES_MAX: usize = 8;

/// Returns the given name of a session. Without one, the user chooses a session in the terminal.
pub(crate) fn name_or_pick(given: Option<&str>, remote: &RemoteArgs, out: &Output) -> anyhow::Result<String> {
    name_or_pick_from(given, remote, |_| true, out)
}

/// Like [`name_or_pick`], with a list of the sessions that fit.
pub(crate) fn name_or_pick_from(
    given: Option<&str>,
    remote: &RemoteArgs,
    fits: impl Fn(&SessionView) -> bool,
    out: &Output,
) -> anyhow::Result<String> {
    if let Some(name) = given {
        return Ok(name.to_owned());
    }
    if remote.json || !pick::can_pick() {
        return Err(pick::unnamed().into());
    }
    pick::block_on(async {
        let mut all = remote.remote()?.sessions().await?;
        all.retain(&fits);
        Ok(pick::of_server(all, out).await?.handle.to_string())
    })
}

/// Returns the name of a session: the title, or else a prompt.
pub(crate) fn title(session: &SessionView) -> Option<&str> {
    session.name()
}

/// Finds a session by its number, its key, an id of the CLI, or a prefix of a key or id.
///
/// Digits are a number and nothing else: a number that no session has is an error, whatever ids begin with
/// it.
pub(crate) async fn session(remote: &RemoteServer, name: &str) -> anyhow::Result<SessionView> {
    // A full name needs no list, which may be long.
    if is_plain(name) {
        match remote.session(name).view().await {
            Err(error) if error.code() == Code::NotFound => {}
            found => return Ok(found?),
        }
    }
    if is_number(name) {
        return Err(no_session_has_number(name).into());
    }
    let all = remote.sessions().await?;
    let is =
        |session: &SessionView| session.key == name || session.cli_session_ids.iter().any(|id| id == name);
    let begins = |session: &SessionView| {
        names_id(name, &session.key) || session.cli_session_ids.iter().any(|id| names_id(name, id))
    };
    if let Some(session) = all.iter().find(|session| is(session)) {
        return Ok(session.clone());
    }
    let fitting: Vec<&SessionView> = all.iter().filter(|session| begins(session)).collect();
    let (code, message, hint) = match fitting[..] {
        [session] => return Ok(session.clone()),
        [] => {
            let hint = if is_prefix(name) {
                "`tidings ps` lists them"
            } else {
                "`tidings ps` lists them; a prefix of an id has four characters or more"
            };
            (NOT_FOUND, format!("No such session: `{}`", printable(name)), hint)
        }
        _ => {
            let shown = fitting.iter().take(CANDIDATES_MAX).map(|session| candidate(session));
            let mut candidates: Vec<String> = shown.collect();
            if fitting.len() > CANDIDATES_MAX {
                candidates.push("…".to_owned());
            }
            let (name, count) = (printable(name), fitting.len());
            let message = format!("{count} sessions begin with `{name}`: {}", candidates.join(", "));
            ("ambiguous", message, "give more characters of the id, or the number")
        }
    };
    Err(CannotRun { code, message, hint }.into())
}

fn no_session_has_number(name: &str) -> CannotRun {
    CannotRun {
        code: NOT_FOUND,
        message: format!("No such session: no session has the number `{}`", printable(name)),
        hint: "`tidings ps` lists them; if an id begins with these digits, give the whole id, or a prefix with a \
               letter or a `-` in it",
    }
}

/// Number, id and title of a session that fits a prefix.
fn candidate(session: &SessionView) -> String {
    const TITLE_COLUMNS: usize = 30;
    let id = human::short_id(session.cli_session_ids.last().unwrap_or(&session.key));
    let title =
        title(session).map(|title| format!(" {}", human::fit(&title.replace('\n', " "), TITLE_COLUMNS)));
    printable(&format!("{} ({id}{})", session.handle, title.unwrap_or_default()))
}

/// True if a name can be put into a URL path without encoding, as every number, key and id can.
pub(crate) fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// True if the error means that the name was not found, on the server or here.
pub(crate) fn is_not_found(error: &anyhow::Error) -> bool {
    error.downcast_ref::<tidings_remote::Error>().is_some_and(|error| error.code() == Code::NotFound)
        || error.downcast_ref::<CannotRun>().is_some_and(|error| error.code == NOT_FOUND)
}
