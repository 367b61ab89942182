//! `tidings ps`: lists the sessions of the server.

use std::collections::BTreeMap;

use clap::Args;
use jiff::Timestamp;
use tidings_api::{ServerPhase, SessionOrigin, SessionView, Totals};
use tidings_commands::error::Exit;
use tidings_commands::human;
use tidings_commands::output::Output;
use tidings_commands::session_label::state_label;
use tidings_commands::table::{Align, Table};
use tidings_remote::{InboxQuery, InboxState, RemoteServer};

use super::session_lookup;
use crate::commands::remote::RemoteArgs;

/// List the server's sessions; those that need you come first
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PsArgs {
    /// Include sessions that were not used for a day
    #[arg(long, short)]
    all: bool,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

const EXAMPLES: &str = "\
Examples:
  tidings ps
  tidings ps --json | jq -r 'select(.state == \"needs_you\").key'
  TIDINGS_SERVER=https://box.example tidings ps

Other commands take a session's number, its key, or a unique prefix of the key with four characters or more.
A session \"without the folder's settings\" has hooks, MCP servers or rules in its folder that were not approved yet; \
the page shows them.";

/// Age up to which idle sessions are shown without `--all`.
const RECENT_SECONDS: i64 = 24 * 60 * 60;

impl PsArgs {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (mut sessions, waiting) = runtime.block_on(async {
            let remote = self.remote.remote()?;
            anyhow::Ok((remote.sessions().await?, waiting(&remote).await?))
        })?;
        // Timestamps of one format sort as text.
        sessions.sort_by(|a, b| rank(a.state).cmp(&rank(b.state)).then_with(|| b.active.cmp(&a.active)));
        let now = Timestamp::now();
        if self.remote.json {
            for session in &sessions {
                out.json(session)?;
            }
            return Ok(Exit::Success);
        }
        let all = sessions.len();
        sessions.retain(|session| self.all || is_recent(session, now));
        out.text(&table(&sessions, &waiting, now, human::columns()))?;
        if sessions.len() < all {
            let hidden = human::plural((all - sessions.len()) as u64, "older session");
            out.note(&format!("{hidden}; `--all` shows them too"))?;
        }
        Ok(Exit::Success)
    }
}

/// Number of requests in the inbox that wait, by session.
async fn waiting(remote: &RemoteServer) -> anyhow::Result<BTreeMap<String, u64>> {
    let (items, _) = remote.inbox(&InboxQuery::new(InboxState::Waiting)).await?;
    let mut counts = BTreeMap::new();
    for session in items.into_iter().filter_map(|item| item.session) {
        *counts.entry(session).or_default() += 1;
    }
    Ok(counts)
}

/// Sort key of a state; sessions that need the user come first.
fn rank(state: ServerPhase) -> u8 {
    match state {
        ServerPhase::NeedsYou => 0,
        ServerPhase::Failed => 1,
        ServerPhase::Running | ServerPhase::Starting => 2,
        ServerPhase::Interrupted => 3,
        ServerPhase::Idle => 4,
        ServerPhase::Parked | ServerPhase::Stopped | ServerPhase::Unknown => 5,
    }
}

fn is_recent(session: &SessionView, now: Timestamp) -> bool {
    let age = session.active.parse::<Timestamp>().map(|active| now.as_second() - active.as_second());
    rank(session.state) < 3 || age.is_ok_and(|age| age < RECENT_SECONDS)
}

/// Formats one line per session; the title gets the columns that are left.
fn table(
    sessions: &[SessionView],
    waiting: &BTreeMap<String, u64>,
    now: Timestamp,
    columns: usize,
) -> String {
    const STATE_COLUMNS: usize = 11;
    /// Width from which projects have all of their columns.
    const WIDE: usize = 80;
    let project_columns = if columns < WIDE { 8 } else { 20 };
    if sessions.is_empty() {
        return "No sessions. `tidings start \"what to do\"` starts one.\n".to_owned();
    }
    let columns_before = vec![
        ("id", 4, Align::Right),
        ("state", STATE_COLUMNS, Align::Left),
        ("project", project_columns, Align::Left),
        ("age", 4, Align::Right),
        ("cost", 8, Align::Right),
    ];
    let mut table = Table::new(columns_before, "title", columns);
    for session in sessions {
        let (word, style) = state_label(session.state);
        let project = project_name(session);
        let age = session.active.parse().map_or_else(|_| String::new(), |active| human::age(active, now));
        let waiting = waiting.get(&session.key).copied().unwrap_or_default();
        // An interrupt of the last turn is no failure of the session.
        let error = session.error.as_deref().filter(|_| !session.turn_interrupted);
        let candidates = [session.stalled.as_deref(), error, session_lookup::title(session)];
        let line = candidates.into_iter().flatten().next().or(session.last_line.as_deref());
        let line = line.filter(|line| !line.trim().is_empty()).unwrap_or("(no title)");
        let waiting = if waiting > 0 { format!("({waiting} waiting) ") } else { String::new() };
        let untrusted = if session.untrusted { "(without the folder's settings) " } else { "" };
        let origin = match session.origin {
            SessionOrigin::Server => "",
            SessionOrigin::Terminal => "(terminal) ",
            SessionOrigin::Editor => "(editor) ",
            SessionOrigin::Background => "(background) ",
            SessionOrigin::Unknown => "(unknown origin) ",
        };
        let continues =
            session.continues_at.as_ref().map_or_else(String::new, |at| format!("(continues at {at}) "));
        let node = session.node.as_ref().map_or_else(String::new, |node| match &session.unreachable {
            Some(_) => format!("({node}, unreachable) "),
            None => format!("({node}) "),
        });
        let backend = session.backend.as_ref().map_or_else(String::new, |name| format!("({name}) "));
        let line =
            format!("{waiting}{node}{backend}{origin}{untrusted}{continues}{}", line.replace('\n', " "));
        let (handle, cost) = (session.handle.to_string(), cost(&session.totals));
        table.row(&[(&handle, ""), (word, style), (project, ""), (&age, ""), (&cost, "")], &line);
    }
    table.into_text()
}

