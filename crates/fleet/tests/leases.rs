//! Leases of sessions whose node is lost.

use tidings_fleet::{ErrorKind, Name};

use super::support::{Fleet, Server, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_several_nodes_one_gets_the_lease_of_a_session() {
    let server = Server::alone();
    let fleet = Fleet::new(server.url());
    let lost = fleet.node("lost").await;
    let (one, two, three) = (fleet.node("one").await, fleet.node("two").await, fleet.node("three").await);
    until(async || one.roster.members().len() == 4 && three.roster.members().len() == 4).await;
    until(async || two.roster.members().len() == 4).await;
    let from = Name::new("lost").unwrap();
    for session in ["a", "b", "c", "d", "e"] {
        let claims = tokio::join!(
            one.roster.claim(session, &from),
            two.roster.claim(session, &from),
            three.roster.claim(session, &from)
        );
        let claims = [claims.0, claims.1, claims.2];
        let holders: Vec<_> = claims.iter().filter_map(|claim| claim.as_ref().ok()).collect();
        assert_eq!(holders.len(), 1, "{claims:?}");
        let refused = claims.iter().filter_map(|claim| claim.as_ref().err());
        assert!(refused.clone().all(|error| error.kind() == ErrorKind::Conflict), "{claims:?}");
        let holder = holders[0].holder.clone();
        // The lost node hears of it, and so does one that comes later.
        until(async || lost.roster.leases().iter().any(|lease| lease.session == session)).await;
        let later = fleet.node(&format!("later-{session}")).await;
        until(async || later.roster.leases().iter().any(|lease| lease.session == session)).await;
        let heard = later.roster.leases().into_iter().find(|lease| lease.session == session).unwrap();
        assert_eq!((heard.holder, heard.from), (holder.clone(), from.clone()));
        // The holder gets it again.
        let holder = [&one, &two, &three].into_iter().find(|node| node.link.identity().node == holder);
        assert!(holder.unwrap().roster.claim(session, &from).await.is_ok());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_that_its_holder_did_not_sign_is_refused() {
    let server = Server::alone();
    let fleet = Fleet::new(server.url());
    let (one, two) = (fleet.node("one").await, fleet.node("two").await);
    until(async || one.roster.members().len() == 2 && two.roster.members().len() == 2).await;
    let from = Name::new("two").unwrap();
    one.roster.claim("a", &from).await.unwrap();
    until(async || two.roster.leases().len() == 1).await;
    let client = async_nats::connect(server.url()).await.unwrap();
    let store = async_nats::jetstream::new(client).get_key_value("tidings_f").await.unwrap();
    let mut keys = store.keys().await.unwrap();
    let mut key = String::new();
    while let Some(found) = futures_util::StreamExt::next(&mut keys).await {
        let found = found.unwrap();
        if found.starts_with("lease.") {
            key = found;
        }
    }
    let signed = store.get(&key).await.unwrap().unwrap().to_vec();
    let before = two.refused();
    // Under the key of another session, with another holder, changed, and by a node that is not a member.
    // Each has a key of its own: a reader may miss a value that is replaced at once.
    let other = |digit: &str| format!("lease.{}", digit.repeat(32));
    store.put(other("0"), signed.clone().into()).await.unwrap();
    store.put(other("1"), [b"two", &signed[3..]].concat().into()).await.unwrap();
    let mut changed = signed.clone();
    changed[20] ^= 1;
    store.put(other("2"), changed.into()).await.unwrap();
    until(async || two.refused() >= before + 3).await;
    let stranger = fleet.stranger("stranger").await;
    until(async || stranger.roster.claim("s", &from).await.is_ok()).await;
    // A later message of an honest node passes, and the leases are those of members only.
    one.roster.claim("b", &from).await.unwrap();
    until(async || two.roster.leases().len() == 2).await;
    assert!(two.roster.leases().iter().all(|lease| lease.holder.as_str() == "one"));
}
