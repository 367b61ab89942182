//! Pending requests of a session as requests to an editor, and its answers.

use agent_client_protocol_schema::v1 as acp;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tidings_api::{
    Choice, PendingPermission, PendingQuestion, PermissionAnswer, PermissionScope, QuestionAnswer,
    QuestionReply,
};
use tidings_protocol::ui::{
    AskUserQuestionsRequest, PermissionDetails, Question, QuestionDetails, QuestionKind, QuestionType,
};

use super::calls::ClientFeatures;
use super::content::text_block;
use super::tools::{self, IntoContent as _};
use crate::rpc::{self, Id, RpcError};

/// A pending request of a session.
#[derive(Debug, Clone, PartialEq)]
pub enum PendingRequest {
    /// A permission request.
    Permission(Box<PermissionDetails>),
    /// Questions, a plan or a form.
    Question {
        /// The questions.
        request: AskUserQuestionsRequest,
        /// Their details.
        details: Box<QuestionDetails>,
        /// The plan that waits for approval.
        plan: Option<String>,
    },
}

/// A request to an editor.
#[derive(Debug, Clone, PartialEq)]
pub struct EditorRequest {
    /// Its id, which is the same on every connection.
    pub id: Id,
    /// The method.
    pub method: &'static str,
    /// The parameters.
    pub params: Value,
    /// The request of the session.
    pub ask: PendingRequest,
}

/// The answer of an editor.
#[derive(Debug, Clone, PartialEq)]
pub enum EditorAnswer {
    /// To a permission request.
    Permission(PermissionAnswer),
    /// To questions.
    Question(QuestionAnswer),
    /// None: the editor cannot answer it, and others may.
    None,
}

const ALLOW: &str = "allow_once";
const ALLOW_SESSION: &str = "allow_session";
const ALLOW_ALWAYS: &str = "allow_always";
const REJECT: &str = "reject_once";

/// Name of the field for an own answer, after that of the question.
const OTHER: &str = "_other";

/// Answers to a plan, as the session names them, with their kind.
const PLAN_ANSWERS: [(&str, acp::PermissionOptionKind); 3] = [
    ("Approve and accept edits", acp::PermissionOptionKind::AllowAlways),
    ("Approve", acp::PermissionOptionKind::AllowOnce),
    ("Keep planning", acp::PermissionOptionKind::RejectOnce),
];

impl From<PendingPermission> for PendingRequest {
    fn from(pending: PendingPermission) -> Self {
        PendingRequest::Permission(Box::new(pending.details))
    }
}

impl From<PendingQuestion> for PendingRequest {
    fn from(pending: PendingQuestion) -> Self {
        PendingRequest::Question {
            request: pending.request,
            details: Box::new(pending.details),
            plan: pending.plan,
        }
    }
}

impl PendingRequest {
    /// Id of the request in its session.
    pub fn tool_use_id(&self) -> &str {
        match self {
            PendingRequest::Permission(details) => &details.tool_use_id,
            PendingRequest::Question { details, .. } => &details.tool_use_id,
        }
    }

    /// Id of the request to an editor.
    pub fn id(&self, session: &str) -> Id {
        Id::of_text(&format!("{session}/{}", self.tool_use_id()))
    }

    /// The request to an editor; `None` if the editor cannot show it. `may_always` offers answers for later
    /// calls too.
    pub fn to_editor(
        self,
        session: &str,
        features: &ClientFeatures,
        may_always: bool,
    ) -> Option<EditorRequest> {
        let id = self.id(session);
        let (method, params) = match &self {
            PendingRequest::Permission(details) => {
                ("session/request_permission", permission(session, details, may_always))
            }
            PendingRequest::Question { request, details, plan } => match details.kind {
                QuestionKind::Plan => (
                    "session/request_permission",
                    plan_request(session, request, details, plan.as_deref(), may_always)?,
                ),
                QuestionKind::Elicitation => {
                    let params = match &details.url {
                        Some(url) => features.urls.then(|| page(session, details, url)),
                        None => features.forms.then(|| mcp_form(session, request, details)),
                    };
                    ("elicitation/create", params?)
                }
                QuestionKind::Questions if features.forms => {
                    ("elicitation/create", form(session, request, details)?)
                }
                QuestionKind::Questions => {
                    ("session/request_permission", single_choice(session, request, details)?)
                }
                // Others can answer a kind that this version does not know.
                _ => return None,
            },
        };
        Some(EditorRequest { id, method, params, ask: self })
    }

