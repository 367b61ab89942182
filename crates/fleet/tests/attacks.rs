//! Writers with access to the NATS server that are not who they claim to be.

use std::time::Duration;

use async_nats::HeaderMap;
use futures_util::StreamExt as _;
use tidings_fleet::JoinService;

use super::support::{Fleet, LONG, Server, until};

/// Waits until a later message of an honest node has passed the reader.
async fn passed(
    reader: &super::support::Node,
    writer: &super::support::Node,
    replicator: &tidings_fleet::Replicator,
) {
    writer.source.count("mark", 1);
    replicator.mark("mark");
    reader.has_all_of(writer).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_of_others_copies_and_changed_ones_are_refused() {
    let server = Server::alone();
    let fleet = Fleet::new(server.url());
    let (one, two) = (fleet.node("one").await, fleet.node("two").await);
    two.consume();
    one.source.count("a", 5);
    let replicator = one.replicate();
    two.has_all_of(&one).await;
    let client = async_nats::connect(server.url()).await.unwrap();
    let context = async_nats::jetstream::new(client.clone());
    let stream = context.get_stream("TIDINGS_f").await.unwrap();
    let first = stream.get_raw_message(1).await.unwrap();
    assert!(first.subject.as_str().starts_with("tidings.f.events.one."));
    // A copy of the first unit, which begins the session anew, and one with another payload.
    let copy = |subject: String, payload: bytes::Bytes, headers: HeaderMap| {
        let context = context.clone();
        async move { context.publish_with_headers(subject, headers, payload).await.unwrap().await.unwrap() }
    };
    let own = first.subject.to_string();
    let mut claim = HeaderMap::new();
    claim.insert("Tidings-Claim", first.headers.get("Tidings-Claim").unwrap().as_str());
    one.source.count("a", 5);
    replicator.mark("a");
    two.has_all_of(&one).await;
    copy(own.clone(), first.payload.clone(), claim.clone()).await;
    let mut changed = first.payload.to_vec();
    changed[40] ^= 1;
    copy(own.clone(), changed.into(), claim.clone()).await;
    copy(own.clone(), first.payload.clone(), HeaderMap::new()).await;
    // Under the name of another node and of another session.
    copy(own.replace(".one.", ".two."), first.payload.clone(), claim.clone()).await;
    copy(own.replace(".one.", ".three."), first.payload.clone(), claim.clone()).await;
    copy(format!("tidings.f.events.one.{}", "0".repeat(32)), first.payload.clone(), claim.clone()).await;
    passed(&two, &one, &replicator).await;
    assert_eq!(two.refused(), 5, "its own name is not read at all");
    // A node that is no member, and one that was removed.
    let stranger = fleet.stranger("stranger").await;
    stranger.source.count("s", 3);
    stranger.replicate();
    let gone = fleet.node("gone").await;
    two.roster.key_of(&gone.link.identity().node, Duration::from_secs(10)).await.unwrap().unwrap();
    fleet.node("admin").await.roster.remove_member(&fleet.admin, &gone.link.identity().node).await.unwrap();
    until(async || two.roster.member(&gone.link.identity().node).is_none()).await;
    gone.source.count("g", 3);
    gone.replicate();
    until(async || two.refused() >= 7).await;
    passed(&two, &one, &replicator).await;
    // The honest node was not held up: it published behind the foreign messages of its subject.
    one.source.count("a", 5);
    replicator.mark("a");
    two.has_all_of(&one).await;
    let late = fleet.node("late").await;
    late.consume();
    late.has_all_of(&one).await;
}

/// A reply subject makes the server write where the writer may not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shared_state_that_the_admin_did_not_sign_is_refused() {
    let server = Server::alone();
    let fleet = Fleet::new(server.url());
    let (one, two) = (fleet.node("one").await, fleet.node("two").await);
    one.roster.put(&fleet.admin, "device", "d1", Some(serde_json::json!({"name": "phone"}))).await.unwrap();
    until(async || two.roster.record("device", "d1").is_some()).await;
    one.source.count("a", 1);
    one.replicate();
    two.consume();
    two.has_all_of(&one).await;
    let client = async_nats::connect(server.url()).await.unwrap();
    let context = async_nats::jetstream::new(client.clone());
    let store = context.get_key_value("tidings_f").await.unwrap();
    let signed = store.get("device.d1").await.unwrap().unwrap();
    one.roster.put(&fleet.admin, "device", "d1", None).await.unwrap();
    until(async || two.roster.record("device", "d1").is_some_and(|record| record.removed)).await;
    // The old record again, the same under another name, a foreign value, and the acknowledgement of a
    // message.
    let before = two.refused();
    store.put("device.d1", signed.clone()).await.unwrap();
    store.put("device.d2", signed.clone()).await.unwrap();
    store.put("member.evil", signed).await.unwrap();
    let inbox = "$KV.tidings_f.device.d3";
    client.publish_with_reply("tidings.f.events.one.x", inbox, "payload".into()).await.unwrap();
    until(async || two.refused() >= before + 4).await;
    assert!(two.roster.record("device", "d1").unwrap().removed, "an old record is not taken back");
    assert!(["d2", "d3"].iter().all(|id| two.roster.record("device", id).is_none()));
    assert_eq!(two.roster.members().len(), 2);
    // A heartbeat of another node, which would make it look alive.
    let mut beats = store.watch("beat.one").await.unwrap();
    let beat = beats.next().await.unwrap().unwrap().value;
    store.put("beat.two", beat).await.unwrap();
    until(async || one.refused() >= 5).await;
}

