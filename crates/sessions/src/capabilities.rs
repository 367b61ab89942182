//! Capabilities: the scope that each field of a request needs, in one table.
//!
//! Every request to a session is taken apart here field by field. The patterns name all fields, so a field
//! that is added to a request does not compile until it has a capability. All endpoints (REST, WebSocket,
//! phone) call the same methods of `Sessions`, which check this table before they do anything.
#![expect(
    clippy::ref_option,
    clippy::unnecessary_wraps,
    reason = "each row of a table is a function from a field as it is declared to the capability that it needs"
)]

use tidings::Decision;
use tidings::permissions::{PermissionDestination, PermissionMode, PermissionUpdate};
use tidings_agent::questions::{
    APPROVE, APPROVE_AND_ACCEPT_EDITS, CliReply, Inquiry, Origin, Replied, Reply,
};
use tidings_api::{
    Budget, Choice, Code, CommandRequest, CreateSession, Input, PatchSession, PermissionAnswer,
    PermissionScope, Policy, QuestionAnswer, Scope,
};
use tidings_protocol::ui::RequestOutcome;

use crate::{Caller, Error};

/// The mode in which the CLI never asks for permission.
pub(crate) const BYPASS: &str = "bypassPermissions";

/// The mode of a session without a chosen mode. It is always passed to the CLI, whose own default comes from
/// settings files and may let tools run unasked.
pub const USUAL_MODE: &str = "default";

/// An ability that a field of a request gives to its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Capability {
    /// Sends prompts and commands to a session. The CLI still asks for permissions as before.
    Steer,
    /// Answers a request as it was asked.
    Decide,
    /// Answers a request with a changed tool input.
    EditInput,
    /// Lets tool calls run without a permission request.
    RunUnasked,
    /// Has the agent start programs, such as MCP servers.
    StartPrograms,
    /// Raises the budget of a session.
    RaiseBudget,
    /// Changes an option of an agent whose effect the server does not know, such as a sandbox.
    ChangeAgent,
    /// Lets everything run without permission requests.
    AskNobody,
}

/// A field of a request, and the capability that its value needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    pub(crate) field: &'static str,
    pub(crate) capability: Capability,
}

/// The server's setting for requests that let everything run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bypass {
    /// The server allows them.
    Allowed,
    /// The server refuses them.
    Refused,
}

impl Capability {
    /// The scope that a caller needs for it.
    pub(crate) fn scope(self) -> Scope {
        match self {
            Capability::Steer => Scope::Prompt,
            Capability::Decide => Scope::Decide,
            Capability::EditInput => Scope::Edit,
            Capability::RunUnasked => Scope::Always,
            Capability::StartPrograms
            | Capability::RaiseBudget
            | Capability::ChangeAgent
            | Capability::AskNobody => Scope::Admin,
        }
    }
}

impl Bypass {
    /// The setting `allow_bypass` of a server.
    pub fn from_setting(allow_bypass: bool) -> Self {
        if allow_bypass { Bypass::Allowed } else { Bypass::Refused }
    }
}

/// Refuses a request if its caller lacks one of the capabilities.
pub fn require(caller: &Caller, bypass: Bypass, needs: &[Need]) -> Result<(), Error> {
    for Need { field, capability } in needs {
        let scope = capability.scope();
        if !caller.scopes.has(scope) {
            let message = format!(
                "`{field}` with this value needs the scope `{scope}`, which `{}` does not have",
                caller.name
            );
            let hint = "leave it out, or pair the device again with more scopes";
            return Err(Error::new(Code::Forbidden, message, hint));
        }
        if *capability == Capability::AskNobody && bypass == Bypass::Refused {
            let message = "This server does not run agents without permission requests";
            return Err(Error::new(Code::Forbidden, message, "start it with `--allow-bypass`"));
        }
    }
    Ok(())
}

/// Takes a request apart. Each field has a function from its value to the capability that the value needs.
macro_rules! needs {
    ($request:expr => $Request:ident { $( $field:ident: $need:expr, )+ }) => {{
        let $Request { $( $field, )+ } = $request;
        let mut needs = Vec::new();
        $(
            let needed: Needed = ($need)($field);
            needs.push(Need { field: stringify!($field), capability: needed? });
        )+
        Ok(needs)
    }};
}

pub(crate) type Needed = Result<Capability, Error>;
type Needs = Result<Vec<Need>, Error>;

