//! Requests that are shown and answered together.

use std::sync::Arc;

use requests::{NOW, settled, wait};
use serde_json::json;
use tidings_agent::AskKey;
use tidings_agent::permissions::{
    Ask, BatchResponse, Emit, Gather, Grant, GrantTarget, Member, PermissionRegistry, RegistryError,
    SessionFacts,
};
use tidings_protocol::control::CanUseTool;
use tidings_protocol::ui::{AnsweredBy, PermissionLevel};

use crate::requests;

fn bash(id: &str, command: &str) -> Ask {
    Ask::new(
        1,
        "r",
        &CanUseTool::new("Bash", json!({ "command": command }).into(), id),
        &SessionFacts::in_folder("/demo"),
    )
}

#[tokio::test]
async fn s3_19_a_batch_is_answered_in_part_and_each_request_on_its_own() {
    let registry = PermissionRegistry::default();
    registry.add_grant(
        1,
        Grant::new("g", GrantTarget::Command { glob: "make".into() }, PermissionLevel::Execute),
    );
    let asked = wait(&registry, bash("a", "cargo build"));
    let asks =
        vec![bash("a", "cargo build"), bash("b", "make"), bash("c", "cargo test"), bash("d", "cargo doc")];
    let batch = registry.register_batch("batch-1", asks, NOW).unwrap();
    let ids = |asks: &[Arc<Ask>]| asks.iter().map(|ask| ask.key.tool_use_id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&batch.asks), ["a", "c", "d"]);
    assert_eq!(ids(&batch.auto_approved), ["b"]);
    assert_eq!(batch.suggested_grants.len(), 3);
    assert_eq!(batch.requests()[1].target, "cargo test");
    assert_eq!(registry.pending_batch_count(), 1);

    let response = BatchResponse::new(AnsweredBy::Person("phone".into()))
        .approve(Member::ToolUseId("a".into()))
        .deny(Member::Index(1), "no tests")
        .approve(Member::ToolUseId("x".into()));
    let done = registry.respond_to_batch("batch-1", response, NOW).unwrap();
    assert_eq!(done.recorded.len(), 2);
    assert_eq!(done.refused, [(Member::ToolUseId("x".into()), RegistryError::NotFound)]);
    assert_eq!(ids(&done.open), ["d"]);
    assert!(asked.await.answer().unwrap().is_allowed());
    // The CLI asks about the second only now.
    assert!(!settled(&registry, bash("c", "cargo test")).answer().unwrap().is_allowed());

    let rest = BatchResponse::new(AnsweredBy::Person("phone".into())).approve(Member::Index(2));
    registry.respond_to_batch("batch-1", rest.clone(), NOW).unwrap();
    let late = registry.respond_to_batch("batch-1", rest.clone(), NOW).unwrap_err();
    assert_eq!(late, RegistryError::BatchAlreadyProcessed);
    assert_eq!(registry.respond_to_batch("other", rest, NOW).unwrap_err(), RegistryError::NoBatch);
    assert_eq!(registry.pending_batch_count(), 0);
}

#[test]
fn s3_32_what_is_both_approved_and_denied_is_denied() {
    for order in [[true, false], [false, true]] {
        let registry = PermissionRegistry::default();
        registry.register_batch("batch", vec![bash("a", "make")], NOW).unwrap();
        let mut response = BatchResponse::new(AnsweredBy::Person("phone".into()));
        for is_yes in order {
            let member = if is_yes { Member::Index(0) } else { Member::ToolUseId("a".into()) };
            response = if is_yes { response.approve(member) } else { response.deny(member, "no") };
        }
        let done = registry.respond_to_batch("batch", response, NOW).unwrap();
        assert!(!done.recorded[0].outcome.answer().unwrap().is_allowed());
    }
}

#[test]
fn s3_31_a_batch_can_be_taken_back() {
    let registry = PermissionRegistry::default();
    registry.register_batch("batch", vec![bash("a", "make"), bash("b", "make")], NOW).unwrap();
    assert_eq!(registry.register_batch("batch", vec![], NOW).unwrap_err(), RegistryError::BatchExists);
    assert_eq!(registry.cancel_batch("batch").unwrap().len(), 2);
    assert_eq!(registry.cancel_batch("batch").unwrap_err(), RegistryError::BatchAlreadyProcessed);
    assert_eq!(registry.cancel_batch("none").unwrap_err(), RegistryError::NoBatch);
}

/// The ids of each batch that is shown.
fn shown(gather: &mut Gather) -> Vec<Vec<String>> {
    let ids = |asks: &[Arc<Ask>]| asks.iter().map(|ask| ask.key.tool_use_id.clone()).collect::<Vec<_>>();
    std::iter::from_fn(|| gather.show())
        .map(|emit| match emit {
            Emit::Single(ask) => ids(&[ask]),
            Emit::Batch(asks) => {
                assert!(asks.len() > 1, "one question is no batch");
                ids(&asks)
            }
        })
        .collect()
}

#[test]
fn s3_19_what_opens_together_is_shown_together_and_once() {
    let mut gather = Gather::default();
    for id in ["a", "b", "c"] {
        gather.opened(Arc::new(bash(id, "make")));
    }
    gather.settled(&AskKey::new(1, "b"));
    assert_eq!(shown(&mut gather), [["a", "c"]]);
    gather.settled(&AskKey::new(1, "a"));
    gather.opened(Arc::new(bash("d", "make")));
    assert_eq!(shown(&mut gather), [["d"]]);
    gather.opened(Arc::new(bash("e", "make")));
    gather.settled(&AskKey::new(1, "e"));
    assert!(shown(&mut gather).is_empty());
}

#[test]
fn s3_19_a_batch_is_of_one_session_and_one_agent_and_can_be_overlooked() {
    let mut gather = Gather::default();
    let mut elsewhere = bash("b", "make");
    elsewhere.key.session_id = 2;
    let mut sub_agent = bash("c", "make");
    sub_agent.agent_id = Some("agent".to_owned());
    for ask in [bash("a", "make"), elsewhere, sub_agent, bash("d", "make")] {
        gather.opened(Arc::new(ask));
    }
    assert_eq!(shown(&mut gather), [vec!["a", "d"], vec!["b"], vec!["c"]]);

    for number in 0..70 {
        gather.opened(Arc::new(bash(&number.to_string(), "make")));
    }
    let sizes: Vec<usize> = shown(&mut gather).iter().map(Vec::len).collect();
    assert_eq!(sizes, [32, 32, 6]);
}
