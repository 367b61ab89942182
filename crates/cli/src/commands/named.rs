//! Sessions of a server by whatever somebody calls them.

use tidings_protocol::api::{SessionList, SessionView};

use crate::error::CannotRun;
use crate::output::printable;
use crate::remote::Remote;

/// Every session of a server, by number.
pub(crate) async fn sessions(remote: &Remote) -> anyhow::Result<Vec<SessionView>> {
    let mut all = Vec::new();
    let mut after = 0;
    loop {
        let page: SessionList = remote.get(&format!("/v1/sessions?limit=1000&after={after}")).await?;
        let Some(last) = page.items.last() else { return Ok(all) };
        after = last.handle;
        all.extend(page.items);
    }
}

/// What to call a session: its title, or what was said in it first.
pub(crate) fn title(session: &SessionView) -> Option<&str> {
    session.title.as_deref().or(session.first_prompt.as_deref())
}

/// The session that is meant: by its number, its key, an id of the CLI, or the beginning of one of these.
pub(crate) async fn session(remote: &Remote, name: &str) -> anyhow::Result<SessionView> {
    let all = sessions(remote).await?;
    let is = |session: &SessionView| {
        session.handle.to_string() == name
            || session.key == name
            || session.cli_session_ids.iter().any(|id| id == name)
    };
    let begins = |session: &SessionView| {
        session.key.starts_with(name) || session.cli_session_ids.iter().any(|id| id.starts_with(name))
    };
    if let Some(session) = all.iter().find(|session| is(session)) {
        return Ok(session.clone());
    }
    let fitting: Vec<&SessionView> =
        all.iter().filter(|session| !name.is_empty() && begins(session)).collect();
    let (code, message, hint) = match fitting[..] {
        [session] => return Ok(session.clone()),
        [] => ("not_found", format!("No such session: `{}`", printable(name)), "`tidings ps` lists them"),
        _ => {
            let message = format!("{} sessions begin with `{}`", fitting.len(), printable(name));
            ("ambiguous", message, "give more of it, or the number from `tidings ps`")
        }
    };
    Err(CannotRun { code, message, hint }.into())
}
