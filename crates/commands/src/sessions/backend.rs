//! The agents whose sessions a command reads.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tidings_transcript::agents::{
    self, AgentKind, AgentStore, AgentVersion, Conversation, ReadReport, StoreScan, StoredSession,
};
use tidings_transcript::roots::Roots;

use super::{RootArgs, unreadable};
use crate::error::{CannotRun, Exit};
use crate::human;
use crate::output::{Output, PLAIN, YELLOW, printable};

/// Argument that selects the agent.
#[derive(Debug, Args)]
pub(crate) struct BackendChoiceArgs {
    /// Agent whose sessions are read; others than Claude Code work with list, show, search, cost and export
    #[arg(long, value_name = "AGENT", global = true, default_value = "claude", value_parser = backend())]
    backend: BackendChoice,
}

/// The agents whose sessions are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BackendChoice {
    Claude,
    Other(AgentKind),
    All,
}

/// Parses a backend: the name of an agent, or `all`.
fn backend() -> impl TypedValueParser<Value = BackendChoice> {
    let others = AgentKind::ALL.map(|kind| {
        PossibleValue::new(kind.as_str()).help(format!("{kind}: {}", usual_folder_in_help(kind)))
    });
    let all = PossibleValue::new("all").help("All of them, as far as they have sessions");
    let values = [PossibleValue::new("claude").help("Claude Code")].into_iter().chain(others).chain([all]);
    PossibleValuesParser::new(values).try_map(|name| match &*name {
        "claude" => Ok(BackendChoice::Claude),
        "all" => Ok(BackendChoice::All),
        name => name.parse().map(BackendChoice::Other),
    })
}

/// Number of unknown kinds that a note lists.
const KINDS_SHOWN: usize = 4;

impl BackendChoiceArgs {
    /// Returns true if only sessions of Claude Code are read.
    pub(crate) fn is_claude_only(&self) -> bool {
        self.backend == BackendChoice::Claude
    }

    /// The folders of Claude Code, if its sessions are read too and there are any.
    pub(crate) fn claude_roots(&self, root: &RootArgs) -> Option<Roots> {
        let roots = self.is_several().then(|| root.roots().ok()).flatten()?;
        (!roots.projects_folders().is_empty()).then_some(roots)
    }

    /// Opens the session with this name. `None` if no other agent has it and Claude Code may.
    pub(crate) fn open<'o>(
        &self,
        found: &'o OtherAgents,
        name: Option<&OsStr>,
        root: &RootArgs,
    ) -> anyhow::Result<Option<OtherSession<'o>>> {
        if self.is_several() && name.is_none() {
            return Err(CannotRun {
                code: CannotRun::USAGE,
                message: "Which session of which agent?".to_owned(),
                hint: "give an id, or name one agent with --backend for its newest session",
            }
            .into());
        }
        match found.open(name) {
            Ok(opened) => Ok(Some(opened)),
            Err(error) if is_missing(&error) && self.claude_roots(root).is_some() => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn is_several(&self) -> bool {
        self.backend == BackendChoice::All
    }

    /// Finds the sessions of the other agents.
    pub(crate) fn scan(&self, root: &RootArgs, out: &Output) -> anyhow::Result<OtherAgents> {
        let mut found = OtherAgents { agents: Vec::new(), exit: Exit::Success };
        for store in self.stores(root)? {
            let scan = store.scan()?;
            found.exit = found.exit.and(unreadable::warn(&scan.unreadable, out)?);
            found.agents.push((store, scan));
        }
        found.announce_versions(out)?;
        Ok(found)
    }

    fn kinds(&self) -> Vec<AgentKind> {
        match self.backend {
            BackendChoice::Claude => Vec::new(),
            BackendChoice::Other(kind) => vec![kind],
            BackendChoice::All => AgentKind::ALL.to_vec(),
        }
    }

    fn stores(&self, root: &RootArgs) -> anyhow::Result<Vec<Box<dyn AgentStore>>> {
        if self.is_several() && !root.given().is_empty() {
            return Err(CannotRun {
                code: CannotRun::USAGE,
                message: "--root names a folder of one agent".to_owned(),
                hint: "name the agent with --backend, or omit --root",
            }
            .into());
        }
        let mut stores = Vec::new();
        for kind in self.kinds() {
            if !root.given().is_empty() {
                for folder in root.given() {
                    stores.push(agents::open(kind, folder)?);
                }
                continue;
            }
            let folder = usual_folder(kind);
            if folder.is_dir() {
                stores.push(agents::open(kind, &folder)?);
            } else if !self.is_several() {
                return Err(CannotRun {
                    code: "not_found",
                    message: format!("No sessions of {kind} under `{}`", folder.display()),
                    hint: "run the agent once, or name another folder with --root",
                }
                .into());
            }
        }
        Ok(stores)
    }
}

/// The folder in which an agent keeps its data, as the help names it.
fn usual_folder_in_help(kind: AgentKind) -> &'static str {
    match kind {
        AgentKind::Codex => "`$CODEX_HOME`, or ~/.codex",
        AgentKind::Gemini => "~/.gemini",
        AgentKind::Opencode => "`$XDG_DATA_HOME`/opencode, or ~/.local/share/opencode",
    }
}

/// The folder in which an agent keeps its data.
fn usual_folder(kind: AgentKind) -> PathBuf {
    let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || env::home_dir().unwrap_or_default();
    match kind {
        AgentKind::Codex => named("CODEX_HOME").unwrap_or_else(|| home().join(".codex")),
        AgentKind::Gemini => named("GEMINI_CLI_HOME").unwrap_or_else(home).join(".gemini"),
        AgentKind::Opencode => {
            let data = named("XDG_DATA_HOME").filter(|folder| folder.is_absolute());
            data.unwrap_or_else(|| home().join(".local/share")).join("opencode")
        }
    }
}

