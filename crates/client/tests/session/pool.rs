//! Spares and parked conversations, with simulated time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tidings::options::Launch;
use tidings::transport::memory::{self, Peer, PeerSender};
use tidings::transport::{Exit, Link, Transport};
use tidings::{Error, ErrorKind, Options, Pool, PoolLimits, PooledSession};
use tokio::sync::Notify;

const MINUTE: Duration = Duration::from_secs(60);

/// Simulated processes, in the order in which they were started.
#[derive(Debug, Clone, Default)]
struct Backstage {
    runs: Arc<Mutex<Vec<Run>>>,
    /// True if no process can be started.
    broken: Arc<AtomicBool>,
    /// Ends the turn of a prompt that says `wait`, and the process that got one that says `linger`.
    release: Arc<Notify>,
}

#[derive(Debug, Clone)]
struct Run {
    args: Vec<String>,
    voice: Option<PeerSender>,
    ended: Arc<AtomicBool>,
}

impl Backstage {
    fn pool(&self, limits: PoolLimits) -> Pool {
        let stage = self.clone();
        Pool::over(move || Box::new(stage.clone()), Options::new().model("haiku"), limits).unwrap()
    }

    fn runs(&self) -> Vec<Run> {
        self.runs.lock().unwrap().clone()
    }

    fn alive(&self) -> usize {
        self.runs().iter().filter(|run| run.voice.is_some() && !run.ended.load(Ordering::Acquire)).count()
    }
}

impl Transport for Backstage {
    fn open(self: Box<Self>, launch: Launch) -> BoxFuture<'static, Result<Link, Error>> {
        let args = launch.inline_args();
        let (memory, peer) = memory::pair();
        let broken = self.broken.load(Ordering::Acquire);
        let voice = (!broken).then(|| peer.voice());
        let ended = Arc::<AtomicBool>::default();
        let mut runs = self.runs.lock().unwrap();
        runs.push(Run { args: args.clone(), voice, ended: Arc::clone(&ended) });
        let resumed = args.iter().find_map(|arg| arg.strip_prefix("--resume=").map(str::to_owned));
        let id = resumed.unwrap_or_else(|| format!("session-{}", runs.len()));
        drop(runs);
        if broken {
            return Box::pin(async { Err(Error::new(ErrorKind::Spawn, "Nothing can be started", "")) });
        }
        let release = Arc::clone(&self.release);
        drop(tokio::spawn(async move {
            play(peer, &id, &release).await;
            ended.store(true, Ordering::Release);
        }));
        Box::new(memory).open(launch)
    }
}

async fn play(mut peer: Peer, session: &str, release: &Notify) {
    let mut lingers = false;
    while let Some(line) = peer.line().await {
        let frame: Value = serde_json::from_str(&line).unwrap();
        if frame["type"] == "control_request" {
            let response = json!({"subtype": "success", "request_id": frame["request_id"], "response": {}});
            peer.say(&json!({"type": "control_response", "response": response}).to_string()).await;
        } else if frame["type"] == "user" {
            let uuids = json!([frame["uuid"]]);
            let init = json!({"type": "system", "subtype": "init", "session_id": session, "user_message_uuids": uuids});
            peer.say(&init.to_string()).await;
            let text = frame["message"]["content"].to_string();
            if text.contains("background") {
                let tasks = json!([{"task_id": "b", "task_type": "local_bash"}]);
                let changed =
                    json!({"type": "system", "subtype": "background_tasks_changed", "tasks": tasks});
                peer.say(&changed.to_string()).await;
            }
            if text.contains("wait") {
                release.notified().await;
            }
            lingers |= text.contains("linger");
            if text.contains("die") {
                return peer.exit(Exit::code(1)).await;
            }
            let result = json!({"type": "result", "subtype": "success", "is_error": false, "result": "done",
                "session_id": session, "user_message_uuids": uuids});
            peer.say(&result.to_string()).await;
        }
    }
    if lingers {
        release.notified().await;
    }
    peer.exit(Exit::code(0)).await;
}

/// Runs everything that needs no time.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(10)).await;
}

async fn ask(session: &PooledSession, text: &str) {
    assert_eq!(session.send(text).await.unwrap().finish().await.unwrap().text(), "done");
}

fn limits(spares: usize, live_max: usize) -> PoolLimits {
    PoolLimits::default().spares(spares).live_max(live_max).park_after(Some(MINUTE))
}

