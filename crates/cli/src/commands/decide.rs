//! `tidings approve` and `tidings deny`: shows a pending permission request, and then answers it.

use clap::Args;
use serde::Serialize;
use tidings_api::{
    AnswerResult, Choice, PendingPermission, PermissionAnswer, PermissionList, PermissionScope, SessionView,
};
use tidings_commands::confirm::confirm;
use tidings_commands::error::{CannotRun, Exit};
use tidings_commands::human;
use tidings_commands::output::{Output, printable};
use tidings_commands::session_label::{WithSession, label};
use tidings_commands::terminal::ask::PermissionAsk;
use tidings_remote::{RemoteServer, segment};

use super::session_lookup;
use crate::commands::remote::RemoteArgs;

/// Approve a pending permission request of a session
#[derive(Debug, Args)]
#[command(after_help = APPROVE_EXAMPLES)]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    request: RequestArgs,

    /// Also approve later requests of the same kind until the session ends
    #[arg(long, conflicts_with = "always")]
    for_session: bool,

    /// Also add the rules that are shown to the settings, so that later requests need no approval
    #[arg(long)]
    always: bool,

    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

/// Deny a pending permission request of a session
#[derive(Debug, Args)]
#[command(after_help = DENY_EXAMPLES)]
pub(crate) struct DenyArgs {
    #[command(flatten)]
    request: RequestArgs,

    /// Reason to send to the agent
    #[arg(long, short, value_name = "TEXT")]
    reason: Option<String>,

    /// Also end the turn
    #[arg(long)]
    interrupt: bool,

    /// Do not ask for confirmation, as with `approve`; a denial is never confirmed
    #[arg(long, short)]
    yes: bool,
}

/// Arguments that select the request.
#[derive(Debug, Args)]
pub(crate) struct RequestArgs {
    /// Session number, key or Claude Code session id, or at least the first four characters of a key or
    /// id; without one, a list is shown to choose from
    session: Option<String>,

    /// Request to answer, if several are pending; without it they are listed
    tool_use_id: Option<String>,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

const APPROVE_EXAMPLES: &str = "\
Examples:
  tidings approve 3                     show the request of session 3, and ask for confirmation
  tidings approve 3 toolu_01A --yes     for scripts: approve exactly this request
  tidings approve 3 --for-session

Only the request that was shown is approved: if it changed in the meantime, nothing is approved. \
Answer questions with `tidings attach`.";

const DENY_EXAMPLES: &str = "\
Examples:
  tidings deny 3
  tidings deny 3 --reason \"use the test database\"
  tidings deny 3 toolu_01A --interrupt";

/// JSON list of pending requests.
#[derive(Serialize)]
struct PendingList<'a> {
    waiting: &'a [PendingPermission],
}

impl ApproveArgs {
    pub(crate) fn wants_json(&self) -> bool {
        self.request.remote.json
    }

    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let scope = match (self.for_session, self.always) {
            (true, _) => PermissionScope::Session,
            (_, true) => PermissionScope::Always,
            _ => PermissionScope::Once,
        };
        let mut answer = PermissionAnswer::new(Choice::Allow);
        answer.scope = scope;
        self.request.decide(answer, if self.yes { Confirmation::Skip } else { Confirmation::Ask }, out)
    }
}

impl DenyArgs {
    pub(crate) fn wants_json(&self) -> bool {
        self.request.remote.json
    }

    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let mut answer = PermissionAnswer::new(Choice::Deny);
        answer.message.clone_from(&self.reason);
        answer.interrupt = self.interrupt;
        // A denial does no harm: the agent can ask again.
        self.request.decide(answer, Confirmation::Skip, out)
    }
}

/// Confirmation by the user before a decision is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Confirmation {
    Ask,
    Skip,
}

