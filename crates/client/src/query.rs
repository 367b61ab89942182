use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_core::future::BoxFuture;
use futures_core::stream::BoxStream;
use parking_lot::Mutex;
use tidings_protocol::json::Raw;
use tidings_protocol::messages::Message;
use tidings_protocol::{Frame, Kind, Outcome};
use tokio::sync::mpsc;

use crate::client::{Client, Event, OUTPUT_MISSING, TurnEnd, TurnOutcome, lagged};
use crate::error::{Error, ErrorKind};
use crate::limits::BACKGROUND_WAIT;
use crate::options::Options;
use crate::prompt::Prompt;
use crate::transport::{Process, Transport};

/// Sends one prompt to Claude Code and streams all messages until the session is done.
///
/// The session starts when the first message is polled, and ends with the stream. The last message is usually
/// the result; a result that reports a failure is a message, not an error.
///
/// ```no_run
/// # async fn run() -> Result<(), tidings::Error> {
/// let mut answer = tidings::query("What is 2 + 2?", tidings::Options::new());
/// while let Some(message) = answer.next().await {
///     println!("{}", message?.to_line());
/// }
/// # Ok(())
/// # }
/// ```
pub fn query(prompt: impl Into<Prompt>, options: Options) -> Query {
    query_over(Process::new(), prompt, options)
}

/// Sends one prompt over any transport; see [`query()`].
pub fn query_over(transport: impl Transport + 'static, prompt: impl Into<Prompt>, options: Options) -> Query {
    let prompts = Once(Some(prompt.into()));
    Query::new(transport, Box::pin(prompts), options)
}

/// Sends a stream of prompts to Claude Code. The session ends when the stream has ended and all prompts are
/// answered.
pub fn query_stream(prompts: impl Stream<Item = Prompt> + Send + 'static, options: Options) -> Query {
    Query::new(Process::new(), Box::pin(prompts), options)
}

/// The messages of a [`query`].
#[must_use = "the prompt is not sent until the first message is polled"]
pub struct Query {
    /// Drives the session while a message is polled. The lock is never contended; it makes a query `Sync`.
    drive: Mutex<Option<BoxFuture<'static, ()>>>,
    frames: mpsc::Receiver<Result<Frame, Error>>,
}

impl Query {
    fn new(
        transport: impl Transport + 'static,
        prompts: BoxStream<'static, Prompt>,
        options: Options,
    ) -> Self {
        // A capacity of one: unread messages wait in the subscriber's queue, which is bounded.
        let (sender, frames) = mpsc::channel(1);
        let drive = async move {
            if let Err(error) = run(transport, prompts, options, &sender).await {
                drop(sender.send(Err(error)).await);
            }
        };
        Query { drive: Mutex::new(Some(Box::pin(drive))), frames }
    }

    /// The next message; `None` when the stream has ended.
    pub async fn next(&mut self) -> Option<Result<Message, Error>> {
        Some(self.next_frame().await?.map(|frame| frame.message()))
    }

    /// The next message, as a frame with its original bytes.
    pub async fn next_frame(&mut self) -> Option<Result<Frame, Error>> {
        std::future::poll_fn(|context| self.poll_frame(context)).await
    }

    /// Reads all messages and returns the text of the last result.
    ///
    /// A result that reports a failure is returned as an error.
    pub async fn text(mut self) -> Result<String, Error> {
        let mut last = None;
        while let Some(frame) = self.next_frame().await {
            let frame = frame?;
            if frame.kind() == Kind::Result {
                last = Some(frame);
            }
        }
        let Some(result) = last else {
            return Err(Error::new(
                ErrorKind::Exit,
                "The session ended without a result",
                "read the messages one by one",
            ));
        };
        if let Some(text) = result.error_text() {
            return Err(Error::new(
                ErrorKind::Exit,
                text,
                "read the messages one by one to see what led to it",
            ));
        }
        Ok(result.get("result").and_then(Raw::text).map(|text| text.get().into_owned()).unwrap_or_default())
    }

    fn poll_frame(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame, Error>>> {
        if let Poll::Ready(Some(frame)) = self.frames.poll_recv(context) {
            return Poll::Ready(Some(frame));
        }
        let drive = self.drive.get_mut();
        if let Some(work) = drive
            && work.as_mut().poll(context).is_ready()
        {
            *drive = None;
        }
        self.frames.poll_recv(context)
    }
}

impl Stream for Query {
    type Item = Result<Message, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_frame(context).map(|next| next.map(|frame| frame.map(|frame| frame.message())))
    }
}

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Query").finish_non_exhaustive()
    }
}

async fn run(
    transport: impl Transport + 'static,
    mut prompts: BoxStream<'static, Prompt>,
    options: Options,
    messages: &mpsc::Sender<Result<Frame, Error>>,
) -> Result<(), Error> {
    let client = Client::connect_over(transport, options).await?;
    let mut events = client.subscribe();
    let mut more = true;
    let mut asked = false;
    let mut open = true;
    loop {
        // The end of its input tells the CLI that no more answers will come, so it is closed only when all
        // turns are done.
        let over = async {
            if asked {
                drop(client.settled().await);
            }
        };
        let waiting = !more && open && !client.is_busy();
        let event = tokio::select! {
            biased;
            event = events.next() => event,
            prompt = next(&mut prompts), if more => {
                match prompt {
                    Some(prompt) => {
                        asked = true;
                        drop(client.send(prompt).await?);
                    }
                    None => more = false,
                }
                continue;
            }
            // The session is being closed by its token: read what has arrived, and wait for nothing more.
            () = client.closing() => return Ok(()),
            () = over, if !more && open => {
                open = false;
                client.end_input();
                continue;
            }
            () = tokio::time::sleep(BACKGROUND_WAIT), if waiting => {
                open = false;
                client.end_input();
                continue;
            }
        };
        match event {
            Some(Event::Frame { frame, .. }) => {
                if is_for_reading(&frame) && messages.send(Ok(frame)).await.is_err() {
                    return Ok(());
                }
            }
            Some(Event::TurnEnded(end)) if lacks_output(&end) => {
                let hint = "check the answer, or relax the schema";
                drop(messages.send(Err(Error::new(ErrorKind::Decode, OUTPUT_MISSING, hint))).await);
            }
            Some(Event::TurnEnded(end)) if end.outcome == TurnOutcome::ResultLost => {
                drop(messages.send(Err(Error::result_lost())).await);
            }
            Some(Event::Lagged { lost }) => drop(messages.send(Err(lagged(lost))).await),
            Some(Event::Ended { error: Some(error), .. }) => return Err(error),
            Some(Event::Ended { .. }) | None => return Ok(()),
            Some(_) => {}
        }
    }
}

/// True if a successful result lacks the structured output that the options require.
fn lacks_output(end: &TurnEnd) -> bool {
    let says_so =
        end.result.as_ref().is_some_and(|result| result.outcome() == Some(Outcome::StructuredOutput));
    end.outcome == TurnOutcome::Failed(Outcome::StructuredOutput) && !says_so
}

/// True unless the frame is a mirrored line of the session file, which is for a store and not for a reader.
fn is_for_reading(frame: &Frame) -> bool {
    frame.type_name().as_deref() != Some("transcript_mirror")
}

async fn next(prompts: &mut BoxStream<'static, Prompt>) -> Option<Prompt> {
    std::future::poll_fn(|context| prompts.as_mut().poll_next(context)).await
}

/// One prompt as a stream.
struct Once(Option<Prompt>);

impl Stream for Once {
    type Item = Prompt;

    fn poll_next(mut self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<Option<Prompt>> {
        Poll::Ready(self.0.take())
    }
}
