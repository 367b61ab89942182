//! Terminal output of a session, and prompts for its requests.
//!
//! Text becomes [`Line`]s. A line contains no control characters, since its constructors filter them.
//! Everything up to the [`Screen`] is free of I/O.

pub(crate) mod ask;
mod card;
mod diff;
mod keys;
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

pub(crate) use keys::{Key, Keyboard};
pub(crate) use line::Line;
pub(crate) use picker::{PickItem, Picked, Picker};
pub(crate) use prompt::{Draft, PromptAction, PromptHistory, PromptInput, SlashCommand};
pub(crate) use safe::text as safe_text;
pub(crate) use screen::{Paint, Pane, Screen};
pub(crate) use style::Style;
pub(crate) use view::{CtrlC, Diffs, KeyEffect, Thoughts, TurnStart, View};