impl RequestArgs {
    fn decide(
        &self,
        mut answer: PermissionAnswer,
        confirmation: Confirmation,
        out: &mut Output,
    ) -> anyhow::Result<Exit> {
        let waits = |session: &SessionView| session.pending_permissions > 0;
        let name = session_lookup::name_or_pick_from(self.session.as_deref(), &self.remote, waits, out)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let remote = self.remote.remote()?;
        let (session, waiting) = runtime.block_on(self.pending(&remote, &name))?;
        // The user must see whose request it is, before they confirm it.
        if confirmation == Confirmation::Ask || !self.remote.json {
            out.note(&label(&session))?;
        }
        let [permission] = &waiting[..] else { return self.list(&session, &waiting, answer.scope, out) };
        let mut rules = Vec::new();
        // The user must see what they confirm, even if the result is printed as JSON. Rules outlive the
        // request, so they are shown in any case.
        let adds_rules = answer.scope == PermissionScope::Always;
        if confirmation == Confirmation::Ask || !self.remote.json || adds_rules {
            rules = Self::show(permission, answer.scope, out)?;
        }
        if adds_rules && rules.is_empty() {
            let message = "This request does not offer `--always`: no rule covers it without allowing more";
            let hint = "approve it without `--always`";
            return Err(CannotRun { code: "unprocessable", message: message.to_owned(), hint }.into());
        }
        if confirmation == Confirmation::Ask && !confirm(&question(answer.scope, rules.len()))? {
            out.note("No decision was sent")?;
            return Ok(Exit::Failure);
        }
        // The server accepts the decision only for the request that was shown.
        answer.digest.clone_from(&permission.details.digest);
        let path =
            format!("/v1/sessions/{}/permissions/{}", permission.handle, segment(&permission.tool_use_id));
        let result: AnswerResult = runtime.block_on(remote.command(&path, &answer))?;
        if self.remote.json {
            out.json(&WithSession::new(&session, &result))?;
        } else {
            let (id, outcome) = (printable(&result.tool_use_id), printable(&result.outcome));
            out.note(&format!("Answered {}: {id} {outcome}", label(&session)))?;
        }
        Ok(Exit::Success)
    }

    /// Fetches the session and its pending requests, or the named one only.
    async fn pending(
        &self,
        remote: &RemoteServer,
        name: &str,
    ) -> anyhow::Result<(SessionView, Vec<PendingPermission>)> {
        let session = session_lookup::session(remote, name).await?;
        let list: PermissionList = remote.get(&format!("/v1/permissions?session={}", session.key)).await?;
        let mut waiting = list.items;
        if let Some(id) = &self.tool_use_id {
            waiting.retain(|permission| permission.tool_use_id == *id);
        }
        if waiting.is_empty() {
            let what = match &self.tool_use_id {
                Some(id) => format!("No pending permission request has the id `{}`", printable(id)),
                None => format!("Session {} has no pending permission request", label(&session)),
            };
            let hint = if session.pending_questions > 0 {
                "it has a pending question: answer it with `tidings attach`"
            } else {
                "it may have been answered already; see `tidings ps`"
            };
            return Err(CannotRun { code: "not_found", message: what, hint }.into());
        }
        Ok((session, waiting))
    }

    fn list(
        &self,
        session: &SessionView,
        waiting: &[PendingPermission],
        scope: PermissionScope,
        out: &mut Output,
    ) -> anyhow::Result<Exit> {
        if self.remote.json {
            out.json(&WithSession::new(session, &PendingList { waiting }))?;
            return Ok(Exit::Failure);
        }
        for permission in waiting {
            Self::show(permission, scope, out)?;
        }
        let count = human::plural(waiting.len() as u64, "permission request");
        out.note(&format!("{count} are pending; name one of them"))?;
        Ok(Exit::Failure)
    }

    /// Prints a request, with the rules that `--always` would add. Returns these rules.
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

/// Text of the confirmation prompt.
fn question(scope: PermissionScope, rules: usize) -> String {
    match (scope, rules) {
        (PermissionScope::Always, 1) => "Allow this, and add the rule?".to_owned(),
        (PermissionScope::Always, 2..) => "Allow this, and add the rules?".to_owned(),
        (PermissionScope::Session, _) => "Allow this, and the same until the session ends?".to_owned(),
        _ => "Allow this?".to_owned(),
    }
}