    /// The editor's response as an answer.
    pub fn answer(&self, method: &str, response: &Result<Box<RawValue>, RpcError>) -> EditorAnswer {
        let Ok(response) = response else { return EditorAnswer::None };
        if method == "elicitation/create" {
            let Ok(response) = serde_json::from_str::<acp::CreateElicitationResponse>(response.get()) else {
                return EditorAnswer::None;
            };
            return self.elicited(&response.action);
        }
        let Ok(response) = serde_json::from_str::<acp::RequestPermissionResponse>(response.get()) else {
            return EditorAnswer::None;
        };
        let chosen = match &response.outcome {
            acp::RequestPermissionOutcome::Selected(chosen) => Some(chosen.option_id.to_string()),
            _ => None,
        };
        match self {
            PendingRequest::Permission(details) => permission_answer(details, chosen.as_deref()),
            PendingRequest::Question { request, .. } => choice_answer(request, chosen),
        }
    }

    fn elicited(&self, action: &acp::ElicitationAction) -> EditorAnswer {
        let PendingRequest::Question { request, details, .. } = self else { return EditorAnswer::None };
        let content = match action {
            acp::ElicitationAction::Accept(accepted) => accepted.content.clone().unwrap_or_default(),
            acp::ElicitationAction::Decline | acp::ElicitationAction::Cancel => return cancelled(),
            _ => return EditorAnswer::None,
        };
        let texts = |key: &str| -> Vec<String> {
            match content.get(key) {
                Some(acp::ElicitationContentValue::StringArray(texts)) => texts.clone(),
                Some(acp::ElicitationContentValue::String(text)) if text.is_empty() => Vec::new(),
                Some(value) => vec![match value {
                    acp::ElicitationContentValue::String(text) => text.clone(),
                    value => serde_json::to_string(value).unwrap_or_default(),
                }],
                None => Vec::new(),
            }
        };
        let is_form = details.kind == QuestionKind::Elicitation;
        let answers = request.questions.iter().enumerate().filter_map(|(index, question)| {
            let key = if is_form { question.id.clone() } else { format!("question_{index}") };
            let own = texts(&format!("{key}{OTHER}"));
            let mut answer = texts(&key);
            if question.question_type == QuestionType::MultiChoice {
                answer.extend(own);
            } else if !own.is_empty() {
                answer = own;
            }
            (!answer.is_empty()).then(|| QuestionReply { question_id: question.id.clone(), answer })
        });
        EditorAnswer::Question(QuestionAnswer { answers: answers.collect(), ..QuestionAnswer::default() })
    }
}

fn permission(session: &str, details: &PermissionDetails, may_always: bool) -> Value {
    let shown = tools::shown(&details.tool_name, &details.input);
    let mut content = shown.content;
    if let Some(reason) = details.decision_reason.as_ref().or(details.description.as_ref()) {
        content.push(text_block(reason.clone()).into_content());
    }
    let mut fields = acp::ToolCallUpdateFields::new()
        .title(details.title.clone().unwrap_or(shown.title))
        .kind(shown.kind)
        .status(acp::ToolCallStatus::Pending)
        .locations(shown.locations)
        .raw_input(details.input.clone());
    let rules = details.suggestions.as_ref().filter(|_| may_always).map(rules).unwrap_or_default();
    if !rules.is_empty() {
        // Editors shorten the names of options.
        let text = format!("“Always allow” adds {}:\n{}", count(rules.len()), rules.join("\n"));
        content.push(text_block(text).into_content());
    }
    if !content.is_empty() {
        fields = fields.content(content);
    }
    let mut options = vec![option(ALLOW, "Allow", acp::PermissionOptionKind::AllowOnce)];
    if may_always {
        options.push(option(ALLOW_SESSION, "Allow for this session", acp::PermissionOptionKind::AllowAlways));
        if !rules.is_empty() {
            let all = rules.join(", ");
            let name = match rules.len() {
                1 => format!("Always allow {all}"),
                more => format!("Always allow ({}) {all}", count(more)),
            };
            options.push(option(ALLOW_ALWAYS, &name, acp::PermissionOptionKind::AllowAlways));
        }
    }
    options.push(option(REJECT, "Reject", acp::PermissionOptionKind::RejectOnce));
    let call = acp::ToolCallUpdate::new(details.tool_use_id.clone(), fields);
    rpc::to_value(&acp::RequestPermissionRequest::new(session.to_owned(), call, options))
}