/// `POST /v1/sessions`, and `execute` of a phone.
pub(crate) fn of_create(new: &CreateSession) -> Needs {
    needs!(new => CreateSession {
        cwd: steer,
        prompt: steer,
        attachments: steer,
        model: steer,
        permission_mode: of_mode,
        policy: |policy: &Option<Policy>| of_policy(policy.as_ref(), Policy::Ask),
        resume: steer,
        fork: steer,
        fork_at: steer,
        title: steer,
        append_system_prompt: steer,
        allowed_tools: |rules: &Vec<String>| harmless_or(rules.is_empty(), Capability::RunUnasked),
        mcp_config: |config: &Option<_>| harmless_or(config.is_none(), Capability::StartPrograms),
        // Files in these folders are read unasked, and the folders can contain skills.
        add_dirs: |folders: &Vec<String>| harmless_or(folders.is_empty(), Capability::RunUnasked),
        max_turns: steer,
        budget_usd: steer,
        max_seconds: steer,
        continue_after_limit: |is_on: &bool| harmless_or(!*is_on, Capability::RunUnasked),
        labels: steer,
        demo: steer,
        backend: steer,
        keep_frames: steer,
        // It writes to the repository.
        worktree: |branch: &Option<_>| harmless_or(branch.is_none(), Capability::RunUnasked),
        client_id: steer,
    })
}

/// `PATCH /v1/sessions/{id}` of a session that has this policy and this budget.
pub(crate) fn of_patch(patch: &PatchSession, policy_before: Policy, budget_before: &Budget) -> Needs {
    let of_budget = |budget: &Option<Budget>| {
        let is_raised = budget.as_ref().is_some_and(|budget| raises(budget_before, budget));
        harmless_or(!is_raised, Capability::RaiseBudget)
    };
    needs!(patch => PatchSession {
        title: steer,
        labels: steer,
        budget: of_budget,
        policy: |policy: &Option<Policy>| of_policy(policy.as_ref(), policy_before),
        continue_after_limit: |is_on: &Option<bool>| {
            harmless_or(*is_on != Some(true), Capability::RunUnasked)
        },
        client_id: steer,
    })
}

/// `POST /v1/sessions/{id}/{command}`, and `command` of a WebSocket.
pub fn of_command(request: &CommandRequest) -> Needs {
    needs!(request => CommandRequest {
        mode: of_mode,
        model: steer,
        // The agent says what an option is: `of_option` decides then.
        option: steer,
        value: steer,
        prompt: steer,
        dry_run: steer,
        if_idle: steer,
        client_id: steer,
    })
}

/// The capability that an option of an agent needs. The agent says which category the option has.
pub(crate) fn of_option(category: Option<&str>) -> Capability {
    match category {
        Some("thought_level") => Capability::Steer,
        Some(_) | None => Capability::ChangeAgent,
    }
}

/// A change of an option of an agent. `bypasses` is true if the agent asks for nothing with the new value.
pub(crate) fn of_option_value(category: Option<&str>, bypasses: bool) -> Vec<Need> {
    let mut needs = vec![Need { field: "option", capability: of_option(category) }];
    if bypasses {
        needs.push(Need { field: "value", capability: Capability::AskNobody });
    }
    needs
}

/// A prompt, from any endpoint.
pub(crate) fn of_input(input: &Input) -> Needs {
    needs!(input => Input {
        content: steer,
        session_id: steer,
        turn_id: steer,
        metadata: steer,
        delivery: steer,
        attachments: steer,
        client_id: steer,
    })
}

/// The answer to a permission, from any endpoint.
pub(crate) fn of_permission_answer(answer: &PermissionAnswer) -> Needs {
    let is_yes = answer.decision == Choice::Allow;
    let of_scope = |scope: &PermissionScope| {
        Ok(match scope {
            // A grant and a rule let later calls run unasked.
            PermissionScope::Session | PermissionScope::Always if is_yes => Capability::RunUnasked,
            PermissionScope::Once | PermissionScope::Session | PermissionScope::Always => Capability::Decide,
        })
    };
    let of_changed = |input: &Option<_>| {
        Ok(if is_yes && input.is_some() { Capability::EditInput } else { Capability::Decide })
    };
    needs!(answer => PermissionAnswer {
        decision: decide,
        scope: of_scope,
        updated_input: of_changed,
        message: decide,
        interrupt: decide,
        digest: decide,
        client_id: decide,
    })
}

