//! One prompt, or a stream of prompts, as a stream of messages.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use futures_core::future::BoxFuture;
use futures_core::stream::BoxStream;
use parking_lot::Mutex;
use tidings_protocol::json::Raw;
use tidings_protocol::messages::{ContentBlock, Message};
use tidings_protocol::{Frame, Kind, Outcome};
use tokio::sync::mpsc;

use crate::client::{Client, Event, OUTPUT_MISSING, Turn, TurnEnd, TurnOutcome, lagged, outcome};
use crate::error::{Error, ErrorKind};
use crate::limits::BACKGROUND_WAIT;
use crate::options::Options;
use crate::prompt::Prompt;
use crate::transport::{Process, Transport};

/// Sends one prompt to Claude Code and streams all messages until the session is done.
///
/// The session starts when the first message is polled, and ends with the stream. Each turn has a message
/// that is its result, and messages about the session may follow it; a result that reports a failure is a
/// message, not an error. [`Query::text`] waits for the answer, and [`Query::text_stream`] yields its text as
/// it is written.
///
/// No message is lost: while the messages are not read, the session waits, after some thousands of them. It
/// must be polled inside a tokio runtime.
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
    drive: Mutex<Drive>,
    frames: mpsc::Receiver<Result<Frame, Error>>,
}

/// The session of a query.
enum Drive {
    /// Not yet started, with the options to start it with.
    Unstarted(Start, Box<Options>),
    Running(BoxFuture<'static, ()>),
    Ended,
}

type Start = Box<dyn FnOnce(Options) -> BoxFuture<'static, ()> + Send>;

impl Query {
    fn new(
        transport: impl Transport + 'static,
        prompts: BoxStream<'static, Prompt>,
        options: Options,
    ) -> Self {
        // A capacity of one: unread messages wait in the subscriber's queue, which is bounded.
        let (sender, frames) = mpsc::channel(1);
        let start: Start = Box::new(move |options| {
            Box::pin(async move {
                if let Err(error) = run(transport, prompts, options, &sender).await {
                    drop(sender.send(Err(error)).await);
                }
            })
        });
        Query { drive: Mutex::new(Drive::Unstarted(start, Box::new(options))), frames }
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
    /// A result that reports a failure is returned as an error of the kind [`ErrorKind::Turn`], with its
    /// [outcome](Error::outcome).
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
        if let Some(error) = failure(&result) {
            return Err(error);
        }
        Ok(result.get("result").and_then(Raw::text).map(|text| text.get().into_owned()).unwrap_or_default())
    }

    /// The text of the answer, piece by piece as it is written, without that of sub-agents.
    ///
    /// A turn that fails is an error of the kind [`ErrorKind::Turn`].
    ///
    /// ```no_run
    /// # async fn run() -> Result<(), tidings::Error> {
    /// let mut story = tidings::query("Tell me a story.", tidings::Options::new()).text_stream();
    /// while let Some(text) = story.next().await {
    ///     print!("{}", text?);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn text_stream(mut self) -> TextStream {
        if let Drive::Unstarted(_, options) = self.drive.get_mut() {
            **options = std::mem::take(&mut **options).include_partial_messages();
        }
        TextStream { query: self, has_delta: false }
    }

    fn poll_frame(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame, Error>>> {
        if let Poll::Ready(Some(frame)) = self.frames.poll_recv(context) {
            return Poll::Ready(Some(frame));
        }
        let drive = self.drive.get_mut();
        if matches!(drive, Drive::Unstarted(..))
            && let Drive::Unstarted(start, options) = std::mem::replace(drive, Drive::Ended)
        {
            *drive = Drive::Running(start(*options));
        }
        if let Drive::Running(work) = drive
            && work.as_mut().poll(context).is_ready()
        {
            *drive = Drive::Ended;
        }
        self.frames.poll_recv(context)
    }
}

/// The text of an answer as it is written; see [`Query::text_stream`].
#[must_use = "the prompt is not sent until the first text is polled"]
#[derive(Debug)]
pub struct TextStream {
    query: Query,
    /// True if a delta has arrived since the last whole message with text.
    has_delta: bool,
}

impl TextStream {
    /// The next piece of text; `None` when the answer is complete.
    pub async fn next(&mut self) -> Option<Result<String, Error>> {
        std::future::poll_fn(|context| self.poll_text(context)).await
    }

    fn poll_text(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<String, Error>>> {
        loop {
            let frame = match ready!(self.query.poll_frame(context)) {
                Some(Ok(frame)) => frame,
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            };
            if let Some(text) = self.text_of(&frame).transpose() {
                return Poll::Ready(Some(text));
            }
        }
    }

    /// The text that a frame adds to the answer.
    fn text_of(&mut self, frame: &Frame) -> Result<Option<String>, Error> {
        match frame.kind() {
            Kind::Result => failure(frame).map_or(Ok(None), Err),
            _ if frame.parent_tool_use_id().is_some() => Ok(None),
            Kind::StreamEvent => {
                let text = frame.message().text_delta().map(str::to_owned);
                self.has_delta |= text.is_some();
                Ok(text)
            }
            // Without deltas, as of a command of the CLI itself. The text of an error is that of the result.
            Kind::Assistant if frame.get("error").is_none() => {
                let message = frame.message();
                let text: String =
                    message.content_blocks().iter().filter_map(ContentBlock::as_text).collect();
                let repeats = text.is_empty() || std::mem::take(&mut self.has_delta);
                Ok((!repeats).then_some(text))
            }
            _ => Ok(None),
        }
    }
}

impl Stream for TextStream {
    type Item = Result<String, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_text(context)
    }
}

/// The error of a result that reports a failure.
fn failure(result: &Frame) -> Option<Error> {
    let text = result.error_text()?;
    Some(Error::turn(outcome(result), Some(text)))
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
    let mut events = client.follow();
    // Messages are read while a prompt is being sent: the session may wait for both.
    let mut sending: Option<BoxFuture<'_, Result<Turn, Error>>> = None;
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
        let all_sent = !more && sending.is_none();
        let waiting = all_sent && open && !client.is_busy();
        let event = tokio::select! {
            biased;
            event = events.next() => event,
            sent = finished(&mut sending), if sending.is_some() => {
                sending = None;
                drop(sent?);
                continue;
            }
            prompt = next(&mut prompts), if more && sending.is_none() => {
                match prompt {
                    Some(prompt) => {
                        asked = true;
                        sending = Some(Box::pin(client.send(prompt)));
                    }
                    None => more = false,
                }
                continue;
            }
            // The session is being closed by its token: read what has arrived, and wait for nothing more.
            () = client.closing() => return Ok(()),
            () = over, if all_sent && open => {
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

/// The result of the prompt that is being sent.
async fn finished(sending: &mut Option<BoxFuture<'_, Result<Turn, Error>>>) -> Result<Turn, Error> {
    match sending {
        Some(sending) => sending.await,
        None => std::future::pending().await,
    }
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
