use std::fmt;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_core::future::BoxFuture;
use futures_core::stream::BoxStream;
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

/// Asks Claude Code one thing: all messages, until it has nothing more to say.
///
/// The session is started when the first message is asked for, and ends with the stream. The last message is most often
/// the result; a result that says that something failed is a message, not an error.
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

/// The same over any carrier.
pub fn query_over(transport: impl Transport + 'static, prompt: impl Into<Prompt>, options: Options) -> Query {
    let prompts = Once(Some(prompt.into()));
    Query::new(transport, Box::pin(prompts), options)
}

/// Asks Claude Code one thing after another, as they come. The session ends when no more come and all are answered.
pub fn query_stream(prompts: impl Stream<Item = Prompt> + Send + 'static, options: Options) -> Query {
    Query::new(Process::new(), Box::pin(prompts), options)
}

/// The messages of a [`query`].
#[must_use = "nothing is asked until the first message is wanted"]
pub struct Query {
    /// Does the work while somebody waits for a message.
    /// In a lock that is never waited for, so that a query can be shared between threads.
    drive: Mutex<Option<BoxFuture<'static, ()>>>,
    frames: mpsc::Receiver<Result<Frame, Error>>,
}

impl Query {
    fn new(
        transport: impl Transport + 'static,
        prompts: BoxStream<'static, Prompt>,
        options: Options,
    ) -> Self {
        // One at a time: what is not read yet waits in the queue of a subscriber, which is bounded.
        let (sender, frames) = mpsc::channel(1);
        let drive = async move {
            if let Err(error) = run(transport, prompts, options, &sender).await {
                drop(sender.send(Err(error)).await);
            }
        };
        Query { drive: Mutex::new(Some(Box::pin(drive))), frames }
    }

    /// The next message; `None` when all is said.
    pub async fn next(&mut self) -> Option<Result<Message, Error>> {
        Some(self.next_frame().await?.map(|frame| frame.message()))
    }

    /// The next message with the bytes that it came in.
    pub async fn next_frame(&mut self) -> Option<Result<Frame, Error>> {
        std::future::poll_fn(|context| self.poll_frame(context)).await
    }

    /// Reads all messages and gives back the text of the last result.
    ///
    /// A result that says that something failed is an error here.
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
        if let Some(words) = result.error_text() {
            return Err(Error::new(
                ErrorKind::Exit,
                words,
                "read the messages one by one to see what led to it",
            ));
        }
        Ok(result.get("result").and_then(Raw::text).map(|text| text.get().into_owned()).unwrap_or_default())
    }

    fn poll_frame(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame, Error>>> {
        if let Poll::Ready(Some(frame)) = self.frames.poll_recv(context) {
            return Poll::Ready(Some(frame));
        }
        let drive = self.drive.get_mut().unwrap_or_else(PoisonError::into_inner);
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
        // Closing the input is how the CLI learns that nobody will answer its questions any more: only when all is said.
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
            // The session is being closed by its token: what has come is read, and nothing is waited for.
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
                let hint = "look at the answer, or loosen the schema";
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

/// Whether a result that says that all went well lacks the output that the options ask for.
fn lacks_output(end: &TurnEnd) -> bool {
    let says_so =
        end.result.as_ref().is_some_and(|result| result.outcome() == Some(Outcome::StructuredOutput));
    end.outcome == TurnOutcome::Failed(Outcome::StructuredOutput) && !says_so
}

/// A mirrored line of the session file is for a store, not for a reader.
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
