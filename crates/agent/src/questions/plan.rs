//! Plans to approve: the tool `ExitPlanMode`.

use tidings::Decision;
use tidings_protocol::json::Json;
use tidings_protocol::permissions::{Allow, PermissionDestination, PermissionMode, PermissionUpdate};
use tidings_protocol::tools::ToolInput;
use tidings_protocol::ui::QuestionType;

use super::inquiry::{Choice, Field, Inquiry, Reply};

/// Approves the plan; each change still needs permission.
pub const APPROVE: &str = "Approve";
/// Approves the plan, and allows edits of files without asking.
pub const APPROVE_AND_ACCEPT_EDITS: &str = "Approve and accept edits";
/// Returns to planning, with the user's feedback.
pub const KEEP_PLANNING: &str = "Keep planning";

/// The questions about a plan: the decision, and feedback.
pub(super) fn fields(input: &Json, plan: Option<&str>) -> Vec<Field> {
    let typed = match ToolInput::read("ExitPlanMode", input.raw()) {
        Ok(ToolInput::ExitPlanMode(input)) => Some(input),
        _ => None,
    };
    let plan = plan.map(str::to_owned).or_else(|| typed.as_ref()?.plan.clone());
    let mut text = String::from("Approve this plan?");
    if let Some(plan) = &plan {
        text.push_str("\n\n");
        text.push_str(plan);
    }
    let asked: Vec<String> = typed
        .and_then(|input| input.allowed_prompts)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|prompt| {
            Some(format!("{}: {}", prompt.tool.as_deref().unwrap_or("any tool"), prompt.prompt?))
        })
        .collect();
    if !asked.is_empty() {
        text.push_str("\n\nThese actions will not need approval:\n- ");
        text.push_str(&asked.join("\n- "));
    }
    let choice = |label: &str, description: &str| {
        let mut choice = Choice::new(label);
        choice.description = Some(description.to_owned());
        choice
    };
    let choices = vec![
        choice(APPROVE, "Ask before each change"),
        choice(APPROVE_AND_ACCEPT_EDITS, "Edit files without asking"),
        choice(KEEP_PLANNING, "Continue planning"),
    ];
    let mut decide = Field::choice("plan", text, QuestionType::SingleChoice, choices);
    decide.header = Some("Plan".to_owned());
    let mut feedback = Field::text("feedback", "What should be different?");
    feedback.question.required = false;
    vec![decide, feedback]
}

/// Converts answers into a decision. Free text means: keep planning, with this feedback.
pub(super) fn decision(inquiry: &Inquiry, input: &Json, answers: &[Reply]) -> Decision {
    let answers_to =
        |at: usize| inquiry.fields.get(at).map(|field| inquiry.answered(field, answers)).unwrap_or_default();
    let mode = match answers_to(0).first().copied() {
        Some(APPROVE) => PermissionMode::DEFAULT,
        Some(APPROVE_AND_ACCEPT_EDITS) => PermissionMode::ACCEPT_EDITS,
        other => {
            let own = other.filter(|text| *text != KEEP_PLANNING);
            let feedback: Vec<&str> = own.into_iter().chain(answers_to(1)).collect();
            return Decision::deny(if feedback.is_empty() {
                "The user wants to keep planning".to_owned()
            } else {
                format!("The user wants to keep planning: {}", feedback.join("\n"))
            });
        }
    };
    let mut allow = Allow::default();
    allow.updated_input = Some(input.clone());
    allow.updated_permissions = Some(vec![PermissionUpdate::set_mode(mode, PermissionDestination::SESSION)]);
    Decision::Allow(allow)
}
