//! State that all connections share: the position in the script, and the counters.

use super::answer::ApiResponse;
use super::ids::ApiIds;
use super::log::{AnsweredBy, Entry};
use super::report::{Report, Tally};
use super::request::ApiCall;
use crate::player::Player;
use crate::script::{Block, Pace, Script, Turn};

/// State shared by all connections: the position in the script, and the counters.
pub(super) struct PlayState {
    player: Player,
    pace: Pace,
    tally: Tally,
    ids: ApiIds,
    seen: usize,
    log: Box<dyn FnMut(&Entry) + Send>,
}

impl PlayState {
    pub(super) fn new(script: &Script, seed: u64, log: Box<dyn FnMut(&Entry) + Send>) -> Self {
        PlayState {
            player: Player::new(script),
            pace: script.pace,
            tally: Tally::new(script),
            ids: ApiIds::new(seed),
            seen: 0,
            log,
        }
    }

    /// Id for the next request.
    pub(super) fn request_id(&mut self) -> String {
        self.ids.request()
    }

    /// Answers a request for a message.
    pub(super) fn play(&mut self, call: &mut ApiCall, request_id: &str) -> (AnsweredBy, ApiResponse) {
        if let Some(message) = &call.refusal {
            return (AnsweredBy::None, ApiResponse::refusal(400, message, request_id));
        }
        if call.is_probe() {
            let answer = ApiResponse::turn(&probed(), Pace::default(), call, request_id, &mut self.ids);
            return (AnsweredBy::Probe, answer);
        }
        let found = self.player.next(&mut call.request);
        self.tally.note(&call.request);
        let Some((index, turn)) = found else {
            self.tally.exhausted += 1;
            // Clients do not retry this status for long, unlike a failure of the server.
            let answer =
                ApiResponse::refusal(400, "rehearsal: the script has no turn for this request", request_id);
            return (AnsweredBy::Exhausted, answer);
        };
        (AnsweredBy::Turn(index), ApiResponse::turn(&turn, self.pace, call, request_id, &mut self.ids))
    }

    /// Logs a request.
    pub(super) fn log(&mut self, mut entry: Entry) {
        self.seen += 1;
        entry.n = self.seen;
        (self.log)(&entry);
    }

    /// Report so far.
    pub(super) fn report(&self) -> Report {
        self.tally.report(self.player.unused())
    }
}

/// Answer to a request for one token.
fn probed() -> Turn {
    let block = Block { text: Some("#".to_owned()), ..Block::default() };
    Turn { blocks: vec![block], stop: Some("max_tokens".to_owned()), ..Turn::default() }
}
