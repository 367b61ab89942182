//! A plan to agree to: the tool `ExitPlanMode`.

use tidings::Decision;
use tidings_protocol::json::Json;
use tidings_protocol::permissions::{Allow, PermissionDestination, PermissionMode, PermissionUpdate};
use tidings_protocol::tools::ToolInput;
use tidings_protocol::ui::QuestionType;

use super::inquiry::{Choice, Field, Inquiry, Reply};

/// The plan is carried out, and every change is asked about.
pub const APPROVE: &str = "Approve";
/// The plan is carried out, and changes of files are not asked about.
pub const APPROVE_AND_ACCEPT_EDITS: &str = "Approve and accept edits";
/// The plan is worked on, with what the user says about it.
pub const KEEP_PLANNING: &str = "Keep planning";

/// What to do with the plan, and what to say about it.
pub(super) fn fields(input: &Json, plan: Option<&str>) -> Vec<Field> {
    let typed = match ToolInput::read("ExitPlanMode", input.raw()) {
        Ok(ToolInput::ExitPlanMode(input)) => Some(input),
        _ => None,
    };
    let plan = plan.map(str::to_owned).or_else(|| typed.as_ref()?.plan.clone());
    let mut text = String::from("Shall this plan be carried out?");
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
        text.push_str("\n\nWithout asking it would:\n- ");
        text.push_str(&asked.join("\n- "));
    }
    let choice = |label: &str, description: &str| {
        let mut choice = Choice::new(label);
        choice.description = Some(description.to_owned());
        choice
    };
    let choices = vec![
        choice(APPROVE, "Every change is asked about"),
        choice(APPROVE_AND_ACCEPT_EDITS, "Changes of files are not asked about"),
        choice(KEEP_PLANNING, "The plan is worked on"),
    ];
    let mut decide = Field::choice("plan", text, QuestionType::SingleChoice, choices);
    decide.header = Some("Plan".to_owned());
    let mut feedback = Field::text("feedback", "What should be different?");
    feedback.question.required = false;
    vec![decide, feedback]
}

/// Words of one's own mean: keep planning, with these words.
pub(super) fn decision(inquiry: &Inquiry, input: &Json, answers: &[Reply]) -> Decision {
    let said =
        |at: usize| inquiry.fields.get(at).map(|field| inquiry.answered(field, answers)).unwrap_or_default();
    let mode = match said(0).first().copied() {
        Some(APPROVE) => PermissionMode::DEFAULT,
        Some(APPROVE_AND_ACCEPT_EDITS) => PermissionMode::ACCEPT_EDITS,
        other => {
            let own = other.filter(|text| *text != KEEP_PLANNING);
            let feedback: Vec<&str> = own.into_iter().chain(said(1)).collect();
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
