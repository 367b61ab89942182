//! Waiting for what must happen: never for a fixed time.

use std::fmt::Debug;
use std::time::Duration;

use tidings_agent::UiMessage;
use tidings_api::{ServerPhase, SessionView};
use tidings_journal::broadcast::{Delivery, SubscribeOptions, Subscription};
use tidings_journal::{Cursor, Journal, Max, SessionName};
use tidings_sessions::Sessions;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::TestServer;

/// The timeout of everything that must happen; most of it takes milliseconds.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The time between two looks at something that cannot be subscribed to.
const PAUSE: Duration = Duration::from_millis(10);

/// The output of a future that must complete.
pub(crate) async fn in_time<T>(future: impl Future<Output = T>) -> T {
    timeout(PATIENCE, future).await.expect("it does not come in time")
}

/// Looks again and again until the value is as wanted, and returns it.
pub(crate) async fn until<T: Debug>(mut look: impl AsyncFnMut() -> T, wanted: impl Fn(&T) -> bool) -> T {
    let deadline = Instant::now() + PATIENCE;
    let mut last = None;
    while let Ok(value) = timeout_at(deadline, look()).await {
        if wanted(&value) {
            return value;
        }
        last = Some(value);
        sleep(PAUSE).await;
    }
    panic!("it is never as wanted: {last:#?}");
}

/// Waits until the view of a session meets a condition.
pub(crate) async fn until_view(
    sessions: &Sessions,
    key: &str,
    wanted: impl Fn(&SessionView) -> bool,
) -> SessionView {
    until(async || sessions.find(key).await.unwrap(), wanted).await
}

/// Waits until a session is in a state.
pub(crate) async fn until_state(sessions: &Sessions, key: &str, wanted: ServerPhase) -> SessionView {
    until_view(sessions, key, |view| view.state == wanted).await
}

/// A subscriber of a session, with the events that it has seen.
pub(crate) struct TestSubscriber {
    events: Subscription,
    pub(crate) seen: Vec<UiMessage>,
}

impl TestServer {
    pub(crate) async fn subscribe(&self, session: &SessionView) -> TestSubscriber {
        TestSubscriber::new(&self.sessions, &session.key, SubscribeOptions::default()).await
    }
}

impl TestSubscriber {
    pub(crate) async fn new(sessions: &Sessions, key: &str, options: SubscribeOptions) -> Self {
        let (_, events) = sessions.subscribe(key, options).await.unwrap();
        TestSubscriber { events, seen: Vec::new() }
    }

    pub(crate) async fn until(&mut self, wanted: impl Fn(&UiMessage) -> bool) -> UiMessage {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let next = timeout_at(deadline, self.events.next()).await;
            let Ok(Ok(Delivery::Event(event))) = next else {
                panic!("it never came ({next:?}); these did: {:#?}", self.seen);
            };
            let event: UiMessage = serde_json::from_slice(&event.body).unwrap();
            self.seen.push(event.clone());
            if wanted(&event) {
                return event;
            }
        }
    }

    pub(crate) async fn complete(&mut self) {
        self.until(|event| matches!(event, UiMessage::Complete { .. })).await;
    }

    pub(crate) async fn asked(&mut self) -> String {
        match self.until(|event| matches!(event, UiMessage::PermissionDetails(_))).await {
            UiMessage::PermissionDetails(details) => details.tool_use_id,
            _ => unreachable!(),
        }
    }

    /// The cursor of the last event that it has seen.
    pub(crate) fn cursor(&self) -> Cursor {
        self.events.cursor()
    }

    pub(crate) fn text(&self) -> String {
        text_of(&self.seen)
    }
}

/// The streamed text of events.
pub(crate) fn text_of(events: &[UiMessage]) -> String {
    let chunks = events.iter().filter_map(|event| match event {
        UiMessage::TextChunk { text, .. } => Some(text.as_str()),
        _ => None,
    });
    chunks.collect()
}

/// All stored events of a session.
pub(crate) async fn stored_events(journal: &dyn Journal, name: &SessionName) -> Vec<UiMessage> {
    let key = journal.session(name).await.unwrap().key;
    let (mut after, mut all) = (None, Vec::new());
    loop {
        let page = journal.read(&key, after, Max::default()).await.unwrap();
        let Some(last) = page.events.last() else { return all };
        after = Some(last.cursor);
        all.extend(page.events.iter().map(|event| serde_json::from_slice(&event.body).unwrap()));
    }
}
