//! The log on standard error.

use std::io;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::declared::{LogForm, LogLevel};

/// Beginning of the names of our crates, which log no secrets. Other crates may log whole messages at verbose
/// levels, so they are limited to warnings.
const OURS: &str = "tidings";

/// Starts logging. Does nothing in a process that already logs, such as a test.
pub(super) fn start(form: LogForm, level: LogLevel) {
    let level = match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    let shown = Targets::new().with_default(LevelFilter::WARN).with_target(OURS, level);
    let builder = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_target(false);
    let started = match form {
        LogForm::Text => builder.compact().finish().with(shown).try_init(),
        LogForm::Json => builder.json().flatten_event(true).finish().with(shown).try_init(),
    };
    drop(started);
}
