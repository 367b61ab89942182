//! Events as lines of JSON.

use serde::Serialize;
use tidings_protocol::ui::UiMessage;

use super::{Dialect, Mobile, to_ui};

/// A writer of events in one dialect, one JSON object per line.
#[derive(Debug)]
pub struct Lines(Writer);

#[derive(Debug)]
enum Writer {
    Ui,
    Native,
    Mobile(Box<Mobile>),
}

impl Lines {
    /// Creates a writer for a dialect.
    pub fn new(dialect: Dialect) -> Self {
        Self(match dialect {
            Dialect::Ui => Writer::Ui,
            Dialect::Native => Writer::Native,
            Dialect::Mobile => Writer::Mobile(Box::default()),
        })
    }

    /// Appends the events of one step of a fold, each on its own line.
    pub fn write(&mut self, events: &[UiMessage], out: &mut String) -> Result<(), serde_json::Error> {
        match &mut self.0 {
            Writer::Ui => events.iter().filter_map(to_ui).try_for_each(|event| line(&event, out)),
            Writer::Native => events.iter().try_for_each(|event| line(event, out)),
            Writer::Mobile(mobile) => {
                let mut messages = Vec::new();
                mobile.translate(events, &mut messages);
                messages.iter().try_for_each(|message| line(message, out))
            }
        }
    }
}

fn line(value: &impl Serialize, out: &mut String) -> Result<(), serde_json::Error> {
    out.push_str(&serde_json::to_string(value)?);
    out.push('\n');
    Ok(())
}
