//! `tidings inbox`: what waits for a person, and what happened in all sessions.

use clap::Args;
use jiff::Timestamp;
use tidings_api::{InboxCounts, InboxItem, InboxKind, InboxRead};
use tidings_commands::error::Exit;
use tidings_commands::human;
use tidings_commands::output::{DIM, Output, PLAIN, RED, YELLOW};
use tidings_commands::table::{Align, Table};
use tidings_remote::{InboxQuery, InboxState};

use super::session_lookup;
use crate::commands::remote::RemoteArgs;

/// List what waits for you, and what happened since you last looked
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InboxArgs {
    /// Include items that were read
    #[arg(long, short)]
    all: bool,

    /// Show only requests that wait for an answer
    #[arg(long, conflicts_with = "all")]
    waiting: bool,

    /// Show only items of this session, by number, key or prefix
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,

    /// Show at most this number of items
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u64,

    /// Mark everything that is shown, and everything older, as read
    #[arg(long)]
    read: bool,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

const EXAMPLES: &str = "\
Examples:
  tidings inbox                        what waits, and what is unread
  tidings inbox --read                 the same, and marks it as read
  tidings inbox --all --limit 200
  tidings inbox --json | jq -r 'select(.waiting).tool_use_id'

A request that waits stays in the inbox until it is answered, read or not: `tidings approve` and `tidings deny` \
answer it.";

impl InboxArgs {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (items, counts) = runtime.block_on(self.fetch())?;
        if self.remote.json {
            for item in &items {
                out.text(&format!("{}\n", serde_json::to_string(item)?))?;
            }
        } else {
            out.text(&table(&items, Timestamp::now(), human::columns()))?;
            if counts.badge > items.len() as u64 {
                let more = human::plural(counts.badge - items.len() as u64, "more item");
                out.note(&format!("{more} wait or are unread; `--limit` shows more"))?;
            }
        }
        Ok(Exit::Success)
    }

    async fn fetch(&self) -> anyhow::Result<(Vec<InboxItem>, InboxCounts)> {
        let remote = self.remote.remote()?;
        let state = match (self.waiting, self.all) {
            (true, _) => InboxState::Waiting,
            (_, true) => InboxState::All,
            _ => InboxState::Unread,
        };
        let session = match &self.session {
            Some(name) => Some(session_lookup::session(&remote, name).await?.key),
            None => None,
        };
        let query =
            InboxQuery { session: session.clone(), items_max: Some(self.limit), ..InboxQuery::new(state) };
        let (mut items, mut counts) = remote.inbox(&query).await?;
        // What needs an answer comes first, then the newest.
        items.sort_by_key(|item| (!item.waiting, std::cmp::Reverse(item.position)));
        if self.read
            && let Some(newest) = items.iter().map(|item| item.position).max()
        {
            let read = InboxRead { up_to: Some(newest), session, ..InboxRead::default() };
            counts = remote.mark_read(&read).await?;
        }
        Ok((items, counts))
    }
}

/// Formats one line per item; the text gets the columns that are left.
fn table(items: &[InboxItem], now: Timestamp, columns: usize) -> String {
    const KIND_COLUMNS: usize = 10;
    const PROJECT_COLUMNS: usize = 20;
    if items.is_empty() {
        return "Nothing waits for you, and nothing is unread.\n".to_owned();
    }
    let columns_before = vec![
        ("id", 4, Align::Right),
        ("kind", KIND_COLUMNS, Align::Left),
        ("project", PROJECT_COLUMNS, Align::Left),
        ("age", 4, Align::Right),
    ];
    let mut table = Table::new(columns_before, "about", columns);
    for item in items {
        let style = match item.kind {
            _ if item.waiting => YELLOW,
            InboxKind::Failed | InboxKind::AgentGone | InboxKind::DiskFull => RED,
            _ if item.unread => PLAIN,
            _ => DIM,
        };
        let age = item.at.parse().map_or_else(|_| String::new(), |at| human::age(at, now));
        let handle = item.handle.map(|handle| handle.to_string()).unwrap_or_default();
        let project = item.project.as_deref().unwrap_or_default();
        table.row(&[(&handle, ""), (item.kind.as_str(), style), (project, ""), (&age, "")], &about(item));
    }
    table.into_text()
}

fn about(item: &InboxItem) -> String {
    let outcome = item.outcome.as_ref().map(|outcome| format!("({outcome}) ")).unwrap_or_default();
    let failed = item.deliveries.iter().find_map(|it| it.error.as_ref().filter(|_| item.waiting));
    let failed = failed.map(|error| format!("(not notified: {error}) ")).unwrap_or_default();
    let tool = item.tool.as_ref().map(|tool| format!("{tool}: ")).unwrap_or_default();
    let resets = item.resets_at.as_ref().map(|at| format!("resets at {at} ")).unwrap_or_default();
    let line = item.line.as_deref().or(item.title.as_deref()).unwrap_or_default().replace('\n', " ");
    format!("{outcome}{failed}{resets}{tool}{line}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_item_says_what_it_is_about_and_what_became_of_it() {
        let item = |more: serde_json::Value| {
            let mut item = json!({"id": "a", "position": 1, "kind": "permission", "at": "2026-01-01T00:00:00Z",
                "handle": 3, "project": "shop", "link": "#/", "line": "make test", "tool": "Bash"});
            for (name, value) in more.as_object().unwrap() {
                item[name] = value.clone();
            }
            serde_json::from_value::<InboxItem>(item).unwrap()
        };
        for (more, expected) in [
            (json!({"waiting": true}), "Bash: make test"),
            (json!({"outcome": "denied"}), "(denied) Bash: make test"),
            (
                json!({"tool": null, "kind": "limit", "resets_at": "2026-01-02T00:00:00Z", "line": "five_hour"}),
                "resets at 2026-01-02T00:00:00Z five_hour",
            ),
            (json!({"line": "a\u{1b}[2Jb"}), "Bash: a"),
        ] {
            let text = table(&[item(more)], Timestamp::UNIX_EPOCH, 200);
            assert!(text.contains(expected) && !text.contains("\u{1b}[2J"), "{text}");
        }
    }
}
