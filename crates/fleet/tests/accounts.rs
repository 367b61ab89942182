//! Members in NATS accounts of their own, with the configuration that docs/scaling.md describes.

use std::time::Duration;

use async_nats::{Client, ConnectOptions, HeaderMap, Message};
use bytes::Bytes;
use futures_util::StreamExt as _;
use serde_json::json;
use tidings_fleet::{Access, Commands, ErrorKind, JoinService, MemberKind, Name, join};

use super::support::{Fleet, LONG, Node, Server, until};

const CONFIGURATION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/nats.accounts.conf");

/// The streams with the events and the shared state.
const EVENTS: &str = "TIDINGS_home";
const STATE: &str = "KV_tidings_home";

/// Seeds of nkeys for these tests, and their public keys.
const ONE: &str = "SUAK5OODN2GQ5ZDIPFVZ26VGHDBHZKHRGCSLAPR2FEDN4YZNS5RYNWLQ3U";
const TWO: &str = "SUAF5YXDN2CZ6WEVRLTJWJ7TKFTFF2OBWSIQOWYHTETUUXRPZ4MR4P657E";
const HUB: &str = "SUAIP5QADE5HKYFLCJTWQJFDLKXFU3MFHIXTZBHO7TAK4P475X3EPBSJJU";
const PUBLIC_KEYS: [(&str, &str); 3] = [
    ("ONE", "UB54P4DKK5PQFH4KILMHSMXBJSPCAML2JETTMRALXWXPUXKE5TQIIV5S"),
    ("TWO", "UAZYD3GAITUSWNCLNA7RAIXSHOD6AKCRCYR75F5YCIMTIF5DYWJZYEPP"),
    ("HUB", "UBP35RY56WGTV3QK7ZYHPK25CVPFGIUURMGFRSVWGDWS6DQF5VNPSFE7"),
];

/// The answer that the NATS server itself gives for an account without storage.
const NO_STORAGE: &str = "JetStream not enabled for account";

/// A fleet whose first node is in the account with the storage, and whose others are in their own.
struct Accounts {
    server: Server,
    fleet: Fleet,
    one: Node,
    two: Node,
    hub: Node,
}

impl Accounts {
    async fn start() -> Self {
        let server = Server::configured(CONFIGURATION, &PUBLIC_KEYS);
        let mut fleet = Fleet { name: "home", ..Fleet::new(server.url()) };
        fleet.access = Access { nkey: Some(ONE.to_owned()), ..Access::default() };
        let one = fleet.node("one").await;
        let service = JoinService::new(one.link.clone(), one.roster.clone(), fleet.admin.clone());
        let (running, stop) = (service.clone(), one.stop.clone());
        tokio::spawn(async move { running.run(stop).await });
        let mut joined = Vec::new();
        for (name, seed, kind) in [("two", TWO, MemberKind::Node), ("hub", HUB, MemberKind::Hub)] {
            let api_prefix = Some("fleet".to_owned());
            fleet.access = Access { nkey: Some(seed.to_owned()), api_prefix, ..Access::default() };
            let node = fleet.stranger(name).await;
            let invite = service.invite(&server.url(), kind, Vec::new()).unwrap();
            let mut result = Err(ErrorKind::NoNode);
            until(async || {
                result = join(&node.link, &node.roster, &invite).await.map_err(|error| error.kind());
                !matches!(result, Err(ErrorKind::NoNode))
            })
            .await;
            result.unwrap();
            joined.push(node);
        }
        let [two, hub] = joined.try_into().unwrap_or_else(|_| unreachable!("two have joined"));
        Accounts { server, fleet, one, two, hub }
    }

    fn nodes(&self) -> [&Node; 3] {
        [&self.one, &self.two, &self.hub]
    }

    /// A client of the NATS server without the program.
    async fn client(&self, seed: &str) -> Client {
        ConnectOptions::with_nkey(seed.to_owned()).connect(self.server.url()).await.unwrap()
    }

    /// A node that reads the shared state, in the account with the storage.
    async fn reader(&self, name: &str) -> Node {
        let access = Access { nkey: Some(ONE.to_owned()), ..Access::default() };
        let admin = self.fleet.admin.clone();
        Fleet { name: "home", access, admin, ..Fleet::new(self.server.url()) }.stranger(name).await
    }

