//! Policies that decide before the user is asked.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tidings_agent::permissions::{Answer, Ask, SessionFacts};
use tidings_agent::policy::{
    AutoApprove, CacheLifetime, DecisionSource, DenyAll, Interactive, PermissionPolicy, PolicyDecision,
    RuleTable, Then, TimeoutAction, Unattended, Verdict,
};
use tidings_protocol::control::CanUseTool;
use tidings_protocol::ui::{AnsweredBy, RequestOutcome};

pub(crate) const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn ask(tool: &str, input: Value) -> Ask {
    ask_in("/demo", tool, input)
}

pub(crate) fn ask_in(folder: &str, tool: &str, input: Value) -> Ask {
    Ask::new(1, "r", &CanUseTool::new(tool, input.into(), "t"), &SessionFacts::in_folder(folder))
}

fn question() -> Ask {
    let mut call = CanUseTool::new("AskUserQuestion", json!({"questions": []}).into(), "t");
    call.requires_user_interaction = Some(true);
    Ask::new(1, "r", &call, &SessionFacts::in_folder("/demo"))
}

fn is_denied(decision: &PolicyDecision) -> bool {
    matches!(decision, PolicyDecision::Deny { .. })
}

#[test]
fn s3_29_the_three_policies() {
    let bash = ask("Bash", json!({"command": "rm -rf /"}));
    assert_eq!(AutoApprove.decide(&bash, NOW).decision, PolicyDecision::Allow);
    assert!(!AutoApprove.supports_interaction());
    // No user can answer a question, so it is declined.
    assert!(is_denied(&AutoApprove.decide(&question(), NOW).decision));

    let deny = DenyAll("Not in this house".into());
    let reason = Some("Not in this house".to_owned());
    assert_eq!(deny.decide(&bash, NOW).decision, PolicyDecision::Deny { reason });
    assert!(!deny.supports_interaction());

    let decided = Interactive.decide(&bash, NOW);
    assert_eq!((decided.decision, decided.rule.as_str()), (PolicyDecision::AskUser, "interactive"));
    assert!(Interactive.supports_interaction());
}

#[test]
fn every_decision_names_the_rule_that_made_it() {
    let decided = RuleTable::standard().decide(&ask("Bash", json!({"command": "sudo ls"})), NOW);
    let outcome = decided.outcome().unwrap();
    assert!(
        matches!(&outcome, RequestOutcome::Answered { by: AnsweredBy::Rule(rule), .. } if rule == "privileged")
    );
    assert_eq!(
        serde_json::to_string(&decided).unwrap(),
        r#"{"decision":{"deny":{"reason":"Running commands as another user is not allowed"}},"rule":"privileged","source":"DEFAULT_POLICY","timeout":{"secs":30,"nanos":0}}"#
    );
    assert_eq!(Interactive.decide(&question(), NOW).outcome(), None);
}

#[test]
fn s2_23_the_standard_table_by_category() {
    let write = |path: &str| ask("Write", json!({"file_path": path, "content": ""}));
    let read = |path: &str| ask("Read", json!({ "file_path": path }));
    let fetch = |url: &str| ask("WebFetch", json!({ "url": url, "prompt": "" }));
    for (ask, verdict, rule) in [
        (read("src/main.rs"), Verdict::Allow, "read"),
        (read("/etc/hosts"), Verdict::Allow, "read"),
        (read(".env"), Verdict::Ask, "read-secrets"),
        (read("prod.env"), Verdict::Ask, "read-secrets"),
        (read("db_password.txt"), Verdict::Ask, "read-secrets"),
        (read("client_secret.json"), Verdict::Ask, "read-secrets"),
        (read("api.token"), Verdict::Ask, "read-secrets"),
        (read("/home/ada/.ssh/config"), Verdict::Ask, "read-secrets"),
        (ask("Grep", json!({"pattern": "x"})), Verdict::Allow, "read"),
        (write("src/main.rs"), Verdict::Ask, "write"),
        (write("tests/a.rs"), Verdict::Allow, "write-tests"),
        (write("specs/a.md"), Verdict::Allow, "write-tests"),
        (write("a.test.ts"), Verdict::Allow, "write-tests"),
        (write("README.md"), Verdict::Allow, "write-tests"),
        (write(".gitignore"), Verdict::Allow, "write-tests"),
        (write(".bashrc"), Verdict::Ask, "write-dotfiles"),
        (write(".git/hooks/pre-commit"), Verdict::Ask, "write-dotfiles"),
        (write("/etc/passwd"), Verdict::Deny, "write-system"),
        (write("/usr/bin/x"), Verdict::Deny, "write-system"),
        (write("/demo/tests/../../etc/tests/x"), Verdict::Deny, "write-system"),
        (write("tests/.env"), Verdict::Ask, "write-secrets"),
        (fetch("http://localhost:3000/"), Verdict::Allow, "network-known"),
        (fetch("https://github.com/a/b"), Verdict::Allow, "network-known"),
        (fetch("https://raw.githubusercontent.com/a"), Verdict::Allow, "network-known"),
        (fetch("https://notgithub.com/a"), Verdict::Ask, "network"),
        (fetch("https://github.com.evil.org/a"), Verdict::Ask, "network"),
        (ask("WebSearch", json!({"query": "x"})), Verdict::Ask, "network"),
        (ask("TodoWrite", json!({"todos": []})), Verdict::Allow, "bookkeeping"),
        (ask("mcp__a__b", json!({})), Verdict::Ask, "tool"),
        (ask("Agent", json!({"prompt": "x", "description": "y"})), Verdict::Ask, "tool"),
        (question(), Verdict::Ask, "needs-person"),
    ] {
        let decided = RuleTable::standard().decide(&ask, NOW);
        let expected = match verdict {
            Verdict::Allow => decided.decision == PolicyDecision::Allow,
            Verdict::Ask => decided.decision == PolicyDecision::AskUser,
            Verdict::Deny => is_denied(&decided.decision),
        };
        assert!(expected && decided.rule == rule, "{}: {decided:?}", ask.request.target);
    }
}

