//! Serialization of events for different clients.
//!
//! | dialect | clients | content |
//! |---|---|---|
//! | [`Dialect::Ui`] | programs written for the published UI events | its twelve events and nothing else |
//! | [`Dialect::Native`] | our own page and programs | every event |
//! | [`Dialect::Mobile`] | apps written for the phone protocol | its messages |

mod lines;
mod mobile;
mod ui;

pub use lines::Lines;
pub use mobile::Mobile;
pub use ui::to_ui;

/// A serialization of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// The twelve published UI events, exactly as specified.
    Ui,
    /// Every event.
    Native,
    /// The messages of the phone protocol.
    Mobile,
}
