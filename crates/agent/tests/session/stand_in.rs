//! A stand-in for the agent, run in this process.

use std::io::{BufRead as _, BufReader, Write as _};
use std::sync::Arc;

use futures_core::future::BoxFuture;
use tempfile::TempDir;
use tidings::options::{Arg, Launch};
use tidings::transport::{Exit, Link, Transport, memory};
use tidings::{Error, Options};
use tidings_agent::policy::PermissionPolicy;
use tidings_agent::{AgentSession, ChannelEventSink, Setup, UiMessage};
use tidings_rehearsal::agent::{self, World};
use tidings_rehearsal::script::Script;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

/// A transport that plays a script instead of running a process.
#[derive(Debug)]
pub(crate) struct StandIn {
    script: String,
    folder: TempDir,
}

impl StandIn {
    pub(crate) fn playing(script: &str) -> Self {
        StandIn { script: script.to_owned(), folder: TempDir::new().unwrap() }
    }
}

impl Transport for StandIn {
    fn open(self: Box<Self>, launch: Launch) -> BoxFuture<'static, Result<Link, Error>> {
        let (memory, mut peer) = memory::pair();
        let (stdin, mut to_stdin) = std::io::pipe().unwrap();
        let (from_stdout, stdout) = std::io::pipe().unwrap();
        let text = |arg: &Arg| match arg {
            Arg::Text(text) => text.clone(),
            other => panic!("not played: {other:?}"),
        };
        let arguments: Vec<String> = launch.args.iter().map(text).collect();
        let voice = peer.voice();
        let runtime = Handle::current();
        tokio::spawn(async move {
            while let Some(line) = peer.line().await {
                if writeln!(to_stdin, "{line}").is_err() {
                    break;
                }
            }
        });
        let playing = std::thread::spawn(move || {
            let world = World::new(stdin, stdout, "/home/dev/demo", self.folder.path());
            agent::run(&arguments, Script::parse(&self.script).unwrap(), world)
        });
        std::thread::spawn(move || {
            for line in BufReader::new(from_stdout).lines() {
                runtime.block_on(voice.say(&line.unwrap()));
            }
            let mut exit = Exit::default();
            exit.code = playing.join().ok();
            runtime.block_on(voice.exit(exit));
        });
        Box::new(memory).open(launch)
    }
}

/// A session that plays a script, and its events.
pub(crate) struct Scene {
    pub(crate) session: AgentSession,
    events: mpsc::Receiver<UiMessage>,
    /// The events so far.
    pub(crate) seen: Vec<UiMessage>,
}

impl Scene {
    pub(crate) async fn start(script: &str, policy: impl PermissionPolicy + 'static) -> Self {
        Self::set(script, Setup::new(1, Arc::new(policy))).await
    }

    pub(crate) async fn set(script: &str, setup: Setup) -> Self {
        let (sink, events) = ChannelEventSink::new(4);
        let transport = StandIn::playing(script);
        let session =
            AgentSession::start_over(transport, Options::new(), setup, Box::new(sink)).await.unwrap();
        Scene { session, events, seen: Vec::new() }
    }

    /// Reads events until one matches.
    pub(crate) async fn until(&mut self, wanted: impl Fn(&UiMessage) -> bool) -> UiMessage {
        loop {
            let Some(event) = self.events.recv().await else {
                panic!("it never came; these did: {:#?}", self.seen);
            };
            self.seen.push(event.clone());
            if wanted(&event) {
                return event;
            }
        }
    }

    pub(crate) async fn complete(&mut self) -> UiMessage {
        self.until(|event| matches!(event, UiMessage::Complete { .. })).await
    }

    /// The text of the main conversation so far.
    pub(crate) fn text(&self) -> String {
        let chunks = self.seen.iter().filter_map(|event| match event {
            UiMessage::TextChunk { text, .. } => Some(text.as_str()),
            _ => None,
        });
        chunks.collect()
    }

    /// The result of each call.
    pub(crate) fn results(&self) -> Vec<(&str, &str)> {
        let results = self.seen.iter().filter_map(|event| match event {
            UiMessage::ToolCompleted { tool_use_id, result, .. } => {
                Some((tool_use_id.as_str(), result.as_str()))
            }
            _ => None,
        });
        results.collect()
    }
}
