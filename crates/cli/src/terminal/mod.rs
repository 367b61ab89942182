//! A session in a terminal: what it looks like, and what is asked there.
//!
//! Text becomes [`Line`]s, and a line is made of nothing that could steer a terminal: the filter is in the only way in.
//! Everything up to the [`Screen`] is plain values in and plain values out.

pub(crate) mod ask;
mod card;
mod diff;
mod editor;
mod keys;
mod line;
mod live;
mod markdown;
mod safe;
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
pub(crate) use view::{Began, CtrlC, Diffs, Thoughts, View};
