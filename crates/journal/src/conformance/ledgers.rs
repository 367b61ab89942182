//! Checks of projects, documents and the audit log.

use super::{Stage, at};
use crate::{
    AUDIT_START, AuditDraft, DocumentChange, ErrorKind, ProjectFolder, StoredDocument, verify_audit,
};

fn folder(path: &str) -> ProjectFolder {
    ProjectFolder::new(path).unwrap()
}

pub(super) async fn projects_do_not_nest(stage: Stage<'_>) {
    for path in ["/a/b", "/a/b2", "/c"] {
        stage.journal.open_project(folder(path), None, at(1)).await.unwrap();
    }
    for path in ["/", "/a", "/a/b/c", "/a/b/c/d", "/c/d"] {
        let refused = stage.journal.open_project(folder(path), None, at(2)).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Nested, "{path}");
    }
    for path in ["/a/b1", "/a/c", "/cc"] {
        stage.journal.open_project(folder(path), None, at(2)).await.unwrap();
    }
    let all = stage.journal.projects(None).await.unwrap();
    let paths: Vec<&str> = all.iter().map(|project| project.folder.as_str()).collect();
    assert_eq!(paths, ["/a/b", "/a/b1", "/a/b2", "/a/c", "/c", "/cc"]);
    assert_eq!(stage.journal.projects(Some(&all[3].folder)).await.unwrap(), all[4..]);
    stage.journal.close_project(&folder("/c")).await.unwrap();
    stage.journal.open_project(folder("/c/d"), None, at(3)).await.unwrap();
    let gone = stage.journal.close_project(&folder("/c")).await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotFound);
}

pub(super) async fn a_project_has_one_session_at_a_time(stage: Stage<'_>) {
    let (a, b) = (stage.session("a").await.0, stage.session("b").await.0);
    let open = |session| stage.journal.open_project(folder("/p"), session, at(1));
    open(Some(a)).await.unwrap();
    let project = open(Some(b.clone())).await.unwrap();
    assert_eq!((project.session.as_ref(), project.opened), (Some(&b), at(1)));
    assert_eq!(stage.journal.projects(None).await.unwrap(), [project]);
    let unknown = open(Some(super::key("unknown"))).await.unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::NotFound);
}

pub(super) async fn documents_change_together_and_survive_a_kill(mut stage: Stage<'_>) {
    let put = |kind, id: &str, body: Option<&[u8]>| DocumentChange {
        kind,
        id: id.to_owned(),
        body: body.map(Into::into),
    };
    let first = vec![put("a", "1", Some(b"one")), put("a", "2", Some(b"two")), put("b", "1", Some(b"other"))];
    stage.journal.change_documents(first).await.unwrap();
    let second = vec![put("a", "1", None), put("a", "2", Some(b"new")), put("a", "unknown", None)];
    stage.journal.change_documents(second).await.unwrap();
    let too_long = put("b", &"x".repeat(1 << 20), Some(b""));
    assert!(stage.journal.change_documents(vec![put("b", "1", None), too_long]).await.is_err());
    stage.kill_and_open("boot-1", 2);
    let document = |id: &str, body: &[u8]| StoredDocument { id: id.to_owned(), body: body.into() };
    assert_eq!(stage.journal.documents("a").await.unwrap(), [document("2", b"new")]);
    assert_eq!(stage.journal.documents("b").await.unwrap(), [document("1", b"other")], "all or none");
    assert_eq!(stage.journal.documents("c").await.unwrap(), []);
}

pub(super) async fn t15_the_audit_log_shows_what_was_done_to_it(stage: Stage<'_>) {
    for n in 0..5_u64 {
        let draft = AuditDraft {
            device: (n % 2 == 0).then(|| "phone".to_owned()),
            session: Some("a".to_owned()),
            digest: Some("d".to_owned()),
            latency_ms: Some(n),
            ..AuditDraft::new(at(n), format!("ada {n}"), "allow")
        };
        stage.journal.audit(draft).await.unwrap();
    }
    let log = stage.journal.audit_log(0).await.unwrap();
    let last = verify_audit((0, AUDIT_START), &log).unwrap();
    assert_eq!(last, (5, log[4].hash.clone()));
    let tail = stage.journal.audit_log(3).await.unwrap();
    assert_eq!(verify_audit((3, &log[2].hash), &tail).unwrap(), last);

    let mut changed = log.clone();
    changed[2].who.push('!');
    assert_eq!(verify_audit((0, AUDIT_START), &changed).unwrap_err().line, 3);
    let mut moved = log.clone();
    moved[1].digest = moved[1].device.replace("d".to_owned());
    assert_eq!(verify_audit((0, AUDIT_START), &moved).unwrap_err().line, 2);
    let mut short = log.clone();
    short.remove(1);
    assert_eq!(verify_audit((0, AUDIT_START), &short).unwrap_err().line, 2);
    let mut swapped = log;
    swapped.swap(3, 4);
    assert_eq!(verify_audit((0, AUDIT_START), &swapped).unwrap_err().line, 4);
}