#[tokio::test(start_paused = true)]
async fn a_spare_is_handed_out_at_once_and_replaced() {
    let stage = Backstage::default();
    let pool = stage.pool(limits(2, 1));
    settle().await;
    assert_eq!((pool.spares(), stage.runs().len()), (2, 2));
    let client = pool.client().await.unwrap();
    assert_eq!((pool.spares(), stage.runs().len()), (1, 2), "nothing was started for it");
    assert_eq!(client.send("hi").await.unwrap().finish().await.unwrap().text(), "done");
    settle().await;
    assert_eq!((pool.spares(), stage.runs().len()), (2, 3));
    // More than there are spares: the last is started on demand.
    for _ in 0..3 {
        drop(pool.client().await.unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn a_spare_that_died_is_not_handed_out() {
    let stage = Backstage::default();
    let pool = stage.pool(limits(1, 1));
    settle().await;
    stage.runs()[0].voice.as_ref().unwrap().exit(Exit::signal(9)).await;
    settle().await;
    assert_eq!((pool.spares(), stage.runs().len()), (1, 2), "it was replaced");
    let client = pool.client().await.unwrap();
    assert!(!client.is_closed());
    assert_eq!(client.send("hi").await.unwrap().finish().await.unwrap().text(), "done");
}

#[tokio::test(start_paused = true)]
async fn spares_that_cannot_be_started_are_tried_ever_less_often() {
    let stage = Backstage::default();
    stage.broken.store(true, Ordering::Release);
    let pool = stage.pool(limits(1, 1));
    tokio::time::sleep(Duration::from_secs(10)).await;
    // After 0, 1, 3 and 7 seconds.
    assert_eq!((pool.spares(), stage.runs().len()), (0, 4));
    assert_eq!(pool.client().await.unwrap_err().kind(), ErrorKind::Spawn);
    stage.broken.store(false, Ordering::Release);
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(pool.spares(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_idle_conversation_is_parked_and_resumed() {
    let stage = Backstage::default();
    let pool = stage.pool(limits(0, 2));
    let session = pool.session();
    assert!(!session.is_live() && stage.runs().is_empty(), "no prompt, no process");
    ask(&session, "one").await;
    tokio::time::sleep(MINUTE / 2).await;
    ask(&session, "two").await;
    tokio::time::sleep(Duration::from_secs(59)).await;
    assert!(session.is_live(), "time counts from the last turn");
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!((session.is_live(), stage.alive(), stage.runs().len()), (false, 0, 1));

    ask(&session, "three").await;
    let runs = stage.runs();
    assert_eq!((runs.len(), session.session_id().await.as_deref()), (2, Some("session-1")));
    assert!(runs[1].args.contains(&"--resume=session-1".to_owned()), "{:?}", runs[1].args);
    let mut resumed = runs[1].args.clone();
    resumed.retain(|arg| !arg.starts_with("--resume"));
    assert_eq!(runs[0].args, resumed, "the same options");
}

#[tokio::test(start_paused = true)]
async fn a_busy_or_leased_conversation_is_not_parked() {
    let stage = Backstage::default();
    let pool = stage.pool(limits(0, 2));
    let (busy, held) = (pool.session(), pool.session());
    let turn = busy.send("wait").await.unwrap();
    let lease = held.client().await.unwrap();
    tokio::time::sleep(MINUTE * 10).await;
    assert!(busy.is_live() && held.is_live() && !busy.park().await && !held.park().await);
    stage.release.notify_one();
    turn.finish().await.unwrap();
    drop(lease);
    tokio::time::sleep(MINUTE * 2).await;
    assert_eq!((busy.is_live(), held.is_live(), stage.alive()), (false, false, 0));
    // It has no turn yet, so there is nothing to resume.
    ask(&held, "hi").await;
    assert!(!stage.runs()[2].args.iter().any(|arg| arg.starts_with("--resume")));
}

/// A build or a server that the agent started would end with the process.
#[tokio::test(start_paused = true)]
async fn a_conversation_with_background_work_is_not_parked() {
    let stage = Backstage::default();
    let pool = stage.pool(limits(0, 1));
    let (first, second) = (pool.session(), pool.session());
    ask(&first, "start it in the background").await;
    let next = tokio::spawn(async move { ask(&second, "hi").await });
    tokio::time::sleep(MINUTE * 10).await;
    assert!(first.is_live() && !first.park().await && !next.is_finished());
    // Its end begins a turn, which is not cut off either.
    let voice = stage.runs()[0].voice.clone().unwrap();
    for frame in [
        json!({"type": "system", "subtype": "task_notification", "task_id": "b"}),
        json!({"type": "system", "subtype": "background_tasks_changed", "tasks": []}),
        json!({"type": "system", "subtype": "init", "session_id": "session-1"}),
    ] {
        voice.say(&frame.to_string()).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(!next.is_finished());
    }
    tokio::time::sleep(MINUTE * 10).await;
    assert!(first.is_live() && !next.is_finished());
    let result = json!({"type": "result", "subtype": "success", "is_error": false, "result": "it ended",
        "session_id": "session-1", "origin": {"kind": "task-notification"}});
    voice.say(&result.to_string()).await;
    next.await.unwrap();
    assert!(!first.is_live());
}

#[tokio::test(start_paused = true)]
async fn one_too_many_parks_the_least_recently_used() {
    let stage = Backstage::default();
    let pool = stage.pool(limits(0, 2));
    let (first, second, third) = (pool.session(), pool.session(), pool.session());
    ask(&first, "a").await;
    ask(&second, "b").await;
    ask(&first, "c").await;
    ask(&third, "d").await;
    assert_eq!([first.is_live(), second.is_live(), third.is_live()], [true, false, true]);
    assert_eq!((pool.live(), stage.alive()), (2, 2));
    ask(&second, "e").await;
    assert_eq!([first.is_live(), second.is_live(), third.is_live()], [false, true, true]);
}

#[tokio::test(start_paused = true)]
async fn when_all_are_busy_the_next_one_waits() {
    let stage = Backstage::default();
    let pool = stage.pool(limits(0, 1));
    let (first, second) = (pool.session(), pool.session());
    let turn = first.send("wait").await.unwrap();
    let next = tokio::spawn(async move { ask(&second, "hi").await });
    tokio::time::sleep(MINUTE * 5).await;
    assert_eq!((next.is_finished(), stage.alive()), (false, 1));
    stage.release.notify_one();
    turn.finish().await.unwrap();
    next.await.unwrap();
    assert!(!first.is_live());
}

#[tokio::test(start_paused = true)]
async fn a_conversation_whose_process_died_goes_on() {
    let stage = Backstage::default();
    let pool = stage.pool(limits(0, 1));
    let session = pool.session();
    ask(&session, "one").await;
    assert_eq!(session.send("die").await.unwrap().finish().await.unwrap_err().kind(), ErrorKind::Exit);
    ask(&session, "two").await;
    assert!(stage.runs()[1].args.contains(&"--resume=session-1".to_owned()));
    let old = pool.resume("session-of-old");
    ask(&old, "hi").await;
    assert!(stage.runs()[2].args.contains(&"--resume=session-of-old".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_left_of_a_pool_that_is_dropped_or_closed() {
    let stage = Backstage::default();
    let pool = stage.pool(limits(2, 2));
    let session = pool.session();
    ask(&session, "hi").await;
    settle().await;
    assert_eq!(stage.alive(), 3);
    drop((session, pool));
    settle().await;
    assert_eq!(stage.alive(), 0);

    let pool = stage.pool(limits(2, 2));
    let session = pool.session();
    ask(&session, "hi").await;
    pool.close().await;
    settle().await;
    assert_eq!((stage.alive(), pool.spares(), session.is_live()), (0, 0, false));
    ask(&session, "it goes on all the same").await;
    assert_eq!(stage.alive(), 1);
}

#[tokio::test(start_paused = true)]
async fn d24_conversations_that_wait_have_no_process() {
    let stage = Backstage::default();
    let pool = stage.pool(limits(0, 2));
    let sessions: Vec<PooledSession> = (0..9).map(|_| pool.session()).collect();
    for session in sessions.clone() {
        drop(tokio::spawn(async move { drop(session.send("wait").await) }));
        settle().await;
    }
    let live = sessions.iter().filter(|session| session.is_live()).count();
    assert_eq!((pool.live(), live, stage.alive()), (2, 2, 2));
}

#[tokio::test(start_paused = true)]
async fn d24_a_dropped_conversation_counts_until_its_process_is_gone() {
    let stage = Backstage::default();
    let pool = stage.pool(limits(0, 1));
    let first = pool.session();
    ask(&first, "linger").await;
    drop(first);
    let second = pool.session();
    let next = tokio::spawn(async move { ask(&second, "hi").await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!((pool.live(), stage.runs().len(), next.is_finished()), (1, 1, false));
    stage.release.notify_one();
    next.await.unwrap();
    assert_eq!(stage.runs().len(), 2);

    // The same for a caller that gives up while its process starts.
    let pool = stage.pool(limits(0, 1));
    let session = pool.session();
    drop(tokio::time::timeout(Duration::ZERO, session.client()).await);
    settle().await;
    assert_eq!(pool.live(), 0);
}

#[tokio::test(start_paused = true)]
async fn d24_a_closed_pool_has_no_process() {
    let stage = Backstage::default();
    let pool = stage.pool(limits(1, 3));
    let (idle, busy, dropped) = (pool.session(), pool.session(), pool.session());
    ask(&idle, "hi").await;
    let turn = busy.send("wait").await.unwrap();
    ask(&dropped, "linger").await;
    drop(dropped);
    let closing = {
        let pool = pool.clone();
        tokio::spawn(async move { pool.close().await })
    };
    assert!(turn.finish().await.is_err());
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!closing.is_finished() && stage.alive() > 0);
    stage.release.notify_waiters();
    closing.await.unwrap();
    assert_eq!((stage.alive(), pool.live()), (0, 0));
    ask(&idle, "it goes on").await;
}

#[tokio::test]
async fn a_pool_refuses_what_its_conversations_cannot_share() {
    let id = "00000000-0000-4000-8000-000000000000";
    for options in [
        Options::new().resume(id),
        Options::new().continue_latest(),
        Options::new().session_id(id),
        Options::new().forget_session(),
    ] {
        assert_eq!(Pool::new(options, PoolLimits::default()).unwrap_err().kind(), ErrorKind::Invalid);
    }
    let none = PoolLimits::default().live_max(0);
    assert_eq!(Pool::new(Options::new(), none).unwrap_err().kind(), ErrorKind::Invalid);
}
