use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use futures_core::future::BoxFuture;
use tidings_protocol::ui::UiMessage;

use super::{EventSink, SendError};

/// Writes what is said to one place and what goes wrong to another, as plain text: standard output and standard error,
/// for a program that has no front end.
///
/// ```
/// use tidings_agent::{EventSink, TextEventSink, TurnId, UiMessage};
///
/// let sink = TextEventSink::new(std::io::stdout(), std::io::stderr());
/// let turn_id = TurnId::new_assistant_turn(1);
/// sink.send(UiMessage::TextChunk { text: "Hello".to_owned(), session_id: 1, turn_id })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Control characters of the text are left out, so that no agent and no tool can steer a terminal.
#[derive(Clone)]
pub struct TextEventSink(Arc<Mutex<Places>>);

struct Places {
    said: Box<dyn Write + Send>,
    wrong: Box<dyn Write + Send>,
}

impl TextEventSink {
    /// Text and tools go to `said`, errors to `wrong`.
    pub fn new(said: impl Write + Send + 'static, wrong: impl Write + Send + 'static) -> Self {
        TextEventSink(Arc::new(Mutex::new(Places { said: Box::new(said), wrong: Box::new(wrong) })))
    }
}

impl Places {
    fn write(&mut self, event: &UiMessage) -> std::io::Result<()> {
        match event {
            UiMessage::TextChunk { text, .. } => write!(self.said, "{}", Plain(text))?,
            UiMessage::Complete { .. } => writeln!(self.said)?,
            UiMessage::ToolExecuting { tool_name, .. } => {
                writeln!(self.said, "[Tool: {}]", Plain(tool_name))?;
            }
            UiMessage::Display { content, .. } => writeln!(self.said, "{}", Plain(content))?,
            UiMessage::Error { message, .. } => {
                writeln!(self.wrong, "{}", Plain(message))?;
                return self.wrong.flush();
            }
            _ => return Ok(()),
        }
        self.said.flush()
    }
}

impl EventSink for TextEventSink {
    fn send(&self, event: UiMessage) -> Result<(), SendError> {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        places.write(&event).map_err(|_| SendError::Closed(Box::new(event)))
    }

    fn send_async(&self, event: UiMessage) -> BoxFuture<'_, Result<(), SendError>> {
        Box::pin(std::future::ready(self.send(event)))
    }

    fn clone_box(&self) -> Box<dyn EventSink> {
        Box::new(self.clone())
    }
}

impl fmt::Debug for TextEventSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TextEventSink")
    }
}

/// Text without control characters, but for new lines and tabs.
struct Plain<'a>(&'a str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .split(|c: char| c.is_control() && c != '\n' && c != '\t')
            .try_for_each(|part| f.write_str(part))
    }
}

#[cfg(test)]
mod tests {
    use tidings_protocol::ui::{StopReason, TurnId};

    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl Shared {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    /// S3.27: text raw, a new line when the turn is complete, tools by name, errors elsewhere. T8: nothing of it steers.
    #[test]
    fn s3_27_a_text_sink_writes_what_a_person_reads() {
        let (said, wrong) = (Shared::default(), Shared::default());
        let sink = TextEventSink::new(said.clone(), wrong.clone());
        let turn_id = TurnId::new_assistant_turn(1);
        let text = |text: &str| UiMessage::TextChunk { text: text.to_owned(), session_id: 1, turn_id };
        for event in [
            text("Hel"),
            text("lo\u{1b}[31m"),
            UiMessage::ToolExecuting {
                tool_use_id: "t".to_owned(),
                tool_name: "Bash".to_owned(),
                input: serde_json::Value::Null,
                session_id: 1,
            },
            UiMessage::Error { message: "overloaded".to_owned(), session_id: Some(1) },
            UiMessage::Complete { session_id: 1, turn_id, stop_reason: StopReason::EndTurn },
        ] {
            sink.send(event).unwrap();
        }
        assert_eq!(said.text(), "Hello[31m[Tool: Bash]\n\n");
        assert_eq!(wrong.text(), "overloaded\n");
    }
}
