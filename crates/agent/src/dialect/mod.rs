//! The same events for different readers.
//!
//! | dialect | reader | what it gets |
//! |---|---|---|
//! | [`Dialect::Ui`] | programs written for the page of seed 003 | its twelve events and nothing else |
//! | [`Dialect::Native`] | our own page and programs | every event |
//! | [`Dialect::Mobile`] | apps written for the phone protocol of seed 002 | its messages |

mod lines;
mod mobile;
mod ui;

pub use lines::Lines;
pub use mobile::Mobile;
pub use ui::to_ui;

/// Which way events are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// The twelve events of seed 003, exactly as its page has them.
    Ui,
    /// Every event.
    Native,
    /// The messages of seed 002.
    Mobile,
}