fn count(rules: usize) -> String {
    if rules == 1 { "this rule".to_owned() } else { format!("{rules} rules") }
}

/// Every rule that "always" adds, as text.
fn rules(suggestions: &Value) -> Vec<String> {
    let rule = |rule: &Value| {
        let tool = rule["toolName"].as_str()?;
        Some(
            rule["ruleContent"]
                .as_str()
                .map_or_else(|| tool.to_owned(), |content| format!("{tool}({content})")),
        )
    };
    let updates = suggestions.as_array().into_iter().flatten();
    let added = updates.filter(|update| update["type"] == "addRules");
    added.filter_map(|update| update["rules"].as_array()).flatten().filter_map(rule).collect()
}

fn permission_answer(details: &PermissionDetails, chosen: Option<&str>) -> EditorAnswer {
    let (decision, scope) = match chosen {
        Some(ALLOW) => (Choice::Allow, PermissionScope::Once),
        Some(ALLOW_SESSION) => (Choice::Allow, PermissionScope::Session),
        Some(ALLOW_ALWAYS) => (Choice::Allow, PermissionScope::Always),
        // An option that was not offered is not an approval, and neither is a closed dialog.
        _ => (Choice::Deny, PermissionScope::Once),
    };
    EditorAnswer::Permission(PermissionAnswer {
        decision,
        scope,
        updated_input: None,
        message: None,
        interrupt: chosen.is_none(),
        digest: details.digest.clone(),
        client_id: None,
    })
}

fn plan_request(
    session: &str,
    request: &AskUserQuestionsRequest,
    details: &QuestionDetails,
    plan: Option<&str>,
    may_always: bool,
) -> Option<Value> {
    let offered = request.questions.first()?.options.as_ref()?;
    let options = PLAN_ANSWERS
        .into_iter()
        .filter(|(answer, kind)| {
            offered.iter().any(|offer| offer == answer)
                && (may_always || *kind != acp::PermissionOptionKind::AllowAlways)
        })
        .map(|(answer, kind)| option(answer, answer, kind))
        .collect();
    let text = plan.map_or_else(|| request.questions[0].text.clone(), str::to_owned);
    let fields = acp::ToolCallUpdateFields::new()
        .title("Ready to code?".to_owned())
        .kind(acp::ToolKind::SwitchMode)
        .status(acp::ToolCallStatus::Pending)
        .content(vec![text_block(text).into_content()]);
    let call = acp::ToolCallUpdate::new(details.tool_use_id.clone(), fields);
    Some(rpc::to_value(&acp::RequestPermissionRequest::new(session.to_owned(), call, options)))
}

/// One question with one choice, for an editor without forms.
fn single_choice(
    session: &str,
    request: &AskUserQuestionsRequest,
    details: &QuestionDetails,
) -> Option<Value> {
    let [question] = request.questions.as_slice() else { return None };
    if question.question_type != QuestionType::SingleChoice {
        return None;
    }
    let options = question.options.as_ref()?.iter();
    let options = options.map(|label| option(label, label, acp::PermissionOptionKind::AllowOnce)).collect();
    let fields = acp::ToolCallUpdateFields::new()
        .title(question.text.clone())
        .kind(acp::ToolKind::Other)
        .status(acp::ToolCallStatus::Pending);
    let call = acp::ToolCallUpdate::new(details.tool_use_id.clone(), fields);
    Some(rpc::to_value(&acp::RequestPermissionRequest::new(session.to_owned(), call, options)))
}

