//! Links between calls and sub-agents.

use tidings_transcript::session::{Join, LaneId};

use super::given::{
    Given, GivenAgent, answer, call, envelope, prompt, result, seed, seed_side, session, session_with,
};

fn launch(uuid: &str, parent: &str, text: &str) -> String {
    let input = format!(r#""input":{{"subagent_type":"Explore","description":"Look","prompt":"{text}"}}"#);
    call(uuid, parent, &format!("m-{uuid}"), "Agent").replace(r#""input":{}"#, &input)
}

/// The result of a launch, which names the agent.
fn report(uuid: &str, called: &str, agent: &str) -> String {
    let named = format!(r#"{{"type":"user","toolUseResult":{{"status":"completed","agentId":"{agent}"}},"#);
    result(uuid, called).replace(r#"{"type":"user","#, &named)
}

fn side(line: &str) -> String {
    line.replace(r#""isSidechain":false"#, r#""isSidechain":true"#)
}

/// The link of each sub-agent: `agent name < calling entry by method, depth`.
fn joins(given: &Given) -> Vec<String> {
    let agents = given.session.lanes().iter().filter_map(|lane| lane.agent.as_ref());
    let line = |agent: &tidings_transcript::session::Agent| {
        let by = agent.joined_by.map_or("nothing", Join::as_str);
        let from = agent.started_by.map_or("-".to_owned(), |id| given.names(&[id]));
        let end = if agent.is_complete { "" } else { " incomplete" };
        format!(
            "{} {} < {from} by {by}, {}{end}",
            agent.id.as_deref().unwrap_or("-"),
            agent.name,
            agent.depth
        )
    };
    agents.map(line).collect()
}

#[test]
fn s1_42_each_way_to_join_a_sub_agent() {
    let main = [
        prompt("u", "", "go"),
        launch("c1", "u", "first"),
        launch("c2", "c1", "second"),
        launch("c3", "c2", "third"),
        launch("c4", "c3", "fourth"),
        report("r2", "c2", "a2"),
        answer("end", "r2", "m-end"),
    ];
    let lines = |text: &str, last: &str| [side(&prompt("p", "", text)), side(&answer("q", "p", last))];
    let (first, second, third, fourth) =
        (lines("x", "m1"), lines("x", "m2"), lines("third", "m3"), [side(&prompt("p", "", "x"))]);
    let given = session_with(
        &main,
        &[
            GivenAgent {
                id: "a1",
                lines: &first,
                sidecar: Some(r#"{"agentType":"Plan","toolUseId":"toolu_c1","finished":true}"#),
            },
            GivenAgent { id: "a2", lines: &second, sidecar: None },
            GivenAgent { id: "a3", lines: &third, sidecar: Some("{ no json") },
            GivenAgent { id: "a4", lines: &fourth, sidecar: None },
        ],
    );
    assert_eq!(
        joins(&given),
        [
            "a1 Plan < c1 by sidecar, 1",
            "a2 Explore < c2 by result, 1",
            "a3 Explore < c3 by prompt, 1",
            "a4 Explore < c4 by nearest, 1 incomplete",
        ]
    );
    assert_eq!(given.session.lanes_of(given.id("c2")).map(LaneId::index).collect::<Vec<_>>(), [2]);
}

#[test]
fn s1_42_agents_nest() {
    let main = [prompt("u", "", "go"), launch("c1", "u", "outer"), report("r1", "c1", "a1")];
    let outer =
        [side(&prompt("p", "", "outer")), side(&launch("c2", "p", "inner")), side(&report("r2", "c2", "a2"))];
    let inner = [side(&prompt("p", "", "inner")), side(&answer("q", "p", "m"))];
    let given = session_with(
        &main,
        &[
            GivenAgent { id: "a1", lines: &outer, sidecar: None },
            GivenAgent { id: "a2", lines: &inner, sidecar: None },
        ],
    );
    assert_eq!(joins(&given), ["a1 Explore < c1 by result, 1", "a2 Explore < c2 by result, 2"]);
}

#[test]
fn agents_that_start_each_other_end_somewhere() {
    let lines = |called: &str, reported: &str| {
        [side(&prompt("p", "", "x")), side(&launch(called, "p", "y")), side(&report("r", called, reported))]
    };
    let (first, second) = (lines("c1", "a2"), lines("c2", "a1"));
    let given = session_with(
        &[prompt("u", "", "go")],
        &[
            GivenAgent { id: "a1", lines: &first, sidecar: None },
            GivenAgent { id: "a2", lines: &second, sidecar: None },
        ],
    );
    assert_eq!(joins(&given), ["a1 Explore < c2 by result, 2", "a2 unknown < - by nothing, 1"]);
}

#[test]
fn s1_42_inline_sidechains_are_lanes_each_with_its_call() {
    let task = |uuid: &str, parent: &str, text: &str| {
        let input = format!(r#"{{"subagent_type":"Explore","prompt":"{text}"}}"#);
        seed(
            "assistant",
            uuid,
            parent,
            &format!(r#""subtype":"tool_use","toolName":"Task","toolArguments":{input}"#),
        )
    };
    let given = session(&[
        seed("user", "u", "", r#""message":"go""#),
        task("c1", "u", "one"),
        task("c2", "c1", "two"),
        // Interleaved, without a parent, as older builds wrote them.
        seed_side("user", "s2", "", "two"),
        seed_side("user", "s1", "c1", "one"),
        seed_side("assistant", "s2a", "s2", "two is done"),
        seed_side("assistant", "s1a", "s1", "one is done"),
    ]);
    assert_eq!(joins(&given), ["- Explore < c2 by prompt, 1", "- Explore < c1 by prompt, 1"]);
    assert_eq!(given.names(&given.session.lanes()[1].nodes), "s2 s2a");
}

#[test]
fn inline_sidechains_part_by_agent_id() {
    let of =
        |agent: &str, line: &str| side(line).replace(r#""uuid""#, &format!(r#""agentId":"{agent}","uuid""#));
    let given = session(&[
        prompt("u", "", "go"),
        launch("c", "u", "x"),
        of("a1", &prompt("p", "", "x")),
        of("a2", &prompt("q", "", "y")),
        of("a1", &answer("pa", "p", "m1")),
        of("a2", &answer("qa", "q", "m2")),
        // The chain is broken, but the entry names its agent.
        of("a1", &prompt("p2", "lost", "more")),
    ]);
    let lanes: Vec<String> = given.session.lanes().iter().map(|lane| given.names(&lane.nodes)).collect();
    assert_eq!(lanes, ["u c", "p pa p2", "q qa"]);
    assert_eq!(given.session.branches(given.session.node(given.id("p")).lane).len(), 1);
    assert!(envelope("x", "").contains("external"), "every entry says so, and no actor follows from it");
}
