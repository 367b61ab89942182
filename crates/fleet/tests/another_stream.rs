//! The stream is deleted, purged, replaced or restored from a backup, while nodes are connected and while
//! they are away: all have the same events afterwards.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_nats::jetstream::stream::Config;
use async_nats::jetstream::{Context, stream::Stream};
use tidings_fleet::Replicator;

use super::support::{Fleet, Node, Server, until};

const STREAM: &str = "TIDINGS_f";

async fn context(server: &Server) -> Context {
    async_nats::jetstream::new(async_nats::connect(server.url()).await.unwrap())
}

/// A fleet of an owner with two sessions, and a reader that has them.
async fn settled(server: &Server) -> (Fleet, Node, Node, Replicator) {
    let fleet = Fleet::new(server.url());
    let (one, two) = (fleet.node("one").await, fleet.node("two").await);
    two.consume();
    one.source.count("a", 45);
    one.source.count("idle", 3);
    let replicator = one.replicate();
    two.has_all_of(&one).await;
    (fleet, one, two, replicator)
}

/// A new reader gets everything from the stream as it is now.
async fn a_new_reader_has_all(fleet: &Fleet, one: &Node, name: &str) {
    let late = fleet.node(name).await;
    late.consume();
    late.has_all_of(one).await;
    assert_eq!(late.refused(), 0);
}

async fn messages(context: &Context) -> u64 {
    match context.get_stream(STREAM).await {
        Ok(stream) => stream.cached_info().state.messages,
        Err(_) => 0,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r1_a_stream_that_is_deleted_while_nodes_are_connected_is_filled_again() {
    let server = Server::alone();
    let (fleet, one, two, replicator) = settled(&server).await;
    let context = context(&server).await;
    for round in 0..3 {
        let connects = two.link.counters().connects.load(Ordering::Relaxed);
        context.delete_stream(STREAM).await.unwrap();
        // The session grows in the new stream, up to numbers that the old one had.
        for _ in 0..40 {
            one.source.count("a", 1);
            replicator.mark("a");
        }
        two.has_all_of(&one).await;
        // Sessions that did not change are in it, too.
        until(async || messages(&context).await >= 2).await;
        a_new_reader_has_all(&fleet, &one, &format!("late-{round}")).await;
        assert_eq!(two.link.counters().connects.load(Ordering::Relaxed), connects, "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r1_a_stream_that_another_client_replaces_is_read_from_its_start() {
    let server = Server::alone();
    let (fleet, one, two, replicator) = settled(&server).await;
    let context = context(&server).await;
    let config: Config = context.get_stream(STREAM).await.unwrap().cached_info().config.clone();
    context.delete_stream(STREAM).await.unwrap();
    drop(context.create_stream(config).await);
    one.source.count("a", 33);
    replicator.mark("a");
    two.has_all_of(&one).await;
    a_new_reader_has_all(&fleet, &one, "late").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r1_a_purged_stream_gets_all_sessions_again() {
    let server = Server::alone();
    let (fleet, one, two, replicator) = settled(&server).await;
    let context = context(&server).await;
    let stream: Stream = context.get_stream(STREAM).await.unwrap();
    stream.purge().await.unwrap();
    until(async || messages(&context).await >= 2).await;
    a_new_reader_has_all(&fleet, &one, "late").await;
    // Only its beginning.
    for _ in 0..5 {
        one.source.count("a", 10);
        replicator.mark("a");
        two.has_all_of(&one).await;
    }
    let last = context.get_stream(STREAM).await.unwrap().cached_info().state.last_sequence;
    stream.purge().sequence(last).await.unwrap();
    let fleet_again = Fleet { name: "f", ..fleet };
    until(async || {
        let late = fleet_again.node("partly").await;
        late.consume();
        tokio::time::timeout(std::time::Duration::from_secs(2), late.has_all_of(&one)).await.is_ok()
    })
    .await;
}

/// The files of a NATS server are put back: the stream has the same time of creation and fewer messages.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r1_a_backup_of_the_stream_that_is_restored_is_filled_and_read_again() {
    let mut server = Server::alone();
    let (fleet, one, two, replicator) = settled(&server).await;
    one.source.count("gone", 4);
    replicator.mark("gone");
    two.has_all_of(&one).await;
    server.kill();
    let backup = server.backup();
    server.start();
    for _ in 0..20 {
        one.source.count("a", 1);
        replicator.mark("a");
        two.has_all_of(&one).await;
    }
    one.source.delete("gone");
    replicator.mark("gone");
    two.has_all_of(&one).await;
    server.kill();
    server.restore(&backup);
    server.start();
    // Another owner is faster than the reader: the numbers pass those that the reader knows.
    let three = fleet.node("three").await;
    three.source.count("t", 1);
    let fast = three.replicate();
    for _ in 0..60 {
        three.source.count("t", 1);
        fast.mark("t");
        tokio::task::yield_now().await;
    }
    one.source.count("a", 5);
    replicator.mark("a");
    let all = || one.source.bodies().into_iter().chain(three.source.bodies()).collect();
    until(async || two.sink.bodies() == all()).await;
    // A session that was deleted since the backup stays deleted.
    let late = fleet.node("late").await;
    late.consume();
    until(async || late.sink.bodies() == all()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r1_a_stream_that_was_replaced_while_a_reader_was_away_is_read_from_its_start() {
    let server = Server::alone();
    let (fleet, one, two, replicator) = settled(&server).await;
    two.stop.cancel();
    until(async || two.sink.has_position()).await;
    let context = context(&server).await;
    context.delete_stream(STREAM).await.unwrap();
    for _ in 0..60 {
        one.source.count("a", 1);
        replicator.mark("a");
    }
    until(async || messages(&context).await >= 2).await;
    let mut again = fleet.node("again").await;
    again.sink = Arc::clone(&two.sink);
    again.consume();
    again.has_all_of(&one).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r1_events_that_a_reader_asks_for_are_published_again() {
    let server = Server::alone();
    let (_fleet, one, two, replicator) = settled(&server).await;
    two.sink.sessions.lock().remove("a");
    replicator.publish_again("a", None);
    two.has_all_of(&one).await;
}
