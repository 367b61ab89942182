//! Pairing codes in the shared state.

use std::time::Duration;

use serde_json::json;

use super::support::{Fleet, Node, Server, until};

const MINUTE: Duration = Duration::from_secs(60);

/// Waits until nodes know each other and the time of the NATS server.
async fn settled(nodes: &[&Node]) {
    for node in nodes {
        until(async || {
            let alive = |other: &&Node| {
                let name = &other.link.identity().node;
                node.roster.member(name).is_some()
                    && node.roster.liveness(name).is_some_and(|alive| alive.is_reachable)
            };
            nodes.iter().all(alive)
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_code_of_one_node_is_used_once_on_any() {
    let server = Server::alone();
    let fleet = Fleet::new(server.url());
    let (one, two, three) = (fleet.node("one").await, fleet.node("two").await, fleet.node("three").await);
    settled(&[&one, &two, &three]).await;
    let body = json!({"scopes": ["read"]});
    for print in [b"a", b"b", b"c", b"d"] {
        one.roster.share_code(print, &body, MINUTE).await.unwrap();
        let used = tokio::join!(
            one.roster.use_code(print, "d1"),
            two.roster.use_code(print, "d2"),
            three.roster.use_code(print, "d3")
        );
        let used: Vec<_> = [used.0, used.1, used.2].into_iter().filter_map(|used| used.unwrap()).collect();
        assert_eq!(used.len(), 1, "one of three wins: {used:?}");
        assert_eq!((used[0].maker.node.as_str(), &used[0].body), ("one", &body));
        // Any node can check the use.
        assert_eq!(three.roster.used_code(&used[0].token).await.unwrap().as_ref(), Some(&used[0]));
        assert_eq!(two.roster.use_code(print, "d4").await.unwrap(), None);
        one.roster.forget_code(&used[0].token).await.unwrap();
        assert_eq!(two.roster.used_code(&used[0].token).await.unwrap(), None);
    }
    assert_eq!(two.roster.use_code(b"wrong", "d").await.unwrap(), None);
    // One that was withdrawn, and one that is too old.
    let code = one.roster.share_code(b"e", &body, MINUTE).await.unwrap();
    one.roster.withdraw_code(&code).await.unwrap();
    assert_eq!(two.roster.use_code(b"e", "d").await.unwrap(), None);
    one.roster.share_code(b"f", &body, Duration::ZERO).await.unwrap();
    assert_eq!(two.roster.use_code(b"f", "d").await.unwrap(), None);
    // Withdrawing comes too late for one that was used.
    let code = one.roster.share_code(b"g", &body, MINUTE).await.unwrap();
    let used = two.roster.use_code(b"g", "d").await.unwrap().unwrap();
    one.roster.withdraw_code(&code).await.unwrap();
    assert_eq!(three.roster.used_code(&used.token).await.unwrap(), Some(used));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn codes_of_others_copies_and_changed_ones_are_refused() {
    let server = Server::alone();
    let fleet = Fleet::new(server.url());
    let (one, two) = (fleet.node("one").await, fleet.node("two").await);
    let stranger = fleet.stranger("stranger").await;
    settled(&[&one, &two]).await;
    until(async || stranger.roster.share_code(b"s", &json!({}), MINUTE).await.is_ok()).await;
    assert_eq!(two.roster.use_code(b"s", "d").await.unwrap(), None, "its maker is not a member");
    let client = async_nats::connect(server.url()).await.unwrap();
    let store = async_nats::jetstream::new(client).get_key_value("tidings_f").await.unwrap();
    let code = one.roster.share_code(b"a", &json!({"scopes": ["read"]}), MINUTE).await.unwrap();
    let key = format!("pair.{}", code.token);
    let offer = store.get(&key).await.unwrap().unwrap();
    let mut changed = offer.to_vec();
    let at = changed.windows(4).position(|part| part == b"read").unwrap();
    changed[at..at + 4].copy_from_slice(b"edit");
    store.put(&key, changed.into()).await.unwrap();
    assert_eq!(two.roster.use_code(b"a", "d").await.unwrap(), None, "it was changed");
    // The same for another code.
    let other = one.roster.share_code(b"b", &json!({}), MINUTE).await.unwrap();
    store.put(format!("pair.{}", other.token), offer.clone()).await.unwrap();
    assert_eq!(two.roster.use_code(b"b", "d").await.unwrap(), None);
    // The maker's value again, after it was used elsewhere.
    store.put(&key, offer.clone()).await.unwrap();
    let used = one.roster.use_code(b"a", "d1").await.unwrap();
    assert!(used.is_some(), "the original is good");
    // A record that comes afterwards has passed the reader: it has heard of the use, too.
    one.roster.put(&fleet.admin, "device", "mark", Some(json!({}))).await.unwrap();
    until(async || two.roster.record("device", "mark").is_some()).await;
    store.put(&key, offer).await.unwrap();
    assert_eq!(two.roster.use_code(b"a", "d2").await.unwrap(), None, "a copy of a used code");
    assert_eq!(one.roster.use_code(b"a", "d3").await.unwrap(), None);
}
