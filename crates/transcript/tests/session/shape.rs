//! Queries about the shape of a conversation.

use tidings_transcript::session::{LaneId, RootKind};

use super::given::{answer, last_prompt, link, prompt, session};

#[test]
fn s1_36_roots_ways_depth_and_kin() {
    let given = session(&[
        prompt("1", "", "one"),
        answer("2", "1", "m1"),
        prompt("3", "2", "three"),
        answer("4", "3", "m2"),
        prompt("3b", "2", "three again"),
        link("attachment", "t", "4"),
        prompt("x", "", "a new beginning"),
    ]);
    let session = &given.session;
    let roots: Vec<(String, RootKind)> =
        session.roots(LaneId::MAIN).iter().map(|root| (given.names(&[root.node]), root.kind)).collect();
    assert_eq!(roots, [("1".to_owned(), RootKind::Explicit), ("x".to_owned(), RootKind::Explicit)]);
    let ways: Vec<String> = session.ways(LaneId::MAIN).map(|way| given.names(&way)).collect();
    assert_eq!(ways, ["1 2 3b", "1 2 3 4 t", "x"]);
    assert_eq!(given.names(&session.longest_way(LaneId::MAIN)), "1 2 3 4 t");
    assert_eq!(given.names(session.followers(given.id("2"))), "3 3b");
    assert_eq!(given.names(&session.ancestors(given.id("4")).collect::<Vec<_>>()), "3 2 1");
    assert_eq!(given.names(&session.descendants(given.id("2")).collect::<Vec<_>>()), "3 4 t 3b");
    assert_eq!(session.depth(given.id("t")), 4);
    assert!(!session.is_linear(LaneId::MAIN));
    assert_eq!(given.branches(), ["* 1 2 3 4 t", "2 > 3b", "x"], "the model never answered in x");
}

/// A slash command at a new root, or beside the first prompt, with its output.
fn command(uuid: &str, parent: &str, name: &str) -> Vec<String> {
    let text = format!("<command-name>/{name}</command-name><command-args></command-args>");
    let printed = "<local-command-stdout>done</local-command-stdout>";
    vec![prompt(uuid, parent, &text), prompt(&format!("{uuid}-out"), uuid, printed)]
}

#[test]
fn c4_the_active_branch_is_the_one_that_the_model_answered_in() {
    let conversation =
        [prompt("1", "", "one"), answer("2", "1", "m1"), prompt("3", "2", "three"), answer("4", "3", "m2")];
    let synthetic = |uuid: &str, parent: &str| {
        answer(uuid, parent, "m9")
            .replace(r#""role":"assistant""#, r#""role":"assistant","model":"<synthetic>""#)
    };
    let ends: [Vec<String>; 6] = [
        command("x", "", "export"),
        [command("x", "", "clear"), command("y", "", "export"), command("z", "", "cost")].concat(),
        vec![
            prompt("x", "", "<user-memory-input>a rule</user-memory-input>"),
            prompt("y", "x", "(no content)"),
        ],
        [command("x", "", "export"), vec![synthetic("y", "x-out")]].concat(),
        [command("x", "", "export"), vec![last_prompt("x-out")]].concat(),
        vec![prompt("x", "", "never answered"), prompt("y", "x", "[Request interrupted by user]")],
    ];
    for end in ends {
        let given = session(&[&conversation[..], &end].concat());
        assert_eq!(given.branches()[0], "* 1 2 3 4", "{end:?}");
        assert!(given.branches().len() > 1, "{end:?}");
    }
    // A second conversation becomes active, and a session of commands shows its commands.
    let second = [&conversation[..], &[prompt("x", "", "anew"), answer("y", "x", "m3")]].concat();
    assert_eq!(session(&second).branches()[0], "* x y");
    assert_eq!(
        session(&[command("x", "", "clear"), command("y", "", "export")].concat()).branches()[0],
        "* y y-out"
    );
}
