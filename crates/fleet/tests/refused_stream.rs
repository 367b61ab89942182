//! The NATS server refuses the stream of the fleet: the nodes say why, and go on once it has room.

use super::support::{Fleet, Server, until};

#[tokio::test]
async fn a_refused_stream_is_told_with_its_reason_until_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let configuration = folder.path().join("nats.conf");
    std::fs::write(&configuration, "jetstream { max_file_store: 1000000 }").unwrap();
    let mut server = Server::configured(configuration.to_str().unwrap(), &[]);
    let fleet = Fleet { bytes_max: 2_000_000, ..Fleet::new(server.url()) };
    let (one, two) = (fleet.node("one").await, fleet.node("two").await);
    one.source.count("a", 3);
    let _replicator = one.replicate();
    two.consume();
    for node in [&one, &two] {
        until(async || node.link.refusal().is_some()).await;
        let refusal = node.link.refusal().unwrap();
        assert!(refusal.to_string().contains("insufficient storage"), "{refusal}");
    }
    server.kill();
    std::fs::write(&configuration, "jetstream { max_file_store: 4000000 }").unwrap();
    server.start();
    two.has_all_of(&one).await;
    for node in [&one, &two] {
        until(async || node.link.refusal().is_none()).await;
    }
}