/// The sessions of the other agents that a command reads.
pub(crate) struct OtherAgents {
    agents: Vec<(Box<dyn AgentStore>, StoreScan)>,
    /// Failure if some files could not be read.
    pub(crate) exit: Exit,
}

/// A session that was read.
pub(crate) struct OtherSession<'o> {
    pub(crate) store: &'o dyn AgentStore,
    pub(crate) stored: &'o StoredSession,
    pub(crate) conversation: Conversation,
}

impl OtherAgents {
    /// The stores with their sessions, last changed first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&dyn AgentStore, &[StoredSession])> {
        self.agents.iter().map(|(store, scan)| (&**store, scan.sessions.as_slice()))
    }

    /// Finds a session by name and reads it; without a name the newest.
    fn open(&self, name: Option<&OsStr>) -> anyhow::Result<OtherSession<'_>> {
        let mut found: Vec<(&dyn AgentStore, &StoredSession)> = Vec::new();
        let mut failure = None;
        for (store, scan) in &self.agents {
            match name {
                Some(name) => match scan.find(&name.to_string_lossy()) {
                    Ok(session) => found.push((&**store, session)),
                    // An ambiguous name says more than a missing one.
                    Err(error) if error.kind() == tidings_transcript::ErrorKind::Ambiguous => {
                        return Err(error.into());
                    }
                    Err(error) => failure = Some(error),
                },
                None => found.extend(scan.sessions.first().map(|session| (&**store, session))),
            }
        }
        found.sort_by_key(|(_, session)| std::cmp::Reverse(session.modified));
        if let (Some(name), [_, _, ..]) = (name, &found[..]) {
            return Err(CannotRun {
                code: "ambiguous",
                message: format!("Sessions of several agents begin with `{}`", name.display()),
                hint: "give more characters of the id, or name the agent with --backend",
            }
            .into());
        }
        let Some((store, stored)) = found.into_iter().next() else {
            return Err(match failure {
                Some(error) => error.into(),
                None => CannotRun {
                    code: "not_found",
                    message: "There are no sessions yet".to_owned(),
                    hint: "run the agent once, or name another folder with --root",
                }
                .into(),
            });
        };
        Ok(OtherSession { store, stored, conversation: store.read(stored)? })
    }

    /// Prints which versions of agents are not known.
    fn announce_versions(&self, out: &Output) -> anyhow::Result<()> {
        let mut unknown: BTreeMap<(AgentKind, &str), u64> = BTreeMap::new();
        for session in self.agents.iter().flat_map(|(_, scan)| &scan.sessions) {
            if let AgentVersion::Unknown(version) = &session.version {
                *unknown.entry((session.agent, version)).or_default() += 1;
            }
        }
        for ((agent, version), count) in unknown {
            let sessions = human::plural(count, "session");
            out.note(&printable(&format!(
                "{agent} {version} is not known to this version of Tidings; {sessions} of it may be incomplete"
            )))?;
        }
        Ok(())
    }
}

/// Prints what could not be read, and what is not known.
pub(crate) fn announce(agent: AgentKind, report: &ReadReport, out: &Output) -> anyhow::Result<()> {
    if let Some(first) = report.damaged.first() {
        let lines = human::plural(report.damaged_lines, "line");
        let text = format!(
            "{lines} of {agent} could not be read, first line {}: {}",
            first.place.line, first.message
        );
        out.note(&format!("{YELLOW}warning{PLAIN}: {}", printable(&text)))?;
    }
    let total: u64 = report.unknown.values().sum();
    if total > 0 {
        let mut kinds: Vec<String> =
            report.unknown.iter().map(|(kind, count)| format!("{kind} {count}")).take(KINDS_SHOWN).collect();
        if report.unknown.len() > KINDS_SHOWN {
            kinds.push("…".to_owned());
        }
        let records = human::plural(total, "record");
        out.note(&printable(&format!(
            "{records} of {agent} have an unknown kind ({}); `--full` shows them, `export --to ndjson` writes all \
             records as they are",
            kinds.join(", ")
        )))?;
    }
    Ok(())
}

/// Adds the remarks about one session to those about others.
pub(crate) fn add_report(sum: &mut ReadReport, report: &ReadReport) {
    sum.records += report.records;
    sum.damaged_lines += report.damaged_lines;
    if sum.damaged.is_empty() {
        sum.damaged.extend(report.damaged.first().cloned());
    }
    for (kind, count) in &report.unknown {
        *sum.unknown.entry(kind.clone()).or_default() += count;
    }
}

/// The error for an option or a command that reads sessions of Claude Code only.
pub(crate) fn only_claude(what: &str) -> CannotRun {
    CannotRun {
        code: CannotRun::USAGE,
        message: format!("{what} works with sessions of Claude Code only"),
        hint: "omit --backend; other agents have list, show, search, cost and export",
    }
}

/// Returns true if no session has the given name.
fn is_missing(error: &anyhow::Error) -> bool {
    let of_library = error.downcast_ref::<tidings_transcript::Error>();
    let of_command = error.downcast_ref::<CannotRun>();
    of_library.is_some_and(|error| error.kind() == tidings_transcript::ErrorKind::NotFound)
        || of_command.is_some_and(|error| error.code == "not_found")
}
