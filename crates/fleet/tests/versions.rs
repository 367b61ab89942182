//! Nodes of two versions in one fleet.

use serde_json::json;
use tidings_fleet::{FleetMember, MemberKind, Name};

use super::support::{Fleet, Server, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_of_a_later_version_is_shown_and_keeps_its_fields() {
    let server = Server::alone();
    let fleet = Fleet::new(server.url());
    let (one, two) = (fleet.node("one").await, fleet.node("two").await);
    let key = one.link.identity().key.public();
    let row = json!({
        "node": "later", "key": key.to_string(), "kind": "archive", "scopes": ["read", "paint"],
        "region": {"name": "north"},
    });
    one.roster.put(&fleet.admin, "member", "later", Some(row.clone())).await.unwrap();
    let name = Name::new("later").unwrap();
    until(async || two.roster.member(&name).is_some()).await;
    let member = two.roster.member(&name).unwrap();
    assert_eq!(member.kind, MemberKind::Other("archive".to_owned()));
    assert_eq!(serde_json::to_value(&member).unwrap(), row);
    // An earlier version writes the row anew, from what it knows itself.
    let known = FleetMember { scopes: vec!["read".to_owned()], unknown: serde_json::Map::new(), ..member };
    two.roster.put_member(&fleet.admin, &known).await.unwrap();
    until(async || one.roster.member(&name).is_some_and(|member| member.scopes == ["read"])).await;
    let mut expected = row;
    expected["scopes"] = json!(["read"]);
    assert_eq!(one.roster.record("member", "later").unwrap().body, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_of_kinds_that_a_later_version_adds_are_no_fault() {
    let server = Server::alone();
    let fleet = Fleet::new(server.url());
    let (one, two) = (fleet.node("one").await, fleet.node("two").await);
    until(async || two.roster.members().len() == 2).await;
    let client = async_nats::connect(server.url()).await.unwrap();
    let store = async_nats::jetstream::new(client).get_key_value("tidings_f").await.unwrap();
    store.put("tide.north", "high".into()).await.unwrap();
    // A record that is written afterwards has passed the reader.
    one.roster.put(&fleet.admin, "device", "d1", Some(json!({}))).await.unwrap();
    until(async || two.roster.record("device", "d1").is_some()).await;
    assert_eq!(two.refused(), 0);
}
