//! A sink that writes the conversation as plain text, for programs without a front end.

use std::fmt;
use std::io::Write;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use parking_lot::Mutex;
use tidings_protocol::ui::UiMessage;

use super::{EventSink, SendError};

/// A sink that writes the conversation to one stream and errors to another, as plain text: standard output
/// and standard error, for a program that has no front end.
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
/// Control characters in the text are removed, so that neither agent nor tool can send escape sequences to a
/// terminal.
#[derive(Clone)]
pub struct TextEventSink(Arc<Mutex<TextStreams>>);

struct TextStreams {
    output: Box<dyn Write + Send>,
    errors: Box<dyn Write + Send>,
}

impl TextEventSink {
    /// Creates a sink that writes text and tool names to `output`, and errors to `errors`.
    pub fn new(output: impl Write + Send + 'static, errors: impl Write + Send + 'static) -> Self {
        TextEventSink(Arc::new(Mutex::new(TextStreams {
            output: Box::new(output),
            errors: Box::new(errors),
        })))
    }
}

impl TextStreams {
    fn write(&mut self, event: &UiMessage) -> std::io::Result<()> {
        match event {
            UiMessage::TextChunk { text, .. } => write!(self.output, "{}", PlainText(text))?,
            UiMessage::Complete { .. } => writeln!(self.output)?,
            UiMessage::ToolExecuting { tool_name, .. } => {
                writeln!(self.output, "[Tool: {}]", PlainText(tool_name))?;
            }
            UiMessage::Display { content, .. } => writeln!(self.output, "{}", PlainText(content))?,
            UiMessage::Error { message, .. } => {
                writeln!(self.errors, "{}", PlainText(message))?;
                return self.errors.flush();
            }
            _ => return Ok(()),
        }
        self.output.flush()
    }
}

impl EventSink for TextEventSink {
    fn send(&self, event: UiMessage) -> Result<(), SendError> {
        let mut streams = self.0.lock();
        streams.write(&event).map_err(|_| SendError::Closed(Box::new(event)))
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

/// Text without control characters, except for newlines and tabs.
struct PlainText<'a>(&'a str);

impl fmt::Display for PlainText<'_> {
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
    struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

    impl Write for SharedBuffer {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl SharedBuffer {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().clone()).unwrap()
        }
    }

    /// S3.27: text as it is, a newline at the end of a turn, tools by name, errors on the other stream.
    /// T8: control characters are removed.
    #[test]
    fn s3_27_a_text_sink_writes_what_a_person_reads() {
        let (output, errors) = (SharedBuffer::default(), SharedBuffer::default());
        let sink = TextEventSink::new(output.clone(), errors.clone());
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
        assert_eq!(output.text(), "Hello[31m[Tool: Bash]\n\n");
        assert_eq!(errors.text(), "overloaded\n");
    }
}
