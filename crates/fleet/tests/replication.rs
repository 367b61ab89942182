//! What arrives is exact, once and in order, with one server and with three, whatever fails meanwhile.

use std::sync::atomic::Ordering;

use bytes::Bytes;

use super::support::{Fleet, Server, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_arrive_once_and_in_order_across_restarts_of_both_sides() {
    let server = Server::alone();
    let fleet = Fleet::new(server.url());
    let (one, two) = (fleet.node("one").await, fleet.node("two").await);
    two.consume();
    one.source.count("a", 3500);
    // Longer than a message of the server may be.
    one.source.append("b", [Bytes::from("short"), Bytes::from(vec![7; 1_600_000]), Bytes::from("end")]);
    let replicator = one.replicate();
    two.has_all_of(&one).await;
    for _ in 0..50 {
        one.source.count("a", 3);
        replicator.mark("a");
    }
    two.has_all_of(&one).await;
    // The other side is started again: it goes on from its position, and a new one reads everything.
    two.stop.cancel();
    one.source.count("c", 10);
    one.source.delete("b");
    for session in ["b", "c"] {
        replicator.mark(session);
    }
    let two = fleet.restarted(&two).await;
    two.consume();
    let three = fleet.node("three").await;
    three.consume();
    two.has_all_of(&one).await;
    three.has_all_of(&one).await;
    let sent = one.link.counters().units_sent.load(Ordering::Relaxed);
    assert!(sent >= 7, "{sent}");
    // The publisher is started again: it finds its position in the stream, and repeats nothing.
    let one = fleet.restarted(&one).await;
    let replicator = one.replicate();
    one.source.count("a", 5);
    replicator.mark("a");
    two.has_all_of(&one).await;
    three.has_all_of(&one).await;
    assert_eq!(one.link.counters().units_sent.load(Ordering::Relaxed), 1);
    assert_eq!((two.refused(), three.refused()), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outage_and_a_full_storage_only_delay_events() {
    let mut server = Server::alone();
    let fleet = Fleet { bytes_max: 2_000_000, ..Fleet::new(server.url()) };
    let (one, two) = (fleet.node("one").await, fleet.node("two").await);
    two.consume();
    one.source.count("a", 100);
    let replicator = one.replicate();
    two.has_all_of(&one).await;
    server.kill();
    one.source.count("a", 500);
    replicator.mark("a");
    server.start();
    two.has_all_of(&one).await;
    // More than there is room for: replication pauses and says so, and goes on when there is room.
    for _ in 0..30 {
        one.source.append("a", [Bytes::from(vec![b'x'; 100_000])]);
    }
    replicator.mark("a");
    let full = &one.link.counters().full;
    until(async || full.load(Ordering::Relaxed)).await;
    let context = async_nats::jetstream::new(async_nats::connect(server.url()).await.unwrap());
    let mut config = context.get_stream("TIDINGS_f").await.unwrap().cached_info().config.clone();
    config.max_bytes = 50_000_000;
    context.update_stream(config).await.unwrap();
    two.has_all_of(&one).await;
    until(async || !full.load(Ordering::Relaxed)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_session_leaves_the_stream() {
    let server = Server::alone();
    let fleet = Fleet::new(server.url());
    let (one, two) = (fleet.node("one").await, fleet.node("two").await);
    for node in [&one, &two] {
        node.consume();
    }
    one.source.count("a", 2500);
    one.source.count("b", 10);
    let replicator = one.replicate();
    two.has_all_of(&one).await;
    let context = async_nats::jetstream::new(async_nats::connect(server.url()).await.unwrap());
    let mut stream = context.get_stream("TIDINGS_f").await.unwrap();
    assert_eq!(stream.info().await.unwrap().state.messages, 4);
    one.source.delete("a");
    replicator.mark("a");
    two.has_all_of(&one).await;
    // Its end is left, so that readers that come later know it, and the other session.
    until(async || stream.info().await.unwrap().state.messages == 2).await;
    let late = fleet.node("late").await;
    late.consume();
    late.has_all_of(&one).await;
    assert_eq!((one.refused(), two.refused(), late.refused()), (0, 0, 0));
}

/// A session whose first events retention took begins later; when all were taken, its owner publishes it
/// again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_that_retention_took_are_a_gap_for_new_readers_only() {
    let server = Server::alone();
    let age_max = Some(std::time::Duration::from_secs(3600));
    let fleet = Fleet { age_max, ..Fleet::new(server.url()) };
    let (one, two) = (fleet.node("one").await, fleet.node("two").await);
    two.consume();
    let replicator = one.replicate();
    for _ in 0..3 {
        one.source.count("a", 1000);
        replicator.mark("a");
        two.has_all_of(&one).await;
    }
    let context = async_nats::jetstream::new(async_nats::connect(server.url()).await.unwrap());
    let stream = context.get_stream("TIDINGS_f").await.unwrap();
    stream.purge().sequence(3).await.unwrap();
    let late = fleet.node("late").await;
    late.consume();
    until(async || late.sink.firsts.lock().get("a").is_some_and(|first| *first > 1)).await;
    stream.purge().await.unwrap();
    one.source.count("a", 1);
    replicator.mark("a");
    late.has_all_of(&one).await;
    two.has_all_of(&one).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_three_servers_one_may_be_killed() {
    let mut servers = Server::cluster();
    let urls: Vec<String> = servers.iter().map(Server::url).collect();
    let fleet = Fleet { replicas: 3, ..Fleet::new(urls.join(",")) };
    let (one, two) = (fleet.node("one").await, fleet.node("two").await);
    two.consume();
    one.source.count("a", 1);
    let replicator = one.replicate();
    two.has_all_of(&one).await;
    let context = async_nats::jetstream::new(async_nats::connect(urls.clone()).await.unwrap());
    let leader = context.get_stream("TIDINGS_f").await.unwrap().cached_info().cluster.clone();
    let leader: usize = leader.unwrap().leader.unwrap()[1..].parse().unwrap();
    let send = |rounds: u64| {
        for _ in 0..rounds {
            for session in ["a", "b", "c"] {
                one.source.count(session, 7);
                replicator.mark(session);
            }
        }
    };
    let writing = async {
        for round in 0..200 {
            send(1);
            if round == 20 {
                servers[leader].kill();
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    writing.await;
    two.has_all_of(&one).await;
    servers[leader].start();
    send(20);
    two.has_all_of(&one).await;
    assert_eq!(two.refused(), 0);
}
