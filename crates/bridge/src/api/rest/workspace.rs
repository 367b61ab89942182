//! The folder of a session: completions for `/` and `@`, and changes in the working tree.

use std::path::Path as FilePath;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use tidings_api::{Code, Completions, Scope, WorkingTree};
use tidings_journal::limits::PAGE_EVENTS_MAX;
use tidings_journal::{Event, Journal, Key, Max};
use tidings_protocol::ui::UiMessage;
use tidings_sessions::git::{Git, Secrets};
use tidings_sessions::{Caller, Error, paths};

use crate::api::{Api, visibility};
use crate::http::{Answer, Path, Query};
use crate::limits::{COMMANDS_PAGES_MAX, COMPLETIONS_MAX, FOLDERS_MAX};

/// Lists the slash commands of the session, without the slash.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/sessions/{id}/commands", tag = "workspace",
    params(("id" = String, Path, description = "The key or the number of the session")),
    responses((status = 200, description = "The commands", body = Completions)),
))]
pub(crate) async fn list_commands(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
) -> Answer<Completions> {
    let view = visibility::session(&api.sessions, &caller, &id).await?;
    let items = newest_commands(&**api.sessions.broadcast().journal(), &Key::new(&view.key)?).await?;
    let about = api.sessions.command_descriptions(&view.key, &items)?;
    Ok(Json(Completions { items, more: false, about }))
}

/// The newest list of commands, without internal ones. The CLI sends one when it starts and when its commands
/// change.
pub(crate) async fn newest_commands(journal: &dyn Journal, key: &Key) -> Result<Vec<String>, Error> {
    let mut before = None;
    for _ in 0..COMMANDS_PAGES_MAX {
        let page = journal.history(key, before, Max::events(PAGE_EVENTS_MAX)).await?;
        let newest = page.events.iter().rev().find_map(|event| commands_of(event));
        if let Some(commands) = newest {
            return Ok(commands);
        }
        let Some(first) = page.events.first().filter(|first| first.cursor.seq > page.floor) else { break };
        before = Some(first.cursor.seq);
    }
    Ok(Vec::new())
}

fn commands_of(event: &Event) -> Option<Vec<String>> {
    if !matches!(event.kind.as_str(), "SessionStarted" | "SettingsChanged") {
        return None;
    }
    let mut commands = match &*event.message()? {
        UiMessage::SessionStarted(started) => {
            Some(started.slash_commands.clone()).filter(|commands| !commands.is_empty())
        }
        UiMessage::SettingsChanged(changed) => changed.slash_commands.clone(),
        _ => None,
    }?;
    // Programs that embed the CLI use these.
    commands.retain(|name| !name.starts_with("__"));
    Some(commands)
}

#[derive(Debug, Deserialize)]
pub(crate) struct FilesQuery {
    #[serde(default)]
    q: String,
}

/// Finds files in the folder of the session whose path contains these letters in this order.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/sessions/{id}/files", tag = "workspace",
    params(
        ("id" = String, Path, description = "The key or the number of the session"),
        ("q" = Option<String>, Query, description = "Letters that the path contains"),
    ),
    responses((status = 200, description = "The 50 best matches", body = Completions)),
))]
pub(crate) async fn find_files(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
    Query(FilesQuery { q }): Query<FilesQuery>,
) -> Answer<Completions> {
    let view = visibility::session(&api.sessions, &caller, &id).await?;
    check_folder(&api, &view.cwd)?;
    let git = Git::open(&api.sessions.config().environment, &view.cwd).await?;
    let (paths, is_cut) = match git {
        Some(git) => git.files().await?,
        None => tokio::task::spawn_blocking(move || walk(FilePath::new(&view.cwd))).await.unwrap_or_default(),
    };
    let mut found: Vec<(u32, String)> =
        paths.into_iter().filter_map(|path| Some((match_rank(&path, &q)?, path))).collect();
    found.sort();
    let more = is_cut || found.len() > COMPLETIONS_MAX;
    found.truncate(COMPLETIONS_MAX);
    Ok(Json(Completions {
        items: found.into_iter().map(|(_, path)| path).collect(),
        more,
        ..Completions::default()
    }))
}

/// Refuses a folder that was replaced after the session was created. A folder that no longer exists has no
/// files.
pub(super) fn check_folder(api: &Api, folder: &str) -> Result<(), Error> {
    match paths::unchanged(&api.sessions.config().roots, FilePath::new(folder)) {
        Err(error) if error.code() == Code::Invalid => Ok(()),
        checked => checked,
    }
}