    /// The number of messages of a stream with matching subjects.
    async fn stored(&self, stream: &str, subjects: &str) -> usize {
        let context = async_nats::jetstream::new(self.client(ONE).await);
        let stream = context.get_stream(stream).await.unwrap();
        let counts = stream.info_with_subjects(subjects).await.unwrap();
        counts.map(|count| count.unwrap().1).fold(0, |sum, count| async move { sum + count }).await
    }
}

/// Makes a push consumer that delivers messages of one subject to another one, with the rights of a client.
async fn push(client: &Client, stream: &str, from: &str, to: &str) {
    let config = json!({"deliver_subject": to, "filter_subject": from, "deliver_policy": "all"});
    let request = json!({"stream_name": stream, "config": config}).to_string();
    let made = client.request(format!("fleet.CONSUMER.CREATE.{stream}"), request.into()).await.unwrap();
    assert!(!text(&made).contains("\"error\""), "the server allows it: {made:?}");
}

fn text(message: &Message) -> String {
    String::from_utf8_lossy(&message.payload).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_in_accounts_of_their_own_replicate_share_state_and_steer() {
    let all = Accounts::start().await;
    let [one, two, hub] = all.nodes();
    two.source.count("t", 2500);
    // Longer than a message of the server may be: a batch of several.
    two.source.append("long", [Bytes::from(vec![7; 1_600_000])]);
    one.source.count("o", 5);
    let (_, replicator) = (one.replicate(), two.replicate());
    one.consume_as_admin();
    two.consume();
    hub.consume();
    one.has_all_of(two).await;
    two.has_all_of(one).await;
    let both = [one.source.bodies(), two.source.bodies()].into_iter().flatten().collect();
    until(async || hub.sink.bodies() == both).await;
    // Requests in every direction, with replies in several messages.
    for to in all.nodes() {
        super::commands::serve(to);
    }
    let long = [vec![9], vec![b'a'; 200_000]].concat();
    for (from, to) in [(one, two), (one, hub), (two, one), (two, hub), (hub, one), (hub, two)] {
        let commands = Commands::new(from.link.clone(), from.roster.clone());
        let name = &to.link.identity().node;
        until(async || commands.call(name, b"\x01", LONG).await.is_ok()).await;
        assert_eq!(commands.call(name, &long, LONG).await.unwrap(), long.repeat(9));
    }
    // Records of the admin, pairing codes and leases of members.
    one.roster.put(&all.fleet.admin, "device", "d1", Some(json!({"name": "phone"}))).await.unwrap();
    let code = two.roster.share_code(b"code", &json!({}), Duration::from_secs(60)).await.unwrap();
    let used = hub.roster.use_code(b"code", "d2").await.unwrap().unwrap();
    assert_eq!((used.maker.node.as_str(), used.user.as_str()), ("two", "hub"));
    assert_eq!(one.roster.used_code(&code.token).await.unwrap(), Some(used));
    one.roster.forget_code(&code.token).await.unwrap();
    assert_eq!(two.roster.used_code(&code.token).await.unwrap(), None);
    two.roster.claim("s", &Name::new("lost").unwrap()).await.unwrap();
    for node in all.nodes() {
        until(async || node.roster.record("device", "d1").is_some()).await;
        until(async || node.roster.leases().iter().any(|lease| lease.session == "s")).await;
        assert_eq!(node.roster.members().len(), 3);
        assert_eq!(node.refused(), 0);
    }
    // A member may not remove messages: the first node does it for a deleted session, of which only the end
    // is left.
    assert_eq!(all.stored(EVENTS, "tidings.home.events.two.*").await, 3 + 4);
    two.source.delete("t");
    replicator.mark("t");
    one.has_all_of(two).await;
    until(async || all.stored(EVENTS, "tidings.home.events.two.*").await == 1 + 4).await;
}

/// The NATS server refuses all of this.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_neither_writes_as_another_nor_deletes_nor_listens() {
    let all = Accounts::start().await;
    let [one, two, hub] = all.nodes();
    one.source.count("o", 5);
    let replicator = one.replicate();
    hub.consume();
    hub.has_all_of(one).await;
    super::commands::serve(one);
    let commands = Commands::new(hub.link.clone(), hub.roster.clone());
    let to = one.link.identity().node.clone();
    until(async || commands.call(&to, b"\x01", LONG).await.is_ok()).await;
    let attacker = all.client(TWO).await;
    // It hears everything that passes in its account.
    let mut heard = attacker.subscribe(">").await.unwrap();
    attacker.flush().await.unwrap();
    let events = all.stored(EVENTS, ">").await;
    let mut subjects: Vec<String> = [
        "tidings.home.events.one.x",
        "tidings.home.events.hub.x",
        "$KV.tidings_home.member.evil",
        "$KV.tidings_home.device.evil",
        "$KV.tidings_home.target.evil",
        "$KV.tidings_home.beat.one",
        "$KV.tidings_home.beat.hub",
        "_INBOX_home_hub.x",
    ]
    .map(str::to_owned)
    .to_vec();
    for prefix in ["fleet", "$JS.API"] {
        for call in ["DELETE", "PURGE", "UPDATE", "CREATE", "SNAPSHOT", "RESTORE", "MSG.DELETE"] {
            subjects.extend([EVENTS, STATE].map(|stream| format!("{prefix}.STREAM.{call}.{stream}")));
        }
        let lists = ["INFO", "STREAM.NAMES", "STREAM.LIST"].map(|call| format!("{prefix}.{call}"));
        let readers = ["NAMES", "LIST"].map(|call| format!("{prefix}.CONSUMER.{call}.{EVENTS}"));
        subjects.extend(lists.into_iter().chain(readers));
    }
    for subject in &subjects {
        let inbox = attacker.new_inbox();
        let mut replies = attacker.subscribe(inbox.clone()).await.unwrap();
        attacker.publish_with_reply(subject.clone(), inbox, "{}".into()).await.unwrap();
        attacker.flush().await.unwrap();
        // The NATS server answers for the account itself, and no other answer comes before the next one.
        if subject.starts_with("$JS.API") {
            let answer = replies.next().await.unwrap();
            assert!(text(&answer).contains(NO_STORAGE), "{subject}: {answer:?}");
        }
        let own = "fleet.STREAM.INFO.TIDINGS_home";
        assert!(!attacker.request(own, "".into()).await.unwrap().payload.is_empty());
        let answer = tokio::time::timeout(Duration::ZERO, replies.next()).await;
        assert!(answer.is_err(), "{subject}: {answer:?}");
    }
    // A header that deletes everything else, on subjects of its own.
    for subject in ["tidings.home.events.two.x", "$KV.tidings_home.beat.two", "$KV.tidings_home.pair.x"] {
        for scope in ["all", "sub"] {
            let mut headers = HeaderMap::new();
            headers.insert("Nats-Rollup", scope);
            let refused = attacker.request_with_headers(subject, headers, "{}".into()).await.unwrap();
            assert!(text(&refused).contains("rollup not permitted"), "{refused:?}");
        }
    }
    // A reply subject, to which the NATS server would write the answer within one account.
    let foreign = ["tidings.home.events.one.x", "$KV.tidings_home.device.evil", "tidings.home.request.one"];
    let read = "fleet.DIRECT.GET.KV_tidings_home.$KV.tidings_home.member.one";
    for reply in foreign {
        attacker.publish_with_reply("tidings.home.events.two.x", reply, "x".into()).await.unwrap();
        attacker.publish_with_reply(read, reply, "".into()).await.unwrap();
    }
    until(async || all.stored(EVENTS, "tidings.home.events.two.x").await == foreign.len()).await;
    // Meanwhile others work as before, and the attacker has heard none of it.
    let long = [vec![9], vec![b'a'; 200_000]].concat();
    assert_eq!(commands.call(&to, &long, LONG).await.unwrap(), long.repeat(9));
    one.source.count("o", 5);
    replicator.mark("o");
    hub.has_all_of(one).await;
    assert_eq!(
        all.stored(EVENTS, ">").await,
        events + 1 + foreign.len(),
        "nothing else was written or deleted"
    );
    assert_eq!(all.stored(STATE, "$KV.tidings_home.member.*").await, 3);
    for kind in ["device", "target"] {
        assert_eq!(all.stored(STATE, &format!("$KV.tidings_home.{kind}.>")).await, 0);
    }
    assert_eq!(one.refused(), 0);
    attacker.publish("tidings.home.last", "".into()).await.unwrap();
    while let Some(message) = heard.next().await {
        let headers = message.headers.unwrap_or_default();
        let is_of_others = ["Tidings-From", "Tidings-Part"].iter().any(|name| headers.get(*name).is_some());
        assert!(!is_of_others, "a request or a reply of others: {}", message.subject);
        if message.subject.as_str() == "tidings.home.last" {
            break;
        }
    }
    assert_eq!(two.roster.members().len(), 3);
}

