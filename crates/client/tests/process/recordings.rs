//! Sessions that are recorded and replayed.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use tidings::options::Launch;
use tidings::transport::{Incoming, Link, Outgoing, Process, Replay, Transport, memory};
use tidings::{AllowAll, Client, Error, Event, Options};
use tidings_rehearsal::recording::{self, Action, Direction, Lockstep};

use crate::stage::{PATIENCE, Stage};

/// A process transport that records all lines.
#[derive(Debug)]
struct Recorded(Recording);

type Recording = Arc<Mutex<Vec<recording::Event>>>;

fn record(recording: &Recording, direction: Direction, text: &str) {
    let line = serde_json::json!({"t_ms": 0, "dir": if direction == Direction::In { "in" } else { "out" },
        "raw": text});
    recording.lock().unwrap().extend(recording::Event::parse_all(&line.to_string()).unwrap());
}

impl Transport for Recorded {
    fn open(self: Box<Self>, launch: Launch) -> BoxFuture<'static, Result<Link, Error>> {
        Box::pin(async move {
            let mut link = Box::new(Process::new()).open(launch).await?;
            let (sender, incoming) = tokio::sync::mpsc::channel(1);
            let mut inner = std::mem::replace(&mut link.incoming, incoming.into());
            let recording = Arc::clone(&self.0);
            drop(tokio::spawn(async move {
                while let Some(event) = inner.recv().await {
                    if let Incoming::Frame { frame, .. } = &event {
                        record(&recording, Direction::Out, std::str::from_utf8(frame.raw()).unwrap());
                    }
                    if sender.send(event).await.is_err() {
                        return;
                    }
                }
            }));
            link.outgoing = Box::new(RecordedInput(link.outgoing, self.0));
            Ok(link)
        })
    }
}

#[derive(Debug)]
struct RecordedInput(Box<dyn Outgoing>, Recording);

impl Outgoing for RecordedInput {
    fn send<'a>(&'a mut self, line: &'a str) -> BoxFuture<'a, std::io::Result<()>> {
        record(&self.1, Direction::In, line);
        self.0.send(line)
    }

    fn end(&mut self) -> BoxFuture<'_, std::io::Result<()>> {
        self.0.end()
    }
}

/// Plays a recording as `tidings rehearse replay` does.
fn in_lockstep(events: Vec<recording::Event>) -> memory::Memory {
    let (memory, mut peer) = memory::pair();
    drop(tokio::spawn(async move {
        let mut player = Lockstep::new(events, true);
        loop {
            match player.next_action() {
                Action::Write { line, .. } => peer.say(&line).await,
                Action::ReadLine => match peer.line().await {
                    Some(line) => player.accept_line(&line),
                    None => break,
                },
                _ => break,
            }
        }
        while peer.line().await.is_some() {}
        peer.exit(tidings::transport::Exit::code(0)).await;
    }));
    memory
}

/// The events of a conversation with this many prompts: the kinds of frames, and the outcome of each turn.
async fn seen(transport: impl Transport + 'static, options: Options, prompts: usize) -> Vec<String> {
    let (client, mut events) =
        Client::connect_and_follow(transport, options.on_permission(AllowAll)).await.unwrap();
    for number in 0..prompts {
        let turn = client.send(format!("prompt {number}")).await.unwrap();
        tokio::time::timeout(PATIENCE, turn.finish()).await.expect("the turn has an end").unwrap();
    }
    client.close().await.unwrap();
    let mut seen = Vec::new();
    while let Some(event) = events.next().await {
        match event {
            Event::Frame { frame, turn, .. } => seen.push(format!("{turn:?} {}", frame.name())),
            Event::TurnEnded(end) => seen.push(format!("{:?} {:?} {}", end.turn, end.outcome, end.text())),
            _ => {}
        }
    }
    // Frames after the last result belong to no prompt and may be cut off by the end.
    let last = seen.iter().rposition(|line| line.contains("Completed")).map_or(0, |at| at + 1);
    seen.truncate(last);
    seen
}

/// A script of this many turns: texts, thinking, tools with and without permission requests.
fn script(mut seed: u64, prompts: usize) -> String {
    let mut script = String::new();
    for prompt in 0..prompts {
        for round in 0..seed % 3 {
            let ask = (seed >> 2).is_multiple_of(2);
            let _ = write!(
                script,
                "[[turn]]\n[[turn.block]]\nthinking = \"hm\"\n[[turn.block]]\ntool = \"Bash\"\n\
                 input = {{ command = \"ls {round}\" }}\nask = {ask}\nresult = \"a\"\n"
            );
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407) >> 3;
        }
        let _ = write!(script, "[[turn]]\ntext = \"answer {prompt}\"\n");
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407) >> 3;
    }
    script
}

/// D3: a session with our client gives the same events when its recording is replayed, by the transport and
/// in lockstep.
#[tokio::test(flavor = "multi_thread")]
async fn d3_what_was_recorded_is_seen_again() {
    for seed in 0..8_u64 {
        let prompts = 1 + usize::try_from(seed % 3).unwrap();
        let stage = Stage::playing(&script(seed, prompts));
        let recording = Recording::default();
        let live = seen(Recorded(Arc::clone(&recording)), stage.options(), prompts).await;
        assert!(live.iter().filter(|line| line.contains("Completed")).count() == prompts, "{live:?}");
        let events = recording.lock().unwrap().clone();
        let text: String = events.iter().map(|event| event.to_line() + "\n").collect();
        assert_eq!(seen(Replay::parse(&text), Options::new(), prompts).await, live, "seed {seed}");
        assert_eq!(seen(in_lockstep(events), Options::new(), prompts).await, live, "seed {seed}");
    }
}

/// D3: a recording of the official Python SDK (version 0.2.182, with the stand-in) gives our client what was
/// recorded, by the transport and in lockstep, also if the recording ends after any of its turns. Its prompts
/// have no ids, and its permission requests are answered with the input.
#[tokio::test]
async fn d3_a_recording_of_the_python_sdk_is_seen_again() {
    let text = include_str!("../fixtures/python_sdk.ndjson");
    let events = recording::Event::parse_all(text).unwrap();
    let results: Vec<usize> =
        (0..events.len()).filter(|at| events[*at].to_line().contains(r#""type":"result""#)).collect();
    assert_eq!(results.len(), 3);
    for (prompts, end) in results.iter().enumerate().map(|(number, end)| (number + 1, *end)) {
        let events = &events[..=end];
        let text: String = events.iter().map(|event| event.to_line() + "\n").collect();
        let replayed = seen(Replay::parse(&text), Options::new(), prompts).await;
        let answers: Vec<&String> = replayed.iter().filter(|line| line.contains("Completed")).collect();
        assert_eq!(answers.len(), prompts, "{replayed:?}");
        for (number, answer) in answers.iter().enumerate() {
            assert!(answer.ends_with(&format!("answer {number}")), "{answer}");
        }
        assert_eq!(seen(in_lockstep(events.to_vec()), Options::new(), prompts).await, replayed);
    }
}
