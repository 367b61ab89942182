//! A removed member: it knows that it was removed, and cannot read what comes later in a fleet that encrypts.

use tidings_fleet::{ErrorKind, FleetSecret, JoinService, fetch_key};

use super::support::{Fleet, Node, Server, until};

/// The node with the admin's key, and one that stays, and one that is removed, in a fleet that encrypts.
async fn three(server: &Server) -> (Fleet, Node, Node, Node) {
    let secret = Some(FleetSecret::generate().unwrap());
    let fleet = Fleet { secret, ..Fleet::new(server.url()) };
    let (one, two, gone) = (fleet.node("one").await, fleet.node("two").await, fleet.node("gone").await);
    let service = JoinService::new(one.link.clone(), one.roster.clone(), fleet.admin.clone());
    let stop = one.stop.clone();
    tokio::spawn(async move { service.run(stop).await });
    for node in [&one, &two, &gone] {
        until(async || node.roster.members().len() == 3).await;
    }
    (fleet, one, two, gone)
}

/// Replaces the key of the fleet, as the server with the admin's key does.
async fn rotate(fleet: &Fleet, one: &Node) {
    let secrets = &one.link.identity().secrets;
    secrets.add(1, FleetSecret::generate().unwrap());
    one.roster.announce_key(&fleet.admin, 1).await.unwrap();
}

async fn follow_key(node: &Node) {
    let secrets = &node.link.identity().secrets;
    until(async || secrets.is_waiting()).await;
    let (generation, secret) = fetch_key(&node.link).await.unwrap();
    secrets.add(generation, secret);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r10_a_removed_member_reads_nothing_that_comes_later() {
    let server = Server::alone();
    let (fleet, one, two, gone) = three(&server).await;
    two.consume();
    gone.consume();
    one.source.count("a", 5);
    let replicator = one.replicate();
    two.has_all_of(&one).await;
    gone.has_all_of(&one).await;
    let before = gone.sink.bodies();
    one.roster.remove_member(&fleet.admin, &gone.link.identity().node).await.unwrap();
    rotate(&fleet, &one).await;
    one.source.count("a", 5);
    one.source.append("secret", [bytes::Bytes::from("for members only")]);
    replicator.mark("a");
    replicator.mark("secret");
    follow_key(&two).await;
    // It was there before the key, and is read afterwards: nothing is skipped.
    two.has_all_of(&one).await;
    // The removed one knows it, gets no key, and has read nothing.
    until(async || gone.roster.is_removed()).await;
    until(async || gone.link.identity().secrets.is_waiting()).await;
    let refused = fetch_key(&gone.link).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Refused, "{refused}");
    assert_eq!(gone.sink.bodies(), before);
    assert!(!two.roster.is_removed() && !one.roster.is_removed());
    // Shared state that comes later has the new key, too.
    one.roster.put(&fleet.admin, "device", "d1", Some(serde_json::json!({}))).await.unwrap();
    until(async || two.roster.record("device", "d1").is_some()).await;
    assert!(gone.roster.record("device", "d1").is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r10_a_member_that_was_away_gets_the_new_key_and_publishes_with_it() {
    let server = Server::alone();
    let (fleet, one, two, gone) = three(&server).await;
    one.roster.remove_member(&fleet.admin, &gone.link.identity().node).await.unwrap();
    rotate(&fleet, &one).await;
    until(async || two.link.identity().secrets.is_waiting()).await;
    one.consume();
    two.source.count("t", 5);
    two.replicate();
    // It publishes nothing with the old key, which the removed member has.
    let spy = fleet.stranger("spy").await;
    spy.consume();
    follow_key(&two).await;
    one.has_all_of(&two).await;
    assert_eq!(two.link.counters().events_sent.load(std::sync::atomic::Ordering::Relaxed), 5);
    assert!(spy.sink.bodies().is_empty());
    // An invitation has all keys: a new member reads what was stored before.
    let service = JoinService::new(one.link.clone(), one.roster.clone(), fleet.admin.clone());
    let invite = service.invite(&server.url(), tidings_fleet::MemberKind::Node, Vec::new()).unwrap();
    let invite = tidings_fleet::Invite::parse(&invite.code()).unwrap();
    let keys = invite.fleet_keys().unwrap();
    assert_eq!(keys.iter().map(|(generation, _)| *generation).collect::<Vec<_>>(), [0, 1]);
}
