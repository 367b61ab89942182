//! Checks that every engine of the journal must pass.
//!
//! An [`Engine`] opens journals; [`run`] runs the checks and panics if one fails, so that it can be called
//! from a test. Each check has a journal of its own.
#![expect(clippy::unwrap_used, reason = "a failed check panics")]

mod asks;
mod events;
mod ledgers;
mod replicas;
mod restarts;
mod retention;
mod sessions;

use std::sync::Arc;

use futures_core::future::BoxFuture;
use jiff::Timestamp;

use super::{
    Class, ClientId, Epoch, EventDraft, Fence, Journal, Key, Kind, Max, MemoryJournal, NewSession, Opening,
    Session, SessionName,
};

/// Opens journals on the same storage, one after the other.
pub trait Engine: Send + Sync {
    /// Opens the journal. The one before has been dropped, closed or not.
    fn open(&mut self, opening: &Opening) -> Arc<dyn Journal>;
}

/// Runs every check, each on an engine of its own.
///
/// # Panics
///
/// If a check fails.
pub async fn run<E: Engine>(mut engine: impl FnMut() -> E) {
    for (name, check) in CHECKS {
        tracing::debug!(name, "checking");
        check(Stage::new(&mut engine())).await;
    }
}

type Check = for<'a> fn(Stage<'a>) -> BoxFuture<'a, ()>;

macro_rules! checks {
    ($($module:ident::$name:ident),* $(,)?) => {
        &[$((stringify!($name), |stage| Box::pin($module::$name(stage)))),*]
    };
}

const CHECKS: &[(&str, Check)] = checks![
    events::numbers_are_dense_and_start_at_one,
    events::f95_a_client_id_appends_once,
    events::f111_an_old_fence_is_refused,
    events::pages_keep_their_bounds,
    events::f99_a_cursor_of_another_session_is_reset,
    events::a_cursor_from_the_future_is_reset,
    events::f114_bodies_come_back_byte_for_byte,
    events::history_goes_back_from_the_head,
    events::commits_are_published_in_order,
    events::an_append_that_is_too_large_is_refused_as_a_whole,
    asks::the_first_answer_wins,
    asks::inputs_that_people_changed_are_found_by_their_calls,
    asks::an_answer_sent_twice_has_won_once,
    asks::an_ask_is_opened_once_and_may_be_asked_anew,
    asks::each_open_ask_is_found_however_many_there_are,
    asks::the_row_and_its_event_come_together,
    asks::a_hundred_answers_have_one_winner,
    sessions::sessions_have_two_names,
    sessions::making_a_session_twice_makes_one,
    sessions::sessions_are_counted_however_many_there_are,
    sessions::a_change_and_its_event_come_together,
    sessions::a_deleted_session_is_gone_and_its_cursors_with_it,
    ledgers::projects_do_not_nest,
    ledgers::a_project_has_one_session_at_a_time,
    ledgers::t15_the_audit_log_shows_what_was_done_to_it,
    ledgers::documents_change_together_and_survive_a_kill,
    retention::f112_what_is_removed_leaves_a_floor,
    retention::an_open_ask_is_kept,
    retention::bytes_and_age_are_bounds_too,
    retention::the_id_of_a_command_outlives_its_event,
    replicas::a_replica_keeps_its_numbers_and_takes_each_event_once,
    replicas::missing_events_are_a_gap_and_another_epoch_is_judged_as_by_its_owner,
    replicas::the_row_and_the_asks_of_a_replica_are_those_of_its_owner,
    replicas::a_replica_keeps_its_epoch_when_the_machine_goes_down,
    restarts::f103_everything_is_there_after_a_restart,
    restarts::a_kill_keeps_the_epoch_and_a_lost_machine_does_not,
    restarts::an_earlier_epoch_is_good_as_far_as_it_got,
    restarts::a_closed_journal_refuses_and_a_claim_outlives_it,
];

/// One check's journal, with helpers.
struct Stage<'a> {
    engine: &'a mut dyn Engine,
    journal: Arc<dyn Journal>,
}

impl<'a> Stage<'a> {
    fn new(engine: &'a mut dyn Engine) -> Self {
        let journal = engine.open(&opening("boot-1", 1));
        Stage { engine, journal }
    }

    /// Drops the journal as a killed process does, and opens it again.
    fn kill_and_open(&mut self, boot_id: &str, epoch: u64) {
        // A placeholder, so that the journal is dropped before it is opened again.
        self.journal = Arc::new(MemoryJournal::new(&opening(boot_id, epoch)));
        self.journal = self.engine.open(&opening(boot_id, epoch));
    }

    async fn session(&self, name: &str) -> (Key, Fence) {
        let new = NewSession::new(key(name), "/home/ada", at(0));
        self.journal.create(new).await.unwrap();
        (key(name), self.journal.claim(&key(name)).await.unwrap())
    }

    /// Appends deltas whose bodies are their numbers.
    async fn fill(&self, session: &(Key, Fence), numbers: std::ops::RangeInclusive<u64>) {
        let drafts = numbers.map(|n| delta(&n.to_string(), n)).collect();
        self.journal.append(&session.0, session.1, drafts).await.unwrap();
    }

    async fn row(&self, key: &Key) -> Session {
        self.journal.session(&SessionName::Key(key.clone())).await.unwrap()
    }

    /// All stored bodies, as text.
    async fn bodies(&self, key: &Key) -> Vec<String> {
        let page = self.journal.read(key, None, Max::default()).await.unwrap();
        page.events.iter().map(|event| String::from_utf8(event.body.to_vec()).unwrap()).collect()
    }
}

fn opening(boot_id: &str, epoch: u64) -> Opening {
    Opening { boot_id: boot_id.to_owned(), fresh_epoch: Epoch::from_random(epoch) }
}

fn key(name: &str) -> Key {
    Key::new(name).unwrap()
}

fn kind(name: &str) -> Kind {
    Kind::new(name).unwrap()
}

fn client(id: &str) -> ClientId {
    ClientId::new(id).unwrap()
}

/// This number of seconds after a fixed time.
fn at(seconds: u64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + i64::try_from(seconds).unwrap()).unwrap()
}

fn delta(body: &str, seconds: u64) -> EventDraft {
    EventDraft::new(Class::Delta, at(seconds), kind("delta"), body.as_bytes())
}

fn durable(body: &str, seconds: u64) -> EventDraft {
    EventDraft::new(Class::Durable, at(seconds), kind("state"), body.as_bytes())
}
