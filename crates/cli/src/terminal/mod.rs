//! Terminal output of a session, and prompts for its requests.
//!
//! Text becomes [`Line`]s. A line contains no control characters, since its constructors filter them.
//! Everything up to the [`Screen`] is free of I/O.

pub(crate) mod ask;
mod card;
mod diff;
mod editor;
mod keys;
mod line;
mod live;
mod markdown;
pub(crate) mod safe;
mod screen;
mod status;
mod style;
mod view;

pub(crate) use editor::{PromptEditor, TerminalSettings, Typed, prompt_editor};
pub(crate) use keys::{Key, Keyboard};
pub(crate) use line::Line;
pub(crate) use safe::text as safe_text;
pub(crate) use screen::{Paint, Pane, Screen};
pub(crate) use style::Style;
pub(crate) use view::{CtrlC, Diffs, Thoughts, TurnStart, View};
