//! Detection of forks.

use tidings_transcript::roots::Roots;
use tidings_transcript::session::{ForkSign, Session, forks};

use super::given::{answer, prompt, session_of_bytes};
use super::recorded::fixture;

#[test]
fn s1_46_forks_of_the_cli_have_the_same_uuids() {
    let found = Roots::new([fixture("forks")]).scan().unwrap();
    let mut sessions: Vec<Session> =
        found.sessions.iter().map(|files| Session::open(files).unwrap()).collect();
    for _ in 0..sessions.len() {
        sessions.rotate_left(1);
        let all: Vec<&Session> = sessions.iter().collect();
        let forks = forks(&all);
        assert_eq!(forks.len(), 2);
        for fork in forks {
            assert!(all[fork.original].id().starts_with("11111111"), "the one that kept the books");
            assert_eq!((fork.by, fork.shared), (ForkSign::SameUuids, 15));
            let uuid = all[fork.copy].node(fork.until).uuid.clone();
            assert_eq!(uuid, all[fork.original].node(fork.until_in_original).uuid);
            assert!(uuid.unwrap().starts_with("0a7441"));
        }
    }
}

#[test]
fn s1_46_forks_of_the_sdks_say_where_they_come_from() {
    let original = [prompt("u", "", "go"), answer("a", "u", "m1"), prompt("u2", "a", "on")].join("\n");
    let from = |uuid: &str| format!(r#""forkedFrom":{{"sessionId":"old","messageUuid":"{uuid}"}},"uuid""#);
    let copied = [
        prompt("v", "", "go").replace(r#""uuid""#, &from("u")),
        answer("b", "v", "m1").replace(r#""uuid""#, &from("a")),
        prompt("v2", "b", "elsewhere"),
    ];
    let (old, new) = (
        session_of_bytes("old", original.as_bytes(), &[]),
        session_of_bytes("new", copied.join("\n").as_bytes(), &[]),
    );
    let [fork] = forks(&[&new.session, &old.session])[..] else { panic!("one fork") };
    assert_eq!((fork.copy, fork.original, fork.by, fork.shared), (0, 1, ForkSign::ForkedFrom, 2));
    assert_eq!((new.names(&[fork.until]), old.names(&[fork.until_in_original])), ("b".into(), "a".into()));
}

#[test]
fn s1_46_copied_history_still_names_the_old_session() {
    let history = [prompt("u", "", "go"), answer("a", "u", "m1")].map(|line| line.replace("s-1", "old"));
    let more = prompt("u2", "a", "on").replace("s-1", "new");
    let old = session_of_bytes("old", history.join("\n").as_bytes(), &[]);
    let new = session_of_bytes("new", [history.join("\n"), more].join("\n").as_bytes(), &[]);
    let [fork] = forks(&[&old.session, &new.session])[..] else { panic!("one fork") };
    assert_eq!((fork.copy, fork.original, fork.by), (1, 0, ForkSign::SessionId));
}
