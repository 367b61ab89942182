//! Connections that are cut, at every byte of what the server sends.

use std::collections::BTreeSet;

use tidings_remote::SessionUpdate;
use tidings_remote::api::{CreateSession, Input, Verdict};

use crate::proxy::Proxy;
use crate::test_server::{HELLO, Received, TestServer, in_time, until};

/// Events of the session whose stream is cut.
const EVENTS: usize = 4;

/// Number of bytes that the server sends for a stream of so few events, or for a response.
const BYTES: usize = 2000;

/// The stream is read from the beginning, and cut once; the client reads on without being told to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_event_comes_once_and_in_order_wherever_the_stream_is_cut() {
    let server = TestServer::builder().session_with("/", EVENTS).api().start().await;
    let proxy = Proxy::before(&server).await;
    let session = proxy.client().session("session");
    let history = session.history(None, None).await.unwrap();
    let expected: Vec<String> = history.items.iter().map(|event| event.cursor.clone()).collect();
    assert_eq!(expected.len(), EVENTS);
    for bytes in 0..BYTES {
        proxy.cut_after(bytes);
        let (mut cursors, mut verdicts) = (Vec::new(), Vec::new());
        let mut events = session.events(None);
        while cursors.len() < EVENTS {
            match in_time(events.next()).await.unwrap().unwrap() {
                SessionUpdate::Event(event) => cursors.push(event.cursor),
                SessionUpdate::Subscribed(subscribed) => verdicts.push(subscribed.verdict),
                SessionUpdate::Lost(_) => {}
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(cursors, expected, "cut after {bytes} bytes");
        assert!(
            verdicts.iter().all(|verdict| *verdict == Verdict::Ok),
            "{verdicts:?}, cut after {bytes} bytes"
        );
    }
}

/// The server does not know that the client has no response, and gets the command again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_session_is_started_wherever_the_response_is_cut() {
    let server = TestServer::builder().script(HELLO).api().start().await;
    let proxy = Proxy::before(&server).await;
    let remote = proxy.client();
    let mut keys = BTreeSet::new();
    let cuts = (0..BYTES).step_by(13);
    for bytes in cuts.clone() {
        proxy.cut_after(bytes);
        let new = CreateSession { cwd: server.cwd(), ..CreateSession::default() };
        keys.insert(in_time(remote.start(&new)).await.unwrap().key);
    }
    proxy.cut_after(usize::MAX);
    assert_eq!(keys.len(), cuts.len());
    assert_eq!(remote.sessions().await.unwrap().len(), cuts.len(), "each once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_is_delivered_once_wherever_its_response_is_cut() {
    const PROMPTS: usize = 20;
    let (script, received) = ("[[turn]]\ntext = \"Yes.\"\n".repeat(PROMPTS), Received::default());
    let server = TestServer::builder().agent(&script, |agent| agent.recording(&received)).api().start().await;
    let proxy = Proxy::before(&server).await;
    let remote = proxy.client();
    let new = CreateSession { cwd: server.cwd(), ..CreateSession::default() };
    let session = remote.session(remote.start(&new).await.unwrap().key);
    for number in 0..PROMPTS {
        proxy.cut_after(1 + number * 20);
        let input = Input { content: format!("prompt {number}"), ..Input::default() };
        let accepted = in_time(session.send(&input)).await.unwrap();
        in_time(session.answer_to(&accepted)).await.unwrap();
    }
    let prompts = until(async || received.prompts.lock().unwrap().len(), |count| *count >= PROMPTS).await;
    assert_eq!(prompts, PROMPTS);
}

/// A future that is dropped loses no event: it is dropped at every point where it can wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_is_not_lost_with_the_future_that_waited_for_it() {
    let server = TestServer::builder().session_with("/", 200).api().start().await;
    let proxy = Proxy::before(&server).await;
    let session = proxy.client().session("session");
    let expected = session.history(None, Some(1000)).await.unwrap().items.len();
    let mut events = session.events(None);
    let mut seen = BTreeSet::new();
    let reading = async {
        while seen.len() < expected {
            // One poll, and then the future is dropped.
            let update = tokio::select! {
                biased;
                update = events.next() => update.unwrap().unwrap(),
                () = tokio::task::yield_now() => continue,
            };
            if let SessionUpdate::Event(event) = update {
                assert!(seen.insert(event.cursor), "an event came twice");
            }
        }
    };
    in_time(reading).await;
}