/// A member can create push consumers, since readers are consumers. The NATS server delivers to any subject
/// of the account with the storage that has a subscriber. A stream that listens there, too, stores the
/// message under the subject that it had, so that it replaces nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deliveries_of_a_push_consumer_replace_nothing_and_are_refused() {
    let all = Accounts::start().await;
    let [one, two, hub] = all.nodes();
    one.source.count("o", 5);
    let replicator = one.replicate();
    hub.consume();
    hub.has_all_of(one).await;
    let echo = super::commands::serve(one);
    // A device that was revoked, and its record from before.
    let device = Some(json!({"name": "phone"}));
    let signed = one.roster.put(&all.fleet.admin, "device", "d1", device).await.unwrap();
    one.roster.put(&all.fleet.admin, "device", "d1", None).await.unwrap();
    until(async || hub.roster.record("device", "d1").is_some_and(|record| record.removed)).await;
    let refused = (one.refused(), hub.refused());
    let (attacker, owner) = (all.client(TWO).await, all.client(ONE).await);
    let (old, device) = ("tidings.home.events.two.old", "$KV.tidings_home.device.d1");
    attacker.request(old, signed.into()).await.unwrap();
    attacker.request("$KV.tidings_home.pair.junk", "junk".into()).await.unwrap();
    let records = all.stored(STATE, "$KV.tidings_home.device.*").await;
    // Only the stream listens to these two.
    push(&attacker, EVENTS, old, device).await;
    push(&attacker, STATE, "$KV.tidings_home.pair.junk", "tidings.home.events.one.x").await;
    // The first node listens to this one, and refuses what it gets.
    push(&attacker, EVENTS, old, "tidings.home.request.one").await;
    until(async || one.refused() > refused.0).await;
    assert_eq!(echo.handled(), 0);
    assert_eq!(all.stored(EVENTS, "tidings.home.events.one.x").await, 0);
    assert_eq!(all.stored(STATE, "tidings.>").await, 0);
    // A tool listens to the record: it gets the delivery, and so does the stream.
    let mut tool = owner.subscribe(device).await.unwrap();
    owner.flush().await.unwrap();
    push(&attacker, EVENTS, old, device).await;
    assert_eq!(tool.next().await.unwrap().subject.as_str(), old);
    until(async || all.stored(STATE, "tidings.>").await == 1).await;
    assert_eq!(all.stored(STATE, "$KV.tidings_home.device.*").await, records);
    // Others work as before, and a node that starts now knows the device as the admin has signed it last.
    one.source.count("o", 5);
    replicator.mark("o");
    hub.has_all_of(one).await;
    assert_eq!(hub.refused(), refused.1 + 1, "the event of the attacker");
    let late = all.reader("late").await;
    // A heartbeat comes after the records.
    until(async || late.roster.liveness(&two.link.identity().node).is_some()).await;
    assert!(late.roster.record("device", "d1").is_some_and(|record| record.removed));
    assert_eq!(late.refused(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prefix_that_is_not_one_is_an_error() {
    let api_prefix = Some("a..b".to_owned());
    let access = Access { api_prefix, ..Access::default() };
    let fleet = Fleet { access, ..Fleet::new("nats://127.0.0.1:9".to_owned()) };
    let refused = fleet.open("one").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid, "{refused}");
}

#[test]
fn the_documentation_shows_the_configuration_of_the_tests() {
    let (page, file) =
        (include_str!("../../../docs/scaling.md"), include_str!("../../../packaging/nats.accounts.conf"));
    let (_, rest) = page.split_once("<!-- accounts: begin -->\n```text\n").unwrap();
    let (shown, _) = rest.split_once("```\n<!-- accounts: end -->").unwrap();
    assert_eq!(shown, file);
}