#[test]
fn s2_23_builds_and_tests_have_their_own_time() {
    let seconds = |command: &str| {
        RuleTable::standard()
            .decide(&ask("Bash", json!({ "command": command })), NOW)
            .timeout
            .unwrap()
            .as_secs()
    };
    assert_eq!((seconds("cargo build"), seconds("cargo test"), seconds("ls")), (60, 120, 30));
}

#[test]
fn a_table_survives_toml_and_json_and_refuses_what_it_does_not_know() {
    let table = RuleTable::standard();
    assert_eq!(toml::from_str::<RuleTable>(&toml::to_string(&table).unwrap()).unwrap(), table);
    assert_eq!(serde_json::from_str::<RuleTable>(&serde_json::to_string(&table).unwrap()).unwrap(), table);
    let misspelt = "[[rules]]\nname = \"x\"\nverdict = \"allow\"\npath = [\"/a\"]\n";
    assert!(toml::from_str::<RuleTable>(misspelt).is_err());
}

#[test]
fn the_first_rule_that_matches_decides() {
    let table: RuleTable = toml::from_str(
        r#"
        otherwise = "deny"
        [[rules]]
        name = "make-clean"
        commands = ["make clean"]
        verdict = "ask"
        [[rules]]
        name = "make"
        commands = ["make *"]
        verdict = "allow"
        [[rules]]
        name = "calc"
        tools = ["mcp__calc__*"]
        verdict = "allow"
        "#,
    )
    .unwrap();
    for (ask, rule) in [
        (ask("Bash", json!({"command": "make clean"})), "make-clean"),
        (ask("Bash", json!({"command": "make all"})), "make"),
        (ask("Bash", json!({"command": "make all; make clean"})), "make-clean"),
        (ask("Bash", json!({"command": "make all; ls"})), "otherwise"),
        (ask("Bash", json!({"command": "make $X"})), "not-known-before-it-runs"),
        (
            ask("Bash", json!({"command": "make", "dangerouslyDisableSandbox": true})),
            "outside-of-the-sandbox",
        ),
        (ask("mcp__calc__add", json!({})), "calc"),
        (ask("Read", json!({"file_path": "/a"})), "otherwise"),
    ] {
        assert_eq!(table.decide(&ask, NOW).rule, rule, "{}", ask.request.target);
    }
}

#[test]
fn s2_24_while_nobody_is_connected_the_risk_decides() {
    let policy = Unattended::new(TimeoutAction::Deny);
    for (ask, allowed, rule) in [
        (ask("Read", json!({"file_path": "a"})), true, "low-risk"),
        (ask("Read", json!({"file_path": "/a"})), false, "high-risk"),
        (ask("Bash", json!({"command": "ls"})), true, "low-risk"),
        (ask("Bash", json!({"command": "touch new.txt"})), false, "does-more-than-look"),
        (ask("Write", json!({"file_path": "a", "content": ""})), false, "medium-risk"),
        (ask("Write", json!({"file_path": "/a", "content": ""})), false, "high-risk"),
        (ask("Read", json!({"file_path": "/a/.env"})), false, "high-risk"),
        (ask("Read", json!({"file_path": ".env"})), false, "high-risk"),
        (ask("Bash", json!({"command": "./x"})), false, "high-risk"),
        (ask("Bash", json!({"command": "cat x; rm y"})), false, "high-risk"),
        (ask("Bash", json!({"command": "echo x > y"})), false, "medium-risk"),
        (ask("mcp__a__b", json!({})), false, "high-risk"),
        (question(), false, "unattended"),
    ] {
        let decided = policy.decide(&ask, NOW);
        assert_eq!((decided.decision == PolicyDecision::Allow, decided.rule.as_str()), (allowed, rule));
        assert_eq!(decided.source, DecisionSource::RiskBased);
    }
}

