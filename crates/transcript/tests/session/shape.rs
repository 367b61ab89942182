//! Questions about the shape of a conversation.

use tidings_transcript::session::{LaneId, RootKind};

use super::given::{answer, link, prompt, session};

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
    assert_eq!(given.branches(), ["* x", "1 2 3 4 t", "2 > 3b"]);
}