/// A node that starts later would take an old record for the present one, or miss one that was overwritten.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn records_that_were_overwritten_are_restored() {
    let server = Server::alone();
    let fleet = Fleet::new(server.url());
    let (one, _two) = (fleet.node("one").await, fleet.node("two").await);
    let service = JoinService::new(one.link.clone(), one.roster.clone(), fleet.admin.clone());
    let stop = one.stop.clone();
    tokio::spawn(async move { service.run(stop).await });
    let put = async |id: &str, body: Option<serde_json::Value>| {
        one.roster.put(&fleet.admin, "device", id, body).await.unwrap()
    };
    let signed = put("d1", Some(serde_json::json!({"name": "phone"}))).await;
    put("d1", None).await;
    put("d2", Some(serde_json::json!({"name": "tablet"}))).await;
    until(async || one.roster.members().len() == 2).await;
    let client = async_nats::connect(server.url()).await.unwrap();
    let store = async_nats::jetstream::new(client).get_key_value("tidings_f").await.unwrap();
    store.put("device.d1", signed.into()).await.unwrap();
    store.delete("device.d2").await.unwrap();
    store.put("member.two", "junk".into()).await.unwrap();
    until(async || {
        let late = fleet.stranger("late").await;
        // A heartbeat comes after the records that were there before it.
        until(async || late.roster.liveness(&one.link.identity().node).is_some()).await;
        let removed = |id: &str| late.roster.record("device", id).map(|record| record.removed);
        late.roster.members().len() == 2 && removed("d1") == Some(true) && removed("d2") == Some(false)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_removed_node_steers_nothing() {
    let server = Server::alone();
    let fleet = Fleet::new(server.url());
    let (one, gone) = (fleet.node("one").await, fleet.node("gone").await);
    let echo = super::commands::serve(&one);
    let commands = tidings_fleet::Commands::new(gone.link.clone(), gone.roster.clone());
    let to = one.link.identity().node.clone();
    until(async || commands.call(&to, b"\x01", LONG).await.is_ok()).await;
    let handled = echo.handled();
    let name = gone.link.identity().node.clone();
    one.roster.remove_member(&fleet.admin, &name).await.unwrap();
    let refused = commands.call(&to, b"\x01", LONG).await.unwrap_err();
    assert_eq!(refused.kind(), tidings_fleet::ErrorKind::Refused, "{refused}");
    assert_eq!(echo.handled(), handled);
    // It gets no lease either: no node reads what it signs.
    let lost = tidings_fleet::Name::new("lost").unwrap();
    drop(gone.roster.claim("s", &lost).await);
    one.roster.claim("t", &lost).await.unwrap();
    until(async || one.roster.leases().iter().any(|lease| lease.session == "t")).await;
    assert!(one.roster.leases().iter().all(|lease| lease.session != "s"));
}