/// The answers to questions, from any endpoint. Some answers to a plan let its steps run unasked.
pub(crate) fn of_question_answer(answer: &QuestionAnswer, inquiry: Option<&Inquiry>) -> Needs {
    let is_cancelled = answer.cancel;
    let of_answers = |answers: &Vec<tidings_api::QuestionReply>| {
        let replies = answers.iter().map(|reply| Reply::new(&reply.question_id, reply.answer.clone()));
        let runs_unasked = !is_cancelled
            && match inquiry {
                Some(inquiry) => allows_unasked(inquiry, replies.collect()),
                // The agent may ask again soon, so approving words of a plan count.
                None => replies.flat_map(|reply| reply.answer).any(|word| approves_plan(&word)),
            };
        Ok(if runs_unasked { Capability::RunUnasked } else { Capability::Decide })
    };
    needs!(answer => QuestionAnswer {
        answers: of_answers,
        cancel: decide,
        client_id: decide,
    })
}

/// The capability that a permission mode needs. A mode that is not in this table is refused.
fn of_mode(mode: &Option<String>) -> Needed {
    of_mode_name(mode.as_deref())
}

/// The same for its name.
pub(crate) fn of_mode_name(mode: Option<&str>) -> Needed {
    Ok(match mode {
        None | Some(USUAL_MODE | "manual" | "plan" | "dontAsk") => Capability::Steer,
        Some("acceptEdits" | "auto") => Capability::RunUnasked,
        Some(BYPASS) => Capability::AskNobody,
        Some(mode) => {
            let hint = "use default, plan, dontAsk, acceptEdits, auto or bypassPermissions";
            return Err(Error::new(Code::Invalid, format!("There is no permission mode `{mode}`"), hint));
        }
    })
}

/// The capability that a policy needs in a session that would ask otherwise.
pub(crate) fn of_policy_alone(policy: Policy) -> Needed {
    of_policy(Some(&policy), Policy::Ask)
}

/// The capability that a policy needs in a session that has another one.
fn of_policy(policy: Option<&Policy>, before: Policy) -> Needed {
    Ok(match policy {
        Some(Policy::Unknown) => return Err(unknown_policy()),
        Some(Policy::Allow) => Capability::AskNobody,
        Some(policy) if rank(*policy) > rank(before) => Capability::RunUnasked,
        Some(_) | None => Capability::Steer,
    })
}

/// The error for a policy that this version does not have.
pub(crate) fn unknown_policy() -> Error {
    let hint = "use ask, standard, unattended, deny or allow";
    Error::new(Code::Invalid, "There is no such policy", hint)
}

/// Policies in order: a higher one asks about less, or refuses less.
fn rank(policy: Policy) -> u8 {
    match policy {
        Policy::Deny => 0,
        // The user decides what an unknown policy would decide.
        Policy::Ask | Policy::Unknown => 1,
        Policy::Standard => 2,
        // Without subscribers, more than the known harmless calls run.
        Policy::Unattended => 3,
        Policy::Allow => 4,
    }
}

/// True if one of the limits is higher than before, or gone.
fn raises(before: &Budget, after: &Budget) -> bool {
    fn is_more<T: PartialOrd>(before: Option<T>, after: Option<T>) -> bool {
        before.is_some_and(|before| after.is_none_or(|after| after > before))
    }
    let Budget { max_turns, budget_usd, max_seconds } = after;
    is_more(before.max_turns, *max_turns)
        || is_more(before.budget_usd, *budget_usd)
        || is_more(before.max_seconds, *max_seconds)
}

/// True if these answers let the agent do more unasked than in its usual mode.
fn allows_unasked(inquiry: &Inquiry, replies: Vec<Reply>) -> bool {
    let outcome = RequestOutcome::by_person(Replied::Answers(replies), "");
    let CliReply::Tool(Decision::Allow(allow)) = inquiry.cli_reply(&outcome) else { return false };
    let usual = PermissionUpdate::set_mode(PermissionMode::DEFAULT, PermissionDestination::SESSION);
    let is_looser = allow.updated_permissions.iter().flatten().any(|update| *update != usual);
    // A plan can name prompts that it would run unasked; approving the plan approves them.
    let names_prompts = match &inquiry.origin {
        Origin::Plan(input) => {
            let input: serde_json::Value = serde_json::from_str(input.raw().as_str()).unwrap_or_default();
            let prompts = &input["allowedPrompts"];
            !prompts.is_null() && prompts.as_array().is_none_or(|prompts| !prompts.is_empty())
        }
        _ => false,
    };
    is_looser || names_prompts
}

fn approves_plan(word: &str) -> bool {
    [APPROVE, APPROVE_AND_ACCEPT_EDITS].contains(&word)
}

fn steer<T>(_: &T) -> Needed {
    Ok(Capability::Steer)
}

fn decide<T>(_: &T) -> Needed {
    Ok(Capability::Decide)
}

fn harmless_or(is_harmless: bool, capability: Capability) -> Needed {
    Ok(if is_harmless { Capability::Steer } else { capability })
}

#[cfg(test)]
mod tests;
