//! Terminal output of a session, and prompts for its requests.
//!
//! Text becomes [`Line`]s. A line contains no control characters, since its constructors filter them.
//! Everything up to the screen is free of I/O.

pub mod ask;
mod card;
mod diff;
pub(crate) mod keys;
mod line;
mod live;
mod markdown;
mod picker;
mod prompt;
pub(crate) mod safe;
mod screen;
mod status;
mod style;
mod view;

pub use keys::Key;
pub(crate) use keys::Keyboard;
pub use line::Line;
pub(crate) use picker::{PickItem, Picked, Picker};
pub use prompt::{Draft, PromptAction, PromptHistory, PromptInput, SlashCommand};
pub(crate) use safe::text as safe_text;
pub(crate) use screen::{Paint, Pane, Screen};
pub use style::Style;
pub use view::{CtrlC, Diffs, KeyEffect, Thoughts, TurnStart, View};
