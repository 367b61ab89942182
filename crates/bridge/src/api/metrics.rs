//! Metrics in the text format of Prometheus.

use std::fmt::{Display, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use tidings_sessions::{Caller, Error, Sessions};
use tokio::time::Instant;

use crate::fleet::Fleet;
use crate::notify::Notifications;

/// Upper bounds of the histogram's buckets. A stream counts when it begins.
const BUCKETS_MS: [u64; 9] = [1, 2, 5, 10, 25, 100, 250, 1000, 5000];

/// The counters.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// Responses by the first digit of the status.
    answers: [AtomicU64; 6],
    /// Requests by bucket, not cumulative; the last bucket has no bound.
    times: [AtomicU64; BUCKETS_MS.len() + 1],
    time_us: AtomicU64,
    open: AtomicU64,
}

/// Counts a request.
pub(crate) async fn count(State(metrics): State<Arc<Metrics>>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let open = Open::new(&metrics.open);
    let response = next.run(request).await;
    drop(open);
    metrics.answered(response.status().as_u16(), begun.elapsed());
    response
}

/// Counts a request as open until it is answered or its client has left.
struct Open<'a>(&'a AtomicU64);

impl<'a> Open<'a> {
    fn new(open: &'a AtomicU64) -> Self {
        open.fetch_add(1, Ordering::Relaxed);
        Open(open)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Metrics {
    fn answered(&self, status: u16, time: Duration) {
        let add = |counter: Option<&AtomicU64>, by: u64| {
            counter.map(|counter| counter.fetch_add(by, Ordering::Relaxed))
        };
        add(self.answers.get(usize::from(status / 100)), 1);
        let class =
            BUCKETS_MS.iter().position(|ms| time <= Duration::from_millis(*ms)).unwrap_or(BUCKETS_MS.len());
        add(self.times.get(class), 1);
        add(Some(&self.time_us), u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    }

    /// The text of all metrics.
    pub(crate) async fn text(
        &self,
        sessions: &Sessions,
        notifications: &Notifications,
        fleet: Option<&Fleet>,
    ) -> Result<String, Error> {
        let mut text = MetricsText(String::new());
        let full = u8::from(sessions.broadcast().journal().is_full());
        text.single("tidings_storage_full", "gauge", "Whether the disk of the journal is full.", full);
        text.metric("tidings_build_info", "gauge", "The version that runs.");
        text.line(&format!("tidings_build_info{{version=\"{}\"}}", env!("CARGO_PKG_VERSION")), 1);
        let (journal, publisher) = (sessions.broadcast().journal(), sessions.broadcast().publisher());
        let (states, asks) = sessions.counts().await?;
        text.metric("tidings_sessions", "gauge", "Sessions by state.");
        for (state, count) in states {
            text.line(&format!("tidings_sessions{{state=\"{state}\"}}"), count);
        }
        text.single("tidings_asks_open", "gauge", "Requests that wait for a user.", asks);
        text.single(
            "tidings_sessions_watched",
            "gauge",
            "Sessions that have subscribers.",
            publisher.subscribed_sessions(),
        );
        text.single(
            "tidings_watchers",
            "gauge",
            "Subscriptions to all sessions.",
            publisher.subscription_count(),
        );
        text.single("tidings_events_total", "counter", "Events that were stored.", publisher.published());
        let help = "Events of the journal that cannot be read.";
        text.single("tidings_journal_damaged_events", "gauge", help, journal.damaged_events());
        let help = "Parts of the journal that it held and does not hold any more, as of the start.";
        text.single("tidings_journal_losses", "gauge", help, journal.losses().len() as u64);
        inbox(&mut text, notifications).await?;
        if let Some(fleet) = fleet {
            self::fleet(&mut text, fleet);
        }
        self.requests(&mut text);
        Ok(text.0)
    }

    fn requests(&self, text: &mut MetricsText) {
        let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        text.single("tidings_requests_open", "gauge", "Requests that are being answered.", value(&self.open));
        text.metric("tidings_requests_total", "counter", "Requests by class of status.");
        for (class, count) in self.answers.iter().enumerate().skip(1) {
            text.line(&format!("tidings_requests_total{{status=\"{class}xx\"}}"), value(count));
        }
        text.metric("tidings_request_seconds", "histogram", "Time until the response to a request began.");
        let mut sum = 0;
        for (ms, count) in BUCKETS_MS.iter().zip(&self.times) {
            sum += value(count);
            let seconds = Duration::from_millis(*ms).as_secs_f64();
            text.line(&format!("tidings_request_seconds_bucket{{le=\"{seconds}\"}}"), sum);
        }
        sum += self.times.last().map_or(0, value);
        text.line("tidings_request_seconds_bucket{le=\"+Inf\"}", sum);
        text.line("tidings_request_seconds_sum", Duration::from_micros(value(&self.time_us)).as_secs_f64());
        text.line("tidings_request_seconds_count", sum);
    }
}

/// The inbox, and what became of its notifications, by target.
async fn inbox(text: &mut MetricsText, notifications: &Notifications) -> Result<(), Error> {
    let targets = notifications.targets().await?;
    let counts = notifications.inbox().counts(&Caller::admin("metrics"));
    text.metric("tidings_inbox_items", "gauge", "Items of the inbox that wait or are unread.");
    text.line("tidings_inbox_items{state=\"waiting\"}", counts.waiting);
    text.line("tidings_inbox_items{state=\"unread\"}", counts.unread);
    text.metric("tidings_notifications_total", "counter", "Notifications by target and result.");
    for target in &targets {
        let (sent, failed) = notifications.sent_and_failed(&target.id);
        let label = format!("target=\"{}\",kind=\"{}\"", target.id, target.kind.as_str());
        text.line(&format!("tidings_notifications_total{{{label},result=\"sent\"}}"), sent);
        text.line(&format!("tidings_notifications_total{{{label},result=\"failed\"}}"), failed);
    }
    text.metric("tidings_notify_target_failures", "gauge", "Failures in a row, by target.");
    for target in &targets {
        let label = format!("target=\"{}\",kind=\"{}\"", target.id, target.kind.as_str());
        text.line(&format!("tidings_notify_target_failures{{{label}}}"), target.failures);
    }
    Ok(())
}

#[cfg(not(feature = "fleet"))]
fn fleet(_: &mut MetricsText, fleet: &Fleet) {
    match *fleet {}
}

/// The connection to the fleet.
#[cfg(feature = "fleet")]
fn fleet(text: &mut MetricsText, fleet: &Fleet) {
    let counters = fleet.counters();
    let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let full = u8::from(counters.full.load(Ordering::Relaxed));
    text.single("tidings_fleet_storage_full", "gauge", "Whether the storage of the fleet is full.", full);
    for (name, help, number) in [
        ("events_sent_total", "Events that were published to the fleet.", &counters.events_sent),
        ("units_sent_total", "Units of events that were published to the fleet.", &counters.units_sent),
        ("retries_total", "Publications that were tried again.", &counters.retries),
        ("events_taken_total", "Events of other servers that were stored.", &counters.events_taken),
        ("units_taken_total", "Units of events of other servers that were stored.", &counters.units_taken),
        ("refused_total", "Messages of the fleet that were refused.", &counters.refused),
        ("redelivered_total", "Messages of the fleet that were read again.", &counters.redelivered),
        ("connects_total", "Connections to the NATS server.", &counters.connects),
    ] {
        text.single(&format!("tidings_fleet_{name}"), "counter", help, value(number));
    }
    let help = "Sessions with events that are not published yet.";
    text.single("tidings_fleet_sessions_behind", "gauge", help, value(&counters.behind));
    let help = "Messages of the fleet that are not read yet.";
    text.single("tidings_fleet_messages_behind", "gauge", help, value(&counters.lag));
    let status = fleet.status();
    let help = "Events that other servers have announced and this one does not have.";
    text.single("tidings_fleet_events_behind", "gauge", help, status.events_behind);
    let help = "Whether this server was removed from the fleet, or the fleet is another one.";
    text.single("tidings_fleet_out", "gauge", help, u8::from(status.problem.is_some()));
    text.metric("tidings_fleet_node_up", "gauge", "Whether a server of the fleet is connected.");
    for node in status.nodes {
        text.line(&format!("tidings_fleet_node_up{{node=\"{}\"}}", node.name), u8::from(node.is_reachable));
    }
}

struct MetricsText(String);

impl MetricsText {
    fn metric(&mut self, name: &str, kind: &str, help: &str) {
        // Writing into a String cannot fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, value: impl Display) {
        let _ = writeln!(self.0, "{name} {value}");
    }

    fn single(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.metric(name, kind, help);
        self.line(name, value);
    }
}
