//! The log on standard error.

use std::io;

use tracing_subscriber::EnvFilter;

use super::declared::{LogForm, LogLevel};

/// Our crates, which log no secrets. Other crates may log whole messages at verbose levels, so they are
/// limited to warnings.
const OURS: [&str; 8] = [
    "tidings",
    "tidings_agent",
    "tidings_bridge",
    "tidings_cli",
    "tidings_commands",
    "tidings_journal",
    "tidings_sessions",
    "tidings_transcript",
];

/// Starts logging. Does nothing in a process that already logs, such as a test.
pub(super) fn start(form: LogForm, level: LogLevel) {
    let level = match level {
        LogLevel::Error => "error",
        LogLevel::Warn => "warn",
        LogLevel::Info => "info",
        LogLevel::Debug => "debug",
        LogLevel::Trace => "trace",
    };
    let ours = OURS.map(|name| format!(",{name}={level}")).concat();
    let builder = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(format!("warn{ours}")))
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_target(false);
    let started = match form {
        LogForm::Text => builder.compact().try_init(),
        LogForm::Json => builder.json().flatten_event(true).try_init(),
    };
    drop(started);
}
