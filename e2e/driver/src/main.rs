//! Plays one run of a scenario through the SDK: `tidings-e2e-driver PLAN.json CLAUDE`.
//!
//! The plan says with which options, what is said and asked, and how questions are answered. Every message, every question
//! and every reply becomes a line of JSON on stdout, in the form that `e2e/driver_py.py` gives the same things from the
//! official Python SDK.

mod answers;
mod calls;
mod log;
mod options;
mod plan;
mod show;

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::json;
use tidings::messages::Message;
use tidings::{Client, Event, Frame, Options, Prompt, Query, Subscriber, Turn, query, query_stream};

use log::Log;
use plan::{Plan, Read, Step};

/// No scenario takes longer than this to say something.
const PATIENCE: Duration = Duration::from_secs(50);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().context("no plan was given")?;
    let program = arguments.next().context("no program was given")?;
    let plan: Plan =
        serde_json::from_str(&std::fs::read_to_string(path)?).context("the plan cannot be read")?;
    let log = Log::default();
    let options = options::of(&plan, &log)?.program(program);
    let mut session = None;
    for step in plan.steps {
        match step {
            Step::Query(prompt) => all_of(query(prompt, options.clone()), &log).await?,
            Step::QueryStream(prompts) => {
                let prompts = futures_util::stream::iter(prompts.into_iter().map(Prompt::from));
                all_of(query_stream(prompts, options.clone()), &log).await?;
            }
            step => {
                if session.is_none() {
                    session = Session::start(options.clone(), &log).await?;
                }
                match &mut session {
                    Some(session) => session.play(step, &log).await?,
                    None => return Ok(()),
                }
            }
        }
    }
    if let Some(session) = session {
        session.close().await?;
    }
    Ok(())
}

/// The messages of a query, and the error that it may end with.
async fn all_of(mut answer: Query, log: &Log) -> Result<()> {
    loop {
        match tokio::time::timeout(PATIENCE, answer.next()).await.context("the query says nothing more")? {
            Some(Ok(message)) => log.message(&show::message(&message)),
            Some(Err(error)) => log.error(&error),
            None => return Ok(()),
        }
    }
}

/// A conversation and everything that happens in it.
struct Session {
    client: Client,
    events: Subscriber,
    /// The background task that began last, for calls that are about one.
    task: Option<String>,
    /// What came of each prompt.
    turns: Vec<Turn>,
}

impl Session {
    /// Connects. A session that cannot be had is said, and ends the run.
    async fn start(options: Options, log: &Log) -> Result<Option<Self>> {
        match tokio::time::timeout(PATIENCE, Client::connect(options)).await.context("no handshake")? {
            Ok(client) => {
                let events = client.subscribe();
                Ok(Some(Session { client, events, task: None, turns: Vec::new() }))
            }
            Err(error) => {
                log.error(&error);
                Ok(None)
            }
        }
    }

    async fn play(&mut self, step: Step, log: &Log) -> Result<()> {
        match step {
            Step::Send(prompt) => match self.client.send(*prompt).await {
                Ok(turn) => self.turns.push(turn),
                Err(error) => log.error(&error),
            },
            Step::Read(read) => self.read(&read, log).await?,
            Step::WaitForCalls(count) => {
                let asked = log.calls(count);
                tokio::time::timeout(PATIENCE, asked).await.context("nobody was asked")?;
            }
            Step::Call(mut call) => {
                if call.with == "$task" {
                    call.with = json!(self.task);
                }
                let said = tokio::time::timeout(PATIENCE, calls::make(&self.client, &call));
                match said.await.with_context(|| format!("no reply to `{}`", call.name))?? {
                    Ok(value) => log.reply(&call.name, &value),
                    Err(error) => log.refusal(&call.name, &error),
                }
            }
            Step::SleepMs(time) => tokio::time::sleep(Duration::from_millis(time)).await,
            Step::Query(_) | Step::QueryStream(_) => bail!("a query is a session of its own"),
        }
        Ok(())
    }

    /// Reads to the next result, or to the frame that the step names.
    async fn read(&mut self, read: &Read, log: &Log) -> Result<()> {
        let mut left = read.count;
        while left > 0 {
            let event = tokio::time::timeout(PATIENCE, self.events.next());
            match event.await.with_context(|| format!("`{}` did not come", read.until))? {
                Some(Event::Frame { frame, .. }) => {
                    if is_named(&frame, "system:task_started") {
                        self.task = frame.get("task_id").and_then(|id| Some(id.text()?.get().into_owned()));
                    }
                    log.message(&show::message(&frame.message()));
                    left -= usize::from(is_named(&frame, &read.until));
                }
                Some(Event::Oversized { bytes, .. }) => {
                    log.message(&json!({"type": "too_long", "bytes": bytes}));
                }
                Some(Event::Ended { error, .. }) => {
                    if let Some(error) = error {
                        log.error(&error);
                    }
                    return Ok(());
                }
                Some(_) => {}
                None => return Ok(()),
            }
        }
        Ok(())
    }
}

impl Session {
    /// Ends the session. Whatever became of the prompts, each of them has come to its end by now.
    async fn close(self) -> Result<()> {
        for turn in self.turns {
            let uuid = turn.uuid().to_owned();
            let end = tokio::time::timeout(Duration::from_secs(10), turn.finish());
            drop(end.await.with_context(|| format!("the prompt {uuid} has no end"))?);
        }
        // A result that was an error has been told already, and so has an exit that came of it.
        drop(self.client.close().await);
        Ok(())
    }
}

/// Whether a frame has a name: `result`, `system:init`, `stream_event:content_block_delta`.
fn is_named(frame: &Frame, name: &str) -> bool {
    let kind = match frame.message() {
        Message::StreamEvent(partial) => serde_json::to_value(&partial.event)
            .ok()
            .and_then(|event| Some(event["type"].as_str()?.to_owned())),
        _ => frame.get("subtype").and_then(|text| Some(text.text()?.get().into_owned())),
    };
    let (kind_wanted, detail) =
        name.split_once(':').map_or((name, None), |(kind, detail)| (kind, Some(detail)));
    frame.type_name().as_deref() == Some(kind_wanted) && (detail.is_none() || detail == kind.as_deref())
}
