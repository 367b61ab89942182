//! Tests of the scopes that fields, modes, options and plans need.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tidings::json::Json;
use tidings_protocol::control::CanUseTool;

use super::*;

fn keys(name: &str) -> BTreeSet<String> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/openapi.json");
    let api: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    api["components"]["schemas"][name]["properties"].as_object().unwrap().keys().cloned().collect()
}

fn fields(needs: Needs) -> BTreeSet<String> {
    needs.unwrap().into_iter().map(|need| need.field.to_owned()).collect()
}

/// The field names in the table are the JSON keys.
#[test]
fn k1_every_published_field_has_a_capability() {
    let answer: PermissionAnswer = serde_json::from_value(json!({"decision":"allow"})).unwrap();
    let budget = Budget::default();
    assert_eq!(fields(of_create(&CreateSession::default())), keys("CreateSession"));
    assert_eq!(fields(of_patch(&PatchSession::default(), Policy::Ask, &budget)), keys("PatchSession"));
    assert_eq!(fields(of_command(&CommandRequest::default())), keys("CommandRequest"));
    assert_eq!(fields(of_input(&Input::default())), keys("Input"));
    assert_eq!(fields(of_permission_answer(&answer)), keys("PermissionAnswer"));
    assert_eq!(fields(of_question_answer(&QuestionAnswer::default(), None)), keys("QuestionAnswer"));
}

#[test]
fn every_mode_that_the_protocol_knows_can_be_chosen_and_no_other() {
    let of = |mode: &str| of_mode(&Some(mode.to_owned()));
    for mode in PermissionMode::KNOWN.iter().chain(&["manual"]) {
        assert!(of(mode).is_ok(), "{mode}");
    }
    for mode in ["banana", "", "Default", "bypasspermissions"] {
        assert_eq!(of(mode).map_err(|error| error.code()), Err(Code::Invalid), "{mode}");
    }
}

#[test]
fn an_option_of_an_unknown_effect_needs_the_scope_of_the_owner() {
    assert_eq!(of_option(Some("thought_level")).scope(), Scope::Prompt);
    for category in [None, Some(""), Some("model_config"), Some("model"), Some("mode"), Some("_sandbox")] {
        assert_eq!(of_option(category).scope(), Scope::Admin, "{category:?}");
    }
    let needs = of_option_value(Some("thought_level"), true);
    assert!(needs.iter().any(|need| need.capability == Capability::AskNobody), "{needs:?}");
}

/// Approving a plan changes the mode, and can grant permissions that the plan names.
#[test]
fn k1_a_plan_that_lets_things_run_unasked_needs_more_than_a_yes() {
    let plan = |input: Value| {
        let call = CanUseTool::new("ExitPlanMode", Json::from(&input), "toolu_1");
        Inquiry::from_call(1, "request", &call, None).unwrap()
    };
    let usual = plan(json!({"plan":"Tidy up"}));
    let naming = plan(json!({"plan":"Test","allowedPrompts":[{"tool":"Bash","prompt":"run tests"}]}));
    for (inquiry, word, wanted) in [
        (&usual, "Approve", Capability::Decide),
        (&usual, "Approve and accept edits", Capability::RunUnasked),
        (&usual, "Keep planning", Capability::Decide),
        (&naming, "Approve", Capability::RunUnasked),
        (&naming, "Keep planning", Capability::Decide),
    ] {
        // The question is named by its id or by its text.
        for question in ["plan", inquiry.fields[0].question.text.as_str()] {
            let answer: QuestionAnswer =
                serde_json::from_value(json!({"answers":[{"question_id":question,"answer":[word]}]}))
                    .unwrap();
            let needs = of_question_answer(&answer, Some(inquiry)).unwrap();
            assert_eq!(needs[0].capability, wanted, "{question}: {word}");
            let cancelled = QuestionAnswer { cancel: true, ..answer };
            let needs = of_question_answer(&cancelled, Some(inquiry)).unwrap();
            assert_eq!(needs[0].capability, Capability::Decide, "cancelled");
        }
    }
}
