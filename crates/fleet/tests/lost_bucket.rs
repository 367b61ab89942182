//! The bucket with the shared state is deleted, purged or replaced: it is created and filled again.

use serde_json::json;
use tidings_fleet::{Admin, ErrorKind, HeadPage, JoinService, Name, SessionHead, SigningKey, page_of};

use super::support::{Fleet, Node, Server, until};

const BUCKET: &str = "KV_tidings_f";

async fn context(server: &Server) -> async_nats::jetstream::Context {
    async_nats::jetstream::new(async_nats::connect(server.url()).await.unwrap())
}

fn head(last: u64) -> SessionHead {
    SessionHead { epoch: 7, floor: 1, last, ..SessionHead::default() }
}

/// A fleet with a device, a lease and heads.
async fn filled(server: &Server) -> (Fleet, Node, Node) {
    let fleet = Fleet::new(server.url());
    let (one, two) = (fleet.node("one").await, fleet.node("two").await);
    let service = JoinService::new(one.link.clone(), one.roster.clone(), fleet.admin.clone());
    let stop = one.stop.clone();
    tokio::spawn(async move { service.run(stop).await });
    one.roster.check_fleet(Some(&fleet.admin)).await.unwrap();
    one.roster.put(&fleet.admin, "device", "d1", Some(json!({"name": "phone"}))).await.unwrap();
    one.roster.put(&fleet.admin, "device", "d2", Some(json!({}))).await.unwrap();
    one.roster.put(&fleet.admin, "device", "d2", None).await.unwrap();
    until(async || one.roster.members().len() == 2 && two.roster.members().len() == 2).await;
    two.roster.claim("s", &Name::new("lost").unwrap()).await.unwrap();
    announce(&two, "s", 45, 1).await;
    until(async || one.roster.leases().len() == 1 && last_of(&one, "s") == Some(45)).await;
    (fleet, one, two)
}

async fn announce(node: &Node, session: &str, last: u64, count: u64) {
    let heads = [(session.to_owned(), head(last))].into();
    let page = HeadPage { started_ms: 1, count, heads };
    node.roster.announce_heads(page_of(session), &page).await.unwrap();
}

fn last_of(node: &Node, session: &str) -> Option<u64> {
    node.roster.head(&Name::new("two").unwrap(), session).map(|head| head.last)
}

/// A node that comes later finds everything.
async fn is_whole(fleet: &Fleet) {
    let late = fleet.stranger("late").await;
    until(async || {
        let removed = |id: &str| late.roster.record("device", id).map(|record| record.removed);
        late.roster.members().len() == 2
            && removed("d1") == Some(false)
            && removed("d2") == Some(true)
            && late.roster.leases().len() == 1
            && last_of(&late, "s") == Some(45)
    })
    .await;
    assert_eq!(late.refused(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r1_a_bucket_that_is_deleted_while_nodes_are_connected_is_filled_again() {
    let server = Server::alone();
    let (fleet, one, two) = filled(&server).await;
    let context = context(&server).await;
    for _ in 0..2 {
        context.delete_stream(BUCKET).await.unwrap();
        is_whole(&fleet).await;
    }
    // Shared state goes on to work in it.
    one.roster.put(&fleet.admin, "device", "d3", Some(json!({}))).await.unwrap();
    until(async || two.roster.record("device", "d3").is_some()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r1_a_purged_bucket_is_filled_again_also_if_one_key_was_purged() {
    let server = Server::alone();
    let (fleet, _one, _two) = filled(&server).await;
    let bucket = context(&server).await.get_stream(BUCKET).await.unwrap();
    bucket.purge().await.unwrap();
    is_whole(&fleet).await;
    bucket.purge().filter("$KV.tidings_f.member.two").await.unwrap();
    is_whole(&fleet).await;
}

/// All nodes are away; the values that each of them has kept fill a new bucket.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r1_a_bucket_that_was_deleted_while_all_were_away_is_filled_from_what_they_kept() {
    let server = Server::alone();
    let (fleet, one, two) = filled(&server).await;
    let (kept, number) = one.roster.values_after(0);
    assert_eq!(one.roster.values_after(number).0, Vec::new());
    one.stop.cancel();
    two.stop.cancel();
    context(&server).await.delete_stream(BUCKET).await.unwrap();
    let again = fleet.open("again").await.unwrap();
    let roster = tidings_fleet::Roster::new(again).unwrap();
    roster.take_values(kept);
    assert_eq!((roster.members().len(), roster.leases().len()), (2, 1));
    let stop = tokio_util::sync::CancellationToken::new();
    let (running, stopping) = (roster.clone(), stop.clone());
    tokio::spawn(async move { running.run(stopping).await });
    let (beating, stopping) = (roster.clone(), stop.clone());
    tokio::spawn(async move { beating.beat(tidings_fleet::Beat::default, stopping).await });
    is_whole(&fleet).await;
    stop.cancel();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r1_an_earlier_head_does_not_replace_a_later_one() {
    let server = Server::alone();
    let (_fleet, one, two) = filled(&server).await;
    let store = context(&server).await.get_key_value("tidings_f").await.unwrap();
    let key = format!("head.two.{}", page_of("s"));
    let earlier = store.get(&key).await.unwrap().unwrap();
    announce(&two, "s", 78, 2).await;
    until(async || last_of(&one, "s") == Some(78)).await;
    store.put(&key, earlier.clone()).await.unwrap();
    // Under another name it is refused.
    let refused = one.refused();
    store.put(format!("head.one.{}", page_of("s")), earlier).await.unwrap();
    until(async || one.refused() > refused).await;
    assert_eq!(last_of(&one, "s"), Some(78));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r13_a_second_fleet_of_the_same_name_is_refused() {
    let server = Server::alone();
    let (fleet, one, two) = filled(&server).await;
    assert!(one.link.has_fleet().await.unwrap());
    let other = Fleet { admin: Admin(SigningKey::generate().unwrap().into()), ..Fleet::new(server.url()) };
    let link = other.open("one").await.unwrap();
    link.connected().await;
    let roster = tidings_fleet::Roster::new(link.clone()).unwrap();
    for admin in [Some(&other.admin), None] {
        let refused = roster.check_fleet(admin).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
        assert!(refused.to_string().contains("another fleet of the name `f`"), "{refused}");
    }
    // Also by the members alone, which an earlier version leaves without a note.
    let bucket = context(&server).await.get_stream(BUCKET).await.unwrap();
    one.stop.cancel();
    two.stop.cancel();
    bucket.purge().filter("$KV.tidings_f.fleet.admin").await.unwrap();
    assert_eq!(roster.check_fleet(Some(&other.admin)).await.unwrap_err().kind(), ErrorKind::Conflict);
    assert!(link.has_fleet().await.unwrap());
    let own = tidings_fleet::Roster::new(fleet.open("one").await.unwrap()).unwrap();
    until(async || own.check_fleet(Some(&fleet.admin)).await.is_ok()).await;
    // Another name is free.
    let free = Fleet { name: "g", ..other };
    let link = free.open("one").await.unwrap();
    link.connected().await;
    assert!(!link.has_fleet().await.unwrap());
}
