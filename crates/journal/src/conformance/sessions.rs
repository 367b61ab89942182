//! Checks of sessions: names, creation, counts, changes and deletion.

use std::collections::BTreeMap;

use super::{Stage, at, client, durable, key};
use crate::limits::LIST_MAX;
use crate::{
    Changed, CursorVerdict, ErrorKind, Handle, Max, NewSession, Novelty, ProjectFolder, SessionChange,
    SessionCounts, SessionName, Stored,
};

pub(super) async fn sessions_have_two_names(stage: Stage<'_>) {
    for name in ["a", "b", "c"] {
        stage.session(name).await;
    }
    let all = stage.journal.sessions(None, 100).await.unwrap();
    assert_eq!(all.iter().map(|session| session.key.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    for session in &all {
        let by_handle = stage.journal.session(&SessionName::Handle(session.handle)).await.unwrap();
        assert_eq!((&by_handle, session), (session, &stage.row(&session.key).await));
    }
    let rest = stage.journal.sessions(Some(all[0].handle), 1).await.unwrap();
    assert_eq!(rest, all[1..2]);
    for number in [0, 99, u64::MAX] {
        let missing = stage.journal.session(&SessionName::Handle(Handle::new(number))).await.unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
    }
    assert_eq!(stage.journal.sessions(Some(Handle::new(u64::MAX)), 9).await.unwrap(), []);
}

pub(super) async fn making_a_session_twice_makes_one(stage: Stage<'_>) {
    let new = |name: &str| NewSession {
        client_id: Some(client("c1")),
        title: Some("first".to_owned()),
        labels: BTreeMap::from([("team".to_owned(), "\"x\"\n".to_owned())]),
        settings: "{\"model\":\"m\"}".to_owned(),
        ..NewSession::new(key(name), "/home/ada", at(5))
    };
    let (made, novelty) = stage.journal.create(new("a")).await.unwrap();
    assert_eq!(novelty, Novelty::New);
    assert_eq!((made.head.seq, made.floor, made.created, made.active), (0, 1, at(5), at(5)));
    assert_eq!(made, stage.row(&key("a")).await);
    let (again, novelty) = stage.journal.create(new("b")).await.unwrap();
    assert_eq!((&again, novelty), (&made, Novelty::Seen));
    let taken = NewSession { client_id: None, ..new("a") };
    assert_eq!(stage.journal.create(taken).await.unwrap_err().kind(), ErrorKind::Exists);
    assert_eq!(stage.journal.made_by(&client("c2")).await.unwrap(), None);
    assert_eq!(stage.journal.made_by(&client("c1")).await.unwrap(), Some(made.clone()));
    assert_eq!(stage.journal.sessions(None, 9).await.unwrap(), [made]);
}

/// Lists are limited, but counts are not.
pub(super) async fn sessions_are_counted_however_many_there_are(stage: Stage<'_>) {
    assert_eq!(stage.journal.counts().await.unwrap(), SessionCounts::default());
    let making = (0..=LIST_MAX).map(|n| {
        let word = if n == LIST_MAX { "running" } else { "parked" };
        let new = NewSession::new(key(&format!("s{n}")), "/home/ada", at(0));
        stage.journal.create(NewSession { state: word.to_owned(), ..new })
    });
    for made in futures_util::future::join_all(making).await {
        made.unwrap();
    }
    assert_eq!(stage.journal.sessions(None, usize::MAX).await.unwrap().len(), LIST_MAX);
    let counts = stage.journal.counts().await.unwrap();
    let all = u64::try_from(LIST_MAX).unwrap();
    let expected = [("parked".to_owned(), all), ("running".to_owned(), 1)];
    assert_eq!(counts.sessions.into_iter().collect::<Vec<_>>(), expected);
    assert_eq!(counts.open_asks, 0);
}

pub(super) async fn a_change_and_its_event_come_together(stage: Stage<'_>) {
    let (key, fence) = stage.session("a").await;
    let change = SessionChange {
        state: Some("running".to_owned()),
        title: Some("new".to_owned()),
        cli_session: Some("cli-1".to_owned()),
        event: Some(durable("running", 7).with_client_id(client("c1"))),
        ..SessionChange::default()
    };
    let Changed { session: changed, event } = stage.journal.update(&key, fence, change).await.unwrap();
    assert_eq!(event, Some(Stored { cursor: changed.head, novelty: Novelty::New }));
    assert_eq!((changed.state.as_str(), changed.title.as_deref()), ("running", Some("new")));
    assert_eq!((changed.head.seq, changed.active), (1, at(7)));
    let again = SessionChange {
        state: Some("other".to_owned()),
        event: Some(durable("other", 8).with_client_id(client("c1"))),
        ..SessionChange::default()
    };
    assert_eq!(stage.journal.seen(&key, &client("c1")).await.unwrap(), Some(changed.head));
    assert_eq!(stage.journal.seen(&key, &client("c2")).await.unwrap(), None);
    let seen = Some(Stored { cursor: changed.head, novelty: Novelty::Seen });
    assert_eq!(
        stage.journal.update(&key, fence, again).await.unwrap(),
        Changed { session: changed, event: seen }
    );
    for (id, title) in [("cli-1", ""), ("cli-2", ""), ("cli-1", "x")] {
        let change = SessionChange {
            cli_session: Some(id.to_owned()),
            title: Some(title.to_owned()),
            labels: Some(BTreeMap::new()),
            ..SessionChange::default()
        };
        stage.journal.update(&key, fence, change).await.unwrap();
    }
    let row = stage.row(&key).await;
    assert_eq!(row.cli_sessions, ["cli-1", "cli-2", "cli-1"]);
    assert_eq!((row.title.as_deref(), row.head.seq), (Some("x"), 1));
    stage.journal.claim(&key).await.unwrap();
    let refused = stage.journal.update(&key, fence, SessionChange::default()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Fenced);
}

pub(super) async fn a_deleted_session_is_gone_and_its_cursors_with_it(stage: Stage<'_>) {
    let session = stage.session("a").await;
    stage.fill(&session, 1..=5).await;
    let folder = ProjectFolder::new("/home/ada").unwrap();
    stage.journal.open_project(folder, Some(session.0.clone()), at(1)).await.unwrap();
    let old = stage.row(&session.0).await;
    stage.journal.delete(&session.0).await.unwrap();
    let gone = stage.journal.read(&session.0, None, Max::default()).await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotFound);
    assert_eq!(stage.journal.delete(&session.0).await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(stage.journal.projects(None).await.unwrap()[0].session, None);

    let session = stage.session("a").await;
    stage.fill(&session, 1..=5).await;
    let new = stage.row(&session.0).await;
    assert_ne!(old.handle, new.handle);
    let page = stage.journal.read(&session.0, Some(old.head), Max::default()).await.unwrap();
    assert_eq!((page.verdict, page.events.len()), (CursorVerdict::Reset, 5));
}