/// Files below a folder, without hidden ones; true if the list was cut. Links are not followed.
fn walk(root: &FilePath) -> (Vec<String>, bool) {
    let (mut folders, mut files, mut looked) = (vec![root.to_owned()], Vec::new(), 0);
    while let Some(folder) = folders.pop() {
        looked += 1;
        if looked > FOLDERS_MAX {
            return (files, true);
        }
        let Ok(entries) = fs_err::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') || name == "node_modules" || name == "target" {
                continue;
            }
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file()
                && let Ok(path) = entry.path().strip_prefix(root)
            {
                files.push(path.to_string_lossy().into_owned());
            }
            if files.len() + folders.len() > FOLDERS_MAX * 50 {
                return (files, true);
            }
        }
    }
    (files, false)
}

/// The rank of a match, lower is better; `None` if the path does not match. A name with this prefix ranks
/// first, then a name that contains the text, then a path that contains it, then a path with these letters in
/// this order.
fn match_rank(path: &str, wanted: &str) -> Option<u32> {
    let (lower, wanted) = (path.to_lowercase(), wanted.to_lowercase());
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    if name.starts_with(&wanted) {
        return Some(0);
    }
    if name.contains(&wanted) {
        return Some(1);
    }
    if lower.contains(&wanted) {
        return Some(2);
    }
    let mut letters = lower.chars();
    wanted.chars().all(|letter| letters.any(|found| found == letter)).then_some(3)
}

#[derive(Debug, Deserialize)]
pub(crate) struct DiffQuery {
    #[serde(default)]
    since: Since,
}

/// The state of the folder that it is compared with.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Since {
    /// The last commit.
    #[default]
    Head,
    /// The commit at which the session began.
    Start,
}

/// Gets the differences between the folder of the session and its last commit, or since the session began.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/sessions/{id}/diff", tag = "workspace",
    params(
        ("id" = String, Path, description = "The key or the number of the session"),
        ("since" = Option<String>, Query, description = "`head`, the last commit, or `start`, the commit at \
            which the session began; then the diff has the contents of untracked files too"),
    ),
    responses((status = 200, description = "The differences", body = WorkingTree)),
))]
pub(crate) async fn get_diff(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
    Query(DiffQuery { since }): Query<DiffQuery>,
) -> Answer<WorkingTree> {
    let view = visibility::session(&api.sessions, &caller, &id).await?;
    check_folder(&api, &view.cwd)?;
    let secrets = if caller.scopes.has(Scope::Admin) { Secrets::Show } else { Secrets::Hide };
    let tree = match Git::open(&api.sessions.config().environment, &view.cwd).await? {
        Some(git) if since == Since::Start => {
            git.since(api.sessions.base_commit(&view.key).await?.as_deref(), secrets).await?
        }
        Some(git) => git.working_tree(secrets).await?,
        None => WorkingTree::default(),
    };
    Ok(Json(tree))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_journal::{Class, Cursor, Epoch, EventDraft, Kind};

    #[test]
    fn commands_are_those_that_the_agent_named_last() {
        let cases = [
            (
                "SessionStarted",
                r#"{"session_id":1,"cli_session_id":"a","slash_commands":["compact"]}"#,
                Some(1),
            ),
            ("SessionStarted", r#"{"session_id":1,"cli_session_id":"a"}"#, None),
            ("SettingsChanged", r#"{"session_id":1,"slash_commands":["compact","mine"]}"#, Some(2)),
            ("SettingsChanged", r#"{"session_id":1,"slash_commands":[]}"#, Some(0)),
            ("SettingsChanged", r#"{"session_id":1,"model":"m"}"#, None),
            ("System", r#"{"session_id":1,"message":"","slash_commands":["compact"]}"#, None),
        ];
        for (kind, body, count) in cases {
            let at = jiff::Timestamp::UNIX_EPOCH;
            let whole = format!(r#"{{"{kind}":{body}}}"#);
            let draft = EventDraft::new(Class::Durable, at, Kind::new(kind).unwrap(), whole.into_bytes());
            let event = Event::of(&draft, Cursor::new(Epoch::from_random(1), 1));
            assert_eq!(commands_of(&event).map(|commands| commands.len()), count, "{body}");
        }
    }

    #[test]
    fn p42_internal_commands_are_not_listed() {
        let body = r#"{"SettingsChanged":{"session_id":1,"slash_commands":["compact","__remote-workflow"]}}"#;
        let kind = Kind::new("SettingsChanged").unwrap();
        let draft = EventDraft::new(Class::Durable, jiff::Timestamp::UNIX_EPOCH, kind, body.as_bytes());
        let event = Event::of(&draft, Cursor::new(Epoch::from_random(1), 1));
        assert_eq!(commands_of(&event).unwrap(), ["compact"]);
    }
}
