//! The task that writes to the transport, so that lines never interleave and are never half written.

use tidings_protocol::json::Raw;
use tidings_protocol::{FrameRef, Kind};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::agent_name::AgentName;
use crate::error::{Error, ErrorKind};
use crate::limits::{CONTROL_LINES_MAX, DATA_LINES_MAX};
use crate::transport::Outgoing;

/// A handle to the writer task. A queued line is written whole, even if its sender has given up.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    control: mpsc::Sender<QueuedLine>,
    data: mpsc::Sender<QueuedLine>,
    end: CancellationToken,
}

#[derive(Debug)]
struct QueuedLine {
    text: String,
    written: oneshot::Sender<Result<(), Error>>,
}

impl Writer {
    /// Starts the task.
    pub(super) fn start(outgoing: Box<dyn Outgoing>, agent: AgentName) -> Self {
        let (control, control_lines) = mpsc::channel(CONTROL_LINES_MAX);
        let (data, data_lines) = mpsc::channel(DATA_LINES_MAX);
        let end = CancellationToken::new();
        drop(tokio::spawn(run(outgoing, agent, control_lines, data_lines, end.clone())));
        Writer { control, data, end }
    }

    /// Writes a line of the control protocol, before all queued lines of the conversation.
    pub(super) async fn control(&self, text: String) -> Result<(), Error> {
        send(&self.control, text).await
    }

    /// Writes a line of the conversation.
    pub(super) async fn data(&self, text: String) -> Result<(), Error> {
        send(&self.data, text).await
    }

    /// Queues a line of the control protocol if there is room, without waiting until it is written.
    pub(super) fn control_if_room(&self, text: String) {
        drop(self.control.try_send(QueuedLine { text: one_line(text), written: oneshot::channel().0 }));
    }

    /// Writes the queued lines, and then ends the input of the CLI.
    pub(super) fn end(&self) {
        self.end.cancel();
    }

    pub(super) fn has_ended(&self) -> bool {
        self.end.is_cancelled()
    }
}

async fn send(lane: &mpsc::Sender<QueuedLine>, text: String) -> Result<(), Error> {
    let (written, done) = oneshot::channel();
    lane.send(QueuedLine { text: one_line(text), written }).await.map_err(|_| Error::closed())?;
    done.await.map_err(|_| Error::closed())?
}

/// Replaces line breaks by spaces. In JSON a line break can only stand between tokens.
fn one_line(text: String) -> String {
    if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ") } else { text }
}

async fn run(
    mut outgoing: Box<dyn Outgoing>,
    agent: AgentName,
    mut control: mpsc::Receiver<QueuedLine>,
    mut data: mpsc::Receiver<QueuedLine>,
    end: CancellationToken,
) {
    loop {
        let line = tokio::select! {
            biased;
            Some(line) = control.recv() => line,
            Some(line) = data.recv() => line,
            () = end.cancelled() => break,
            else => break,
        };
        write(&mut *outgoing, &agent, line).await;
    }
    control.close();
    data.close();
    while let Some(line) = control.recv().await {
        write(&mut *outgoing, &agent, line).await;
    }
    while let Some(line) = data.recv().await {
        write(&mut *outgoing, &agent, line).await;
    }
    if let Err(error) = outgoing.end().await {
        tracing::debug!(%error, "failed to close the input");
    }
}

async fn write(outgoing: &mut dyn Outgoing, agent: &AgentName, line: QueuedLine) {
    let result = match checked(&line.text, outgoing) {
        Ok(frame) => outgoing.send_frame(&line.text, frame).await.map_err(|source| {
            let hint = "it has exited or is exiting: the next error has the reason";
            Error::new(ErrorKind::Closed, format!("{agent} accepts no more input"), hint).caused_by(source)
        }),
        Err(error) => Err(error),
    };
    drop(line.written.send(result));
}

/// Decodes a line, and refuses those that crash the CLI: anything but an object, and control frames in the
/// flat style.
fn checked<'a>(text: &'a str, outgoing: &dyn Outgoing) -> Result<FrameRef<'a>, Error> {
    let frame = FrameRef::from_json(text).map_err(|error| {
        Error::invalid("Only a JSON object can be sent", "send a JSON object").caused_by(error)
    })?;
    let payload = match frame.kind() {
        Kind::ControlRequest => "request",
        Kind::ControlResponse => "response",
        _ => return Ok(frame),
    };
    if outgoing.takes_flat_control() || frame.get(payload).is_some_and(Raw::is_object) {
        return Ok(frame);
    }
    let message = format!("A `{}` frame in the flat style would crash Claude Code", frame.name());
    Err(Error::invalid(message, "use the nested style, `ControlStyle::Nested`"))
}
