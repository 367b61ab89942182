//! Progress bars for long commands.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::can_draw;

/// A bar on standard error: bytes done of the total. It is hidden in the first second, and always if standard
/// error is not a terminal.
#[derive(Debug)]
pub struct Progress(ProgressBar);

/// Delay before the bar is drawn.
const DRAW_DELAY: Duration = Duration::from_secs(1);

impl Progress {
    /// Creates a bar for `bytes_total`, with a label such as `checking`.
    pub fn bytes(doing: &'static str, bytes_total: u64) -> Self {
        if !can_draw() {
            return Progress(ProgressBar::hidden());
        }
        let bar = ProgressBar::with_draw_target(Some(bytes_total), ProgressDrawTarget::hidden());
        let template = "{msg} {bar:30} {bytes} of {total_bytes}, {eta} left";
        bar.set_style(
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        bar.set_message(doing);
        Progress(bar)
    }

    /// Adds `bytes` to those that are done.
    pub fn done(&self, bytes: u64) {
        self.0.inc(bytes);
        if self.0.is_hidden() && self.0.length().is_some() && self.0.elapsed() > DRAW_DELAY && can_draw() {
            self.0.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Hides the bar while `write` writes something else.
    pub(crate) fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        self.0.suspend(write)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
