//! A server whose one session publishes as much as requested, for tests that measure its memory.
//!
//! `publishing_server FOLDER` prints its address. Each line of its input is a number of KiB to publish, or
//! `event` and the length of one event in bytes; when they are stored it prints `done`. It ends with its
//! input.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use tidings_agent::{Clock, UiMessage};
use tidings_bridge::auth::{Auth, Settings};
use tidings_bridge::server::{Exposure, Listen, Server};
use tidings_journal::broadcast::Broadcast;
use tidings_journal::{Class, Draft, Epoch, Journal, Key, Kind, NewSession, Opening, SqliteJournal};
use tidings_sessions::secret::Random;
use tidings_sessions::{Config, Sessions};
use tokio::sync::mpsc;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// One event.
const PIECE_KIB: usize = 16;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Failure> {
    let folder = std::env::args().nth(1).ok_or("publishing_server FOLDER")?;
    let data = Path::new(&folder).join("data");
    let auth = Auth::open(Settings::new(&data, Random::system(), Clock::system()))?;
    let address = Some(([127, 0, 0, 1], 0).into());
    let bound = Listen { address, tls: None, exposure: Exposure::Guarded, unix: None }.bind()?;
    let at = bound.address().ok_or("there is no port")?;
    auth.reached_at(format!("http://{at}"));
    let opening = Opening { boot_id: "boot".to_owned(), fresh_epoch: Epoch::from_random(1) };
    let journal = Arc::new(SqliteJournal::open(data.join("journal.db"), &opening)?);
    let sessions = Sessions::open(Broadcast::new(journal.clone()), Config::default()).await?;
    let key = Key::new("session")?;
    journal.create(NewSession::new(key.clone(), "/", Timestamp::UNIX_EPOCH)).await?;
    let fence = journal.claim(&key).await?;
    println!("{at}");
    let publish = async {
        let body: Arc<[u8]> = serde_json::to_vec(&"x".repeat(PIECE_KIB << 10))?.into();
        let mut lines = lines();
        while let Some(line) = lines.recv().await {
            if let Some(bytes) = line.strip_prefix("event ") {
                // As the agent's own events are, so that the phone dialect translates it.
                let (content, session_id) = ("x".repeat(bytes.parse()?), 1);
                let body = serde_json::to_vec(&UiMessage::Display { content, session_id })?;
                let draft = Draft::new(Class::Delta, Timestamp::UNIX_EPOCH, Kind::new("Display")?, body);
                journal.append(&key, fence, vec![draft]).await?;
                println!("done");
                continue;
            }
            for _ in 0..line.parse::<usize>()?.div_ceil(PIECE_KIB) {
                let kind = Kind::new("Display")?;
                let draft = Draft::new(Class::Delta, Timestamp::UNIX_EPOCH, kind, Arc::clone(&body));
                journal.append(&key, fence, vec![draft]).await?;
            }
            println!("done");
        }
        Ok::<_, Failure>(())
    };
    tokio::select! {
        ended = Server::new(sessions, auth).run(bound, std::future::pending()) => Ok(ended?),
        published = publish => published,
    }
}

/// The lines of the input, until it ends.
fn lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}
