//! Pending requests and the answers to them.

use tidings_remote::api::{CreateSession, PendingPermission};
use tidings_remote::{Answered, PromptResult, RequestStream, RequestUpdate, SessionRequest};

use crate::proxy::Proxy;
use crate::test_server::{TestServer, in_time};

pub(crate) const ASKS: &str = r#"
    [[turn]]
    [[turn.block]]
    tool = "Bash"
    input = { command = "ls" }
    ask = true
    result = "README.md"
    [[turn]]
    text = "There is a README."
"#;

/// The next permission request.
async fn opened(requests: &mut RequestStream) -> PendingPermission {
    loop {
        match in_time(requests.next()).await.unwrap() {
            RequestUpdate::Opened(SessionRequest::Permission(request)) => return *request,
            RequestUpdate::UpToDate | RequestUpdate::Lost(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// The outcome of the next request that is settled.
async fn settled(requests: &mut RequestStream) -> Option<String> {
    loop {
        match in_time(requests.next()).await.unwrap() {
            RequestUpdate::Settled { outcome, .. } => return outcome,
            RequestUpdate::UpToDate | RequestUpdate::Lost(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_answer_wins_and_the_second_learns_who_it_was() {
    let server = TestServer::builder().script(ASKS).api().start().await;
    let proxy = Proxy::before(&server).await;
    let (remote, other) = (proxy.client(), proxy.client());
    let mut requests = remote.requests();
    let new = CreateSession { cwd: server.cwd(), ..CreateSession::default() };
    let session = remote.session(remote.start(&new).await.unwrap().key);
    let accepted = session.prompt("look around").await.unwrap();
    let request = opened(&mut requests).await;
    let mut late = other.requests();
    assert_eq!(opened(&mut late).await.tool_use_id, request.tool_use_id, "also for those who come late");

    let Answered::First(first) = remote.approve(&request).await.unwrap() else {
        panic!("nobody else answers")
    };
    assert_eq!(first.outcome, "allowed");
    let second = other.deny(&request, Some("too late")).await.unwrap();
    assert_eq!(second, Answered::Before(first));
    assert_eq!(settled(&mut requests).await.as_deref(), Some("allowed"));
    assert_eq!(settled(&mut late).await.as_deref(), Some("allowed"));
    let PromptResult::Answered(answer) = in_time(session.answer_to(&accepted)).await.unwrap() else {
        panic!()
    };
    assert_eq!(answer.text(), "There is a README.");
}

/// Nothing tells a client what happened while it was away, but that the request waits no more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_was_settled_meanwhile_is_reported_as_settled() {
    let server = TestServer::builder().script(ASKS).api().start().await;
    let (proxy, aside) = (Proxy::before(&server).await, Proxy::before(&server).await);
    let (remote, other) = (proxy.client(), aside.client());
    let mut requests = remote.requests();
    let new = CreateSession { cwd: server.cwd(), ..CreateSession::default() };
    let session = other.session(other.start(&new).await.unwrap().key);
    session.prompt("look around").await.unwrap();
    let request = opened(&mut requests).await;
    // The client is connected to a server that does not have the session, then to its own again.
    let elsewhere = TestServer::builder().api().start().await;
    proxy.change_to(&elsewhere);
    let outcome = settled(&mut requests).await;
    assert_eq!(outcome, None, "it does not wait there");
    other.approve(&request).await.unwrap();
    proxy.change_to(&server);
    loop {
        match in_time(requests.next()).await.unwrap() {
            RequestUpdate::UpToDate => return,
            RequestUpdate::Lost(_) => {}
            other => panic!("{other:?}"),
        }
    }
}
