//! `tidings approve` and `tidings deny`: what waits, shown before it is decided.

use clap::Args;
use serde::Serialize;
use tidings_protocol::api::{
    AnswerResult, Choice, PendingPermission, PermissionAnswer, PermissionList, PermissionScope,
};
use uuid::Uuid;

use super::named;
use crate::confirm::confirm;
use crate::error::{CannotRun, Exit};
use crate::human;
use crate::output::{Output, printable};
use crate::remote::{Remote, RemoteArgs};
use crate::terminal::ask::PermissionAsk;

/// Allow what a session of the server waits for
#[derive(Debug, Args)]
#[command(after_help = APPROVE_EXAMPLES)]
pub(crate) struct Approve {
    #[command(flatten)]
    which: Which,

    /// Also what the same grant covers, until the session ends
    #[arg(long, conflicts_with = "always")]
    for_session: bool,

    /// Also add the rules that are shown to the settings, so that it is never asked again
    #[arg(long)]
    always: bool,

    /// Do not ask whether that is what you mean
    #[arg(long, short)]
    yes: bool,
}

/// Refuse what a session of the server waits for
#[derive(Debug, Args)]
#[command(after_help = DENY_EXAMPLES)]
pub(crate) struct Deny {
    #[command(flatten)]
    which: Which,

    /// What the agent is told
    #[arg(long, short, value_name = "TEXT")]
    reason: Option<String>,

    /// Also end the turn
    #[arg(long)]
    interrupt: bool,
}

/// What is decided.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// The session: its number, its key, or the beginning of one
    session: String,

    /// What waits, if it is not the only thing; without it what waits is listed
    tool_use_id: Option<String>,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

const APPROVE_EXAMPLES: &str = "\
Examples:
  tidings approve 3                     shows what session 3 wants to do, and asks
  tidings approve 3 toolu_01A --yes     for scripts: this one and nothing else
  tidings approve 3 --for-session

What is allowed is what was shown: if the agent asks for something else meanwhile, nothing is allowed. \
Questions are answered with `tidings attach`.";

const DENY_EXAMPLES: &str = "\
Examples:
  tidings deny 3
  tidings deny 3 --reason \"use the test database\"
  tidings deny 3 toolu_01A --interrupt";

/// What waits, for scripts.
#[derive(Serialize)]
struct Waiting<'a> {
    waiting: &'a [PendingPermission],
}

impl Approve {
    pub(crate) fn wants_json(&self) -> bool {
        self.which.remote.json
    }

    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let scope = match (self.for_session, self.always) {
            (true, _) => PermissionScope::Session,
            (_, true) => PermissionScope::Always,
            _ => PermissionScope::Once,
        };
        let mut answer = answer(Choice::Allow);
        answer.scope = scope;
        self.which.decide(answer, if self.yes { Ask::Nobody } else { Ask::Person }, out)
    }
}

impl Deny {
    pub(crate) fn wants_json(&self) -> bool {
        self.which.remote.json
    }

    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let mut answer = answer(Choice::Deny);
        answer.message.clone_from(&self.reason);
        answer.interrupt = self.interrupt;
        // A no can be given again as a yes.
        self.which.decide(answer, Ask::Nobody, out)
    }
}

/// Whether somebody has to say that this is what they mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ask {
    Person,
    Nobody,
}

impl Which {
    fn decide(&self, mut answer: PermissionAnswer, ask: Ask, out: &mut Output) -> anyhow::Result<Exit> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let remote = self.remote.remote()?;
        let waiting = runtime.block_on(self.waiting(&remote))?;
        let [permission] = &waiting[..] else { return self.list(&waiting, answer.scope, out) };
        let mut rules = Vec::new();
        // Whoever is asked has to see what about, also where the result is for a script.
        if ask == Ask::Person || !self.remote.json {
            rules = Self::show(permission, answer.scope, out)?;
        }
        if ask == Ask::Person && !confirm(&question(answer.scope, rules.len()))? {
            out.note("Nothing was decided")?;
            return Ok(Exit::NotFine);
        }
        // What is decided is what was shown.
        answer.digest.clone_from(&permission.details.digest);
        let path =
            format!("/v1/sessions/{}/permissions/{}", permission.handle, segment(&permission.tool_use_id));
        let result: AnswerResult = runtime.block_on(remote.post(&path, &answer))?;
        if self.remote.json {
            out.text(&format!("{}\n", serde_json::to_string(&result)?))?;
        } else {
            out.note(&format!("{}: {}", printable(&result.tool_use_id), printable(&result.outcome)))?;
        }
        Ok(Exit::Fine)
    }

    /// What waits in the session: the one that is named, or all of it.
    async fn waiting(&self, remote: &Remote) -> anyhow::Result<Vec<PendingPermission>> {
        let session = named::session(remote, &self.session).await?;
        let list: PermissionList = remote.get(&format!("/v1/permissions?session={}", session.key)).await?;
        let mut waiting = list.items;
        if let Some(id) = &self.tool_use_id {
            waiting.retain(|permission| permission.tool_use_id == *id);
        }
        if waiting.is_empty() {
            let what = match &self.tool_use_id {
                Some(id) => format!("`{}` does not wait for an answer", printable(id)),
                None => format!("Session {} waits for no permission", session.handle),
            };
            let hint = if session.pending_questions > 0 {
                "it asks a question: answer it with `tidings attach`"
            } else {
                "somebody may have answered; see `tidings ps`"
            };
            return Err(CannotRun { code: "not_found", message: what, hint }.into());
        }
        Ok(waiting)
    }

    fn list(
        &self,
        waiting: &[PendingPermission],
        scope: PermissionScope,
        out: &mut Output,
    ) -> anyhow::Result<Exit> {
        if self.remote.json {
            out.text(&format!("{}\n", serde_json::to_string(&Waiting { waiting })?))?;
            return Ok(Exit::NotFine);
        }
        for permission in waiting {
            Self::show(permission, scope, out)?;
        }
        let count = human::plural(waiting.len() as u64, "permission");
        out.note(&format!("{count} wait; name one of them"))?;
        Ok(Exit::NotFine)
    }

    /// What is asked, and the rules that a yes for always would add. Gives these.
    fn show(
        permission: &PendingPermission,
        scope: PermissionScope,
        out: &Output,
    ) -> anyhow::Result<Vec<String>> {
        let ask = PermissionAsk::new(permission.request.as_ref(), Some(&permission.details));
        out.note(&printable(&permission.tool_use_id))?;
        for line in ask.introduction(human::columns()) {
            out.note(&line.ansi())?;
        }
        for rule in ask.rules.iter().filter(|_| scope == PermissionScope::Always) {
            out.note(&format!("  always: {}", printable(rule)))?;
        }
        Ok(ask.rules)
    }
}

/// What a yes would do.
fn question(scope: PermissionScope, rules: usize) -> String {
    match (scope, rules) {
        (PermissionScope::Always, 1) => "Allow this, and add the rule?".to_owned(),
        (PermissionScope::Always, 2..) => "Allow this, and add the rules?".to_owned(),
        (PermissionScope::Session, _) => "Allow this, and the like until the session ends?".to_owned(),
        _ => "Allow this?".to_owned(),
    }
}

fn answer(decision: Choice) -> PermissionAnswer {
    PermissionAnswer {
        decision,
        scope: PermissionScope::Once,
        updated_input: None,
        message: None,
        interrupt: false,
        digest: None,
        client_id: Some(Uuid::new_v4().to_string()),
    }
}

/// A name as a part of an address.
pub(crate) fn segment(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let part = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.bytes().map(part).collect()
}
