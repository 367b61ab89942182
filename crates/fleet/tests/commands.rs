//! Requests between nodes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_core::future::BoxFuture;
use futures_util::StreamExt as _;
use tidings_fleet::{
    Commands, ErrorKind, Handler, IncomingRequest, Invite, JoinService, MemberKind, Name, join,
};

use super::support::{Fleet, LONG, Node, Server, until};

/// Replies with the request, as often as its first byte says, and counts.
#[derive(Default)]
pub(crate) struct Echo(AtomicU64);

impl Echo {
    pub(crate) fn handled(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Handler for Echo {
    fn handle(&self, request: IncomingRequest) -> BoxFuture<'static, Vec<u8>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let times = usize::from(request.body.first().copied().unwrap_or(1));
        let reply = request.body.repeat(times);
        Box::pin(async move { reply })
    }
}

pub(crate) fn serve(node: &Node) -> Arc<Echo> {
    let (commands, echo) = (Commands::new(node.link.clone(), node.roster.clone()), Arc::new(Echo::default()));
    let (handler, stop) = (Arc::clone(&echo), node.stop.clone());
    tokio::spawn(async move { commands.serve(handler, stop).await });
    echo
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_gets_its_reply_and_a_copy_of_it_gets_none() {
    let mut server = Server::alone();
    let fleet = Fleet::new(server.url());
    let (one, two) = (fleet.node("one").await, fleet.node("two").await);
    let name = Name::new("two").unwrap();
    let commands = Commands::new(one.link.clone(), one.roster.clone());
    let unknown = commands.call(&name, b"x", LONG).await;
    let echo = serve(&two);
    // A node is known by its membership and its heartbeat, a moment after it starts.
    assert!(unknown.is_err_and(|error| error.kind() == ErrorKind::NoNode));
    until(async || commands.call(&name, b"\x01", LONG).await.is_ok()).await;
    let long = [vec![9], vec![b'a'; 200_000]].concat();
    assert_eq!(
        commands.call(&name, &long, LONG).await.unwrap(),
        long.repeat(9),
        "a reply in several messages"
    );
    let too_long = commands.call(&name, &vec![0; 1 << 20], LONG).await.unwrap_err();
    assert_eq!(too_long.kind(), ErrorKind::TooLarge);

    // Someone records a request and sends it again.
    let client = async_nats::connect(server.url()).await.unwrap();
    let mut requests = client.subscribe("tidings.f.request.two").await.unwrap();
    // The answer that there is no listener here comes after the subscription.
    client.request("tidings.f.nobody", "".into()).await.unwrap_err();
    commands.call(&name, b"\x01once", LONG).await.unwrap();
    let recorded = requests.next().await.unwrap();
    let handled = echo.0.load(Ordering::Relaxed);
    let again = client.request_with_headers(
        "tidings.f.request.two",
        recorded.headers.clone().unwrap(),
        recorded.payload.clone(),
    );
    assert!(again.await.unwrap().headers.unwrap().get("Tidings-Refused").is_some());
    // To another node, and with another sender.
    let mut headers = recorded.headers.unwrap();
    headers.insert("Tidings-From", "two");
    let forged =
        client.request_with_headers("tidings.f.request.two", headers, recorded.payload).await.unwrap();
    assert!(forged.headers.unwrap().get("Tidings-Refused").is_some());
    assert_eq!(echo.0.load(Ordering::Relaxed), handled);

    // A node without a connection is an error at once, and so is an own one.
    two.stop.cancel();
    until(async || one.roster.liveness(&name).is_none_or(|alive| !alive.is_reachable)).await;
    let start = Instant::now();
    assert_eq!(commands.call(&name, b"x", LONG).await.unwrap_err().kind(), ErrorKind::NoNode);
    assert!(start.elapsed() < Duration::from_secs(1));
    server.kill();
    until(async || {
        let refused = commands.call(&name, b"x", LONG).await.unwrap_err();
        refused.kind() == ErrorKind::Disconnected
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_invitation_makes_one_member() {
    let server = Server::alone();
    let fleet = Fleet::new(server.url());
    let admin = fleet.node("admin").await;
    let service = JoinService::new(admin.link.clone(), admin.roster.clone(), fleet.admin.clone());
    let (running, stop) = (service.clone(), admin.stop.clone());
    tokio::spawn(async move { running.run(stop).await });
    let code = service.invite(&server.url(), MemberKind::Hub, vec!["read".to_owned()]).unwrap().code();
    let invite = Invite::parse(&code).unwrap();
    assert!(Invite::parse("nonsense").is_err());
    let (new, other) = (fleet.stranger("new").await, fleet.stranger("other").await);
    let mut joined = Err(ErrorKind::NoNode);
    until(async || {
        joined = join(&new.link, &new.roster, &invite).await.map_err(|error| error.kind());
        joined != Err(ErrorKind::NoNode)
    })
    .await;
    let joined = joined.unwrap();
    assert_eq!((joined.kind, joined.scopes), (MemberKind::Hub, vec!["read".to_owned()]));
    until(async || admin.roster.member(&joined.node).is_some_and(|member| member.key == joined.key)).await;
    let again = join(&other.link, &other.roster, &invite).await.unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Refused, "{again}");
    // Another key for a name that is taken.
    let second = service.invite(&server.url(), MemberKind::Node, Vec::new()).unwrap();
    let same_name = fleet.stranger("new").await;
    assert_eq!(
        join(&same_name.link, &same_name.roster, &second).await.unwrap_err().kind(),
        ErrorKind::Refused
    );
}