fn choice_answer(request: &AskUserQuestionsRequest, chosen: Option<String>) -> EditorAnswer {
    let offered = |question: &&Question| {
        let options = question.options.iter().flatten();
        chosen.as_ref().is_some_and(|chosen| options.into_iter().any(|option| option == chosen))
    };
    match (request.questions.first().filter(offered), chosen) {
        (Some(question), Some(chosen)) => EditorAnswer::Question(QuestionAnswer {
            answers: vec![QuestionReply { question_id: question.id.clone(), answer: vec![chosen] }],
            ..QuestionAnswer::default()
        }),
        _ => cancelled(),
    }
}

fn cancelled() -> EditorAnswer {
    EditorAnswer::Question(QuestionAnswer { cancel: true, ..QuestionAnswer::default() })
}

/// A form with one field per question, and one for an own answer to each; `None` if it has a question of a
/// type that this version does not know.
fn form(session: &str, request: &AskUserQuestionsRequest, details: &QuestionDetails) -> Option<Value> {
    let mut schema = acp::ElicitationSchema::new();
    for (index, question) in request.questions.iter().enumerate() {
        let note = details.questions.iter().find(|note| note.id == question.id);
        let title = note.and_then(|note| note.header.clone());
        let choice = |(at, label): (usize, &String)| {
            let about = note.and_then(|note| note.options.get(at)?.description.clone());
            acp::EnumOption::new(label, label).description(about)
        };
        let choices = || question.options.iter().flatten().enumerate().map(choice).collect();
        let text = question.text.clone();
        let one = acp::StringPropertySchema::new().title(title.clone()).description(text.clone());
        let field: acp::ElicitationPropertySchema = match question.question_type {
            QuestionType::SingleChoice => one.one_of(Some(choices())).into(),
            QuestionType::MultiChoice => {
                acp::MultiSelectPropertySchema::titled(choices()).title(title).description(text).into()
            }
            QuestionType::FreeText => one.into(),
            _ => return None,
        };
        let key = format!("question_{index}");
        if question.question_type != QuestionType::FreeText {
            let own = acp::StringPropertySchema::new().title("Other".to_owned());
            let own = own.description("An answer of your own".to_owned());
            schema = schema.property(format!("{key}{OTHER}"), own, false);
        }
        schema = schema.property(key, field, false);
    }
    let message =
        details.message.clone().or_else(|| request.questions.first().map(|question| question.text.clone()));
    Some(elicitation(session, details, message, schema))
}

/// The form of an MCP server, as the server wrote it.
fn mcp_form(session: &str, request: &AskUserQuestionsRequest, details: &QuestionDetails) -> Value {
    let message = details.message.clone();
    if let Some(schema) = details.schema.clone().filter(Value::is_object) {
        return elicitation(session, details, message, schema);
    }
    let schema = request.questions.iter().fold(acp::ElicitationSchema::new(), |schema, question| {
        let field = acp::StringPropertySchema::new().description(question.text.clone());
        schema.property(question.id.clone(), field, false)
    });
    elicitation(session, details, message, schema)
}

/// A request for a form. The protocol's own type would drop members of a schema that it does not know.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct FormRequest<T> {
    #[serde(flatten)]
    scope: acp::ElicitationSessionScope,
    mode: &'static str,
    message: String,
    requested_schema: T,
}

fn elicitation(
    session: &str,
    details: &QuestionDetails,
    message: Option<String>,
    requested_schema: impl Serialize,
) -> Value {
    let scope = acp::ElicitationSessionScope::new(session.to_owned());
    rpc::to_value(&FormRequest {
        scope: scope.tool_call_id(acp::ToolCallId::new(&*details.tool_use_id)),
        mode: "form",
        message: message.unwrap_or_else(|| "The agent has a question".to_owned()),
        requested_schema,
    })
}

/// A question that is asked on a web page.
fn page(session: &str, details: &QuestionDetails, url: &str) -> Value {
    let scope = acp::ElicitationSessionScope::new(session.to_owned());
    let mode = acp::ElicitationUrlMode::new(scope, details.tool_use_id.clone(), url);
    let message = details.message.clone().unwrap_or_default();
    rpc::to_value(&acp::CreateElicitationRequest::new(mode, message))
}

fn option(id: &str, name: &str, kind: acp::PermissionOptionKind) -> acp::PermissionOption {
    acp::PermissionOption::new(id.to_owned(), name, kind)
}
