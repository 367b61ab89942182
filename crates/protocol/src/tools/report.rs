//! Tools that report: findings of a review, feedback, notifications.

use crate::json::object;

object! {
    /// The findings of a review.
    pub struct ReportFindingsInput {
        /// Effort level of the review.
        opt level: String,
        req findings: Vec<ReviewFinding>,
    }

    /// The findings that were reported.
    pub struct ReportFindingsOutput {
        opt count: u64,
        opt level: String,
        opt findings: Vec<ReviewFinding>,
    }

    /// A defect that a review found.
    pub struct ReviewFinding {
        opt file: String,
        opt line: u64,
        opt summary: String,
        opt short_summary: String,
        /// Situation in which it causes a failure.
        opt failure_scenario: String,
        opt category: String,
        /// `CONFIRMED` or `PLAUSIBLE`.
        opt verdict: String,
        /// `fixed`, `skipped` or `no_change_needed`.
        opt outcome: String,
    }

    /// Feedback about Claude Code to its makers.
    pub struct SendFeedbackInput {
        /// `bug`, `idea` or `missing_capability`.
        opt kind: String as "type",
        req title: String,
        opt details: String,
        opt area: String,
        opt failure_mode: String,
        opt task_category: String,
    }

    /// Result of sending feedback.
    pub struct SendFeedbackOutput {
        opt success: bool,
        opt message: String,
    }

    /// A notification for the user's phone or desktop.
    pub struct PushNotificationInput {
        req message: String,
        /// `proactive`.
        opt status: String,
    }

    /// The notification, and its way.
    pub struct PushNotificationOutput {
        opt message: String,
        opt push_sent: bool as "pushSent",
        opt local_sent: bool as "localSent",
        /// `config_off`, `user_present` or `no_transport`.
        opt disabled_reason: String as "disabledReason",
        opt sent_at: String as "sentAt",
    }

    /// Request for notifications to the session.
    pub struct ReadNotificationsInput {}

    /// Notifications to the session.
    pub struct ReadNotificationsOutput {
        opt notifications: Vec<QueuedNotification>,
        /// Number of notifications that are still queued.
        opt remaining: u64,
        opt read_at: String,
    }

    /// A notification to the session.
    pub struct QueuedNotification {
        opt notification_id: String,
        /// Its source, such as `github_webhook`.
        opt origin: String,
        opt queued_at: String,
        opt content: String,
        opt arrived_at: String,
    }
}