/// The last part of the project's name. Copies of a repository on several servers of a fleet have one name,
/// whatever their folders are called.
fn project_name(session: &SessionView) -> &str {
    match session.project.as_deref().filter(|project| !project.starts_with("folder:")) {
        Some(project) => project.rsplit(['/', ':']).next().unwrap_or_default(),
        None => session.cwd.trim_end_matches('/').rsplit('/').next().unwrap_or_default(),
    }
}

/// The cost; unknown is not zero.
fn cost(totals: &Totals) -> String {
    let is_unknown = totals.cost_incomplete && totals.cost_usd <= 0.0;
    if is_unknown { "-".to_owned() } else { format!("${:.2}", totals.cost_usd) }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use tidings_commands::output::{BOLD, DIM, PLAIN};

    use super::*;

    fn session(more: &Value) -> SessionView {
        let mut view = json!({
            "handle": 1, "key": "a1", "cwd": "/home/ada/shop", "state": "running", "policy": "ask", "title": "The build",
            "cli_session_ids": [], "created": "2026-01-01T00:00:00Z", "active": "2026-01-01T00:00:00Z", "cursor": "1:1",
            "head": 1, "floor": 1, "totals": {"turns": 0, "cost_usd": 0.0, "input_tokens": 0, "output_tokens": 0},
            "budget": {}, "pending_permissions": 0, "pending_questions": 0, "queued": 0,
        });
        for (name, value) in more.as_object().unwrap() {
            view[name] = value.clone();
        }
        serde_json::from_value(view).unwrap()
    }

    /// Lists of sessions on disk, here and in the official SDKs, take the last prompt too.
    #[test]
    fn c31_a_session_without_a_title_has_the_name_that_it_has_in_the_list() {
        let prompts = json!({"title": null, "first_prompt": "Mend it", "last_prompt": "And the gate"});
        let text = table(&[session(&prompts)], &BTreeMap::new(), Timestamp::UNIX_EPOCH, 200);
        assert!(text.ends_with("  And the gate\n"), "{text}");
    }

    #[test]
    fn p43_an_interrupt_is_not_a_title() {
        let error = "The turn was interrupted";
        for (more, expected) in [
            (json!({"error": error, "turn_interrupted": true}), "The build"),
            (json!({"error": error}), error),
        ] {
            let text = table(&[session(&more)], &BTreeMap::new(), Timestamp::UNIX_EPOCH, 200);
            assert!(text.ends_with(&format!("  {expected}\n")), "{text}");
        }
    }

    #[test]
    fn urgent_information_precedes_the_title() {
        for (more, expected) in [
            (json!({}), "The build"),
            (json!({"key": "a2"}), "(2 waiting) The build"),
            (json!({"untrusted": true}), "(without the folder's settings) The build"),
            (
                json!({"continues_at": "2026-01-01T05:00:30Z"}),
                "(continues at 2026-01-01T05:00:30Z) The build",
            ),
            (json!({"backend": "codex"}), "(codex) The build"),
            (json!({"node": "box"}), "(box) The build"),
            (json!({"node": "box", "unreachable": ""}), "(box, unreachable) The build"),
            (json!({"stalled": "The budget is used up"}), "The budget is used up"),
            (json!({"first_prompt": "Mend it", "last_line": "Done."}), "The build"),
            (json!({"title": null, "first_prompt": "Mend it", "last_line": "Done."}), "Mend it"),
            (json!({"title": null, "last_line": "Done."}), "Done."),
            (json!({"title": null, "origin": "terminal"}), "(terminal) (no title)"),
        ] {
            let waiting = BTreeMap::from([("a2".to_owned(), 2)]);
            let text = table(&[session(&more)], &waiting, Timestamp::UNIX_EPOCH, 200);
            assert!(text.ends_with(&format!("  {expected}\n")), "{text}");
        }
    }

    #[test]
    fn c32_a_line_is_no_wider_than_the_terminal() {
        let more = json!({"cwd": "/home/ada/a-project-with-a-long-name", "title": "A title ".repeat(40)});
        for columns in [60, 79, 80, 200] {
            let text = table(&[session(&more)], &BTreeMap::new(), Timestamp::UNIX_EPOCH, columns);
            for line in text.lines() {
                let line =
                    [BOLD, DIM, PLAIN].iter().fold(line.to_owned(), |line, code| line.replace(code, ""));
                assert!(human::width(&line) <= columns, "{columns}: {line}");
            }
        }
    }

    #[test]
    fn copies_of_a_project_have_one_name_whatever_their_folders_are() {
        for (more, expected) in [
            (json!({}), "shop"),
            (json!({"cwd": "/srv/a:b/"}), "a:b"),
            (json!({"cwd": "/srv/copy", "project": "example.com/acme/shop"}), "shop"),
            (json!({"cwd": "/srv/copy/web", "project": "example.com/acme/shop:web"}), "web"),
            (json!({"cwd": "/srv/disk", "project": "folder:0123"}), "disk"),
        ] {
            assert_eq!(project_name(&session(&more)), expected);
        }
    }
}