#[test]
fn s2_24_decisions_are_remembered_for_an_hour_or_a_day() {
    let policy = Unattended::new(TimeoutAction::Deny);
    let ask_for = |command: &str| ask("Bash", json!({ "command": command }));
    let after = |hours: i64| NOW + SignedDuration::from_hours(hours);
    policy.remember(&ask_for("make a"), &Answer::allow(), CacheLifetime::Hour, NOW);
    policy.remember(&ask_for("make b"), &Answer::allow(), CacheLifetime::Day, NOW);
    policy.remember(&ask_for("ls"), &Answer::deny("no"), CacheLifetime::Day, NOW);
    let cached = |command: &str, hours: i64| {
        let decided = policy.decide(&ask_for(command), after(hours));
        (decided.source == DecisionSource::CachedDecision, decided.decision == PolicyDecision::Allow)
    };
    assert_eq!(cached("make a", 0), (true, true));
    assert_eq!(cached("make a", 1), (false, false));
    assert_eq!(cached("make b", 23), (true, true));
    assert_eq!(cached("make b", 24), (false, false));
    assert_eq!(cached("ls", 0), (true, false));
    // Another input is another call.
    assert_eq!(cached("make a ", 0), (false, false));
    let mut elsewhere = ask_for("make a");
    elsewhere.key.session_id = 2;
    assert!(is_denied(&policy.decide(&elsewhere, NOW).decision));

    for count in 0..100 {
        policy.remember(&ask_for(&format!("touch {count}")), &Answer::allow(), CacheLifetime::Day, NOW);
    }
    assert_eq!(cached("make b", 0), (false, false));
    assert_eq!(cached("touch 0", 0), (true, true));
}

#[test]
fn s2_24_what_happens_after_the_time_is_set() {
    let (low, high) = (ask("Read", json!({"file_path": "a"})), ask("Bash", json!({"command": "./x"})));
    for (action, for_low, for_high, source) in [
        (TimeoutAction::Approve, "allow", "allow", DecisionSource::TimeoutDefault),
        (TimeoutAction::Deny, "deny", "deny", DecisionSource::TimeoutDefault),
        (TimeoutAction::Pause, "ask", "ask", DecisionSource::TimeoutDefault),
        (TimeoutAction::UseRiskBased, "allow", "deny", DecisionSource::RiskBased),
    ] {
        let policy = Unattended::new(action);
        for (ask, expected) in [(&low, for_low), (&high, for_high)] {
            let decided = policy.on_timeout(ask, NOW);
            let got = match decided.decision {
                PolicyDecision::Allow | PolicyDecision::AllowWithGrant(_) => "allow",
                PolicyDecision::AskUser => "ask",
                PolicyDecision::Deny { .. } => "deny",
                other => panic!("{other:?}"),
            };
            assert_eq!((got, decided.source), (expected, source), "{action:?}");
        }
    }
    assert_eq!(serde_json::to_string(&TimeoutAction::UseRiskBased).unwrap(), r#""USE_RISK_BASED""#);
    assert_eq!(TimeoutAction::default(), TimeoutAction::Deny);
}

#[test]
fn s2_24_the_source_of_each_decision_is_told() {
    for (outcome, expected) in [
        (RequestOutcome::by_person(Answer::allow(), "phone"), "USER_DECISION"),
        (RequestOutcome::by_rule(Answer::allow(), "look"), "DEFAULT_POLICY"),
        (
            RequestOutcome::Answered { answer: Answer::allow(), by: AnsweredBy::Grant("g".into()) },
            "CACHED_DECISION",
        ),
        (RequestOutcome::TimedOut, "TIMEOUT_DEFAULT"),
    ] {
        assert_eq!(serde_json::to_value(DecisionSource::of(&outcome)).unwrap(), expected);
    }
}

#[test]
fn a_second_policy_answers_where_the_first_would_ask() {
    let policy = Then(RuleTable::standard(), Unattended::default());
    assert!(!policy.supports_interaction());
    assert_eq!(policy.decide(&ask("Bash", json!({"command": "cargo test"})), NOW).rule, "test");
    assert_eq!(policy.decide(&ask("Bash", json!({"command": "./x"})), NOW).rule, "high-risk");
}
