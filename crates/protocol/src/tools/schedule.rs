//! Tools that send prompts at certain times, and triggers in the cloud.

use crate::json::{Json, object};

object! {
    /// A prompt to send at certain times.
    pub struct CronCreateInput {
        /// The times, as five fields of cron in local time.
        req cron: String,
        req prompt: String,
        /// False to send it once.
        opt recurring: bool,
        /// True to keep it after the session.
        opt durable: bool,
    }

    /// A prompt that will be sent at certain times.
    pub struct CronJob {
        opt id: String,
        opt cron: String,
        /// The times in words.
        opt human_schedule: String as "humanSchedule",
        opt prompt: String,
        opt recurring: bool,
        opt durable: bool,
        /// Time of the next run, in milliseconds since 1970.
        opt next_fire_at: u64 as "nextFireAt",
    }

    /// A prompt that should no longer be sent.
    pub struct CronDeleteInput {
        req id: String,
    }

    /// The prompt that will no longer be sent.
    pub struct CronDeleteOutput {
        opt id: String,
        /// True if it was the next turn of a loop.
        opt ended_loop_wakeup: bool as "endedLoopWakeup",
    }

    /// Request for the prompts that will be sent at certain times.
    pub struct CronListInput {}

    /// The prompts that will be sent at certain times.
    pub struct CronListOutput {
        opt jobs: Vec<CronJob>,
    }

    /// The next turn of a loop.
    pub struct ScheduleWakeupInput {
        opt delay_seconds: f64 as "delaySeconds",
        /// Reason for the delay.
        opt reason: String,
        opt prompt: String,
        /// True to end the loop.
        opt stop: bool,
        /// True if nothing has changed since the last turn.
        opt noop: bool,
    }

    /// The next turn of a loop, as it was scheduled.
    pub struct ScheduleWakeupOutput {
        /// Its time, in milliseconds since 1970.
        opt scheduled_for: u64 as "scheduledFor",
        opt clamped_delay_seconds: f64 as "clampedDelaySeconds",
        /// True if another delay was requested.
        opt was_clamped: bool as "wasClamped",
        /// True if the loop was ended.
        opt stopped: bool,
        opt cancelled_wakeups: u64 as "cancelledWakeups",
    }

    /// A request about triggers, which start sessions in the cloud.
    pub struct RemoteTriggerInput {
        /// `list`, `get`, `create`, `update`, `run`, `create_webhook_trigger`, `list_runs` or `get_run_log`.
        req action: String,
        opt trigger_id: String,
        /// The run whose log is read.
        opt session_id: String,
        /// Position in a listing.
        opt cursor: String,
        opt body: Json,
    }

    /// Reply to a request about triggers.
    pub struct RemoteTriggerOutput {
        /// HTTP status code.
        opt status: u64,
        /// The reply.
        opt json: String,
        opt summary: String,
    }
}

/// The prompt that will be sent.
pub type CronCreateOutput = CronJob;
