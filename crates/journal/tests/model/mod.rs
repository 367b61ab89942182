//! A model of a journal and its readers: a plain list.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use tidings_journal::broadcast::{Broadcast, Cut, Delivery, SubscribeOptions, Subscription};
use tidings_journal::conformance::Engine;
use tidings_journal::{
    AskId, Class, ClientId, Cursor, CursorVerdict, Epoch, EventDraft, Fence, Journal, Keep, Key, Kind,
    MemoryJournal, NewRequest, NewSession, Novelty, Opening, Settle, Settlement,
};
use tidings_protocol::ui::RequestOutcome;

const READERS: usize = 3;

#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Appends events; with a command's id, if there is one.
    Append {
        events: usize,
        class: Class,
        command: Option<u8>,
    },
    Ask(u8),
    Settle(u8),
    Retain {
        keep: u64,
    },
    Connect(usize),
    Read {
        reader: usize,
        events: usize,
    },
    Cut(usize),
    Restart(Restart),
    /// Deletes the session and creates it again under the same key.
    Remake,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Restart {
    Clean,
    Kill,
    Machine,
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let class = prop_oneof![4 => Just(Class::Delta), 1 => Just(Class::Durable)];
    let restart = prop_oneof![Just(Restart::Clean), Just(Restart::Kill), Just(Restart::Machine)];
    let step = prop_oneof![
        10 => (0..6_usize, class, proptest::option::weighted(0.3, 0..8_u8))
            .prop_map(|(events, class, command)| Step::Append { events, class, command }),
        2 => (0..4_u8).prop_map(Step::Ask),
        2 => (0..4_u8).prop_map(Step::Settle),
        2 => (0..12_u64).prop_map(|keep| Step::Retain { keep }),
        6 => (0..READERS).prop_map(Step::Connect),
        8 => (0..READERS, 0..8_usize).prop_map(|(reader, events)| Step::Read { reader, events }),
        3 => (0..READERS).prop_map(Step::Cut),
        1 => restart.prop_map(Step::Restart),
        1 => Just(Step::Remake),
    ];
    // A deleted session is rare: most runs should have a long history.
    proptest::collection::vec(step, 1..60)
}

/// Cases that a run has reached.
#[derive(Debug, Clone, Default)]
pub(crate) struct Coverage {
    pub(crate) gaps: u64,
    pub(crate) resets: u64,
    pub(crate) epochs: u64,
    pub(crate) live: u64,
}

impl Coverage {
    pub(crate) fn add(&mut self, other: &Coverage) {
        self.gaps += other.gaps;
        self.resets += other.resets;
        self.epochs += other.epochs;
        self.live += other.live;
    }
}

pub(crate) struct World<'e> {
    engine: &'e mut dyn Engine,
    journal: Arc<dyn Journal>,
    broadcast: Broadcast,
    fence: Fence,
    /// The events: the one with number n is at n - 1.
    list: Vec<String>,
    floor: u64,
    /// Number of times that the session was created.
    life: u64,
    boots: u64,
    appended: u64,
    commands: HashMap<u8, u64>,
    /// Open asks and the numbers of their events.
    open: HashMap<u8, u64>,
    settled: HashMap<u8, u64>,
    readers: [Reader; READERS],
    pub(crate) coverage: Coverage,
}

#[derive(Default)]
struct Reader {
    life: u64,
    cursor: Option<Cursor>,
    events: Option<Subscription>,
    /// The newest event at the time of the subscription; later ones are live.
    head: u64,
}

fn key() -> Key {
    Key::new("session").unwrap()
}

fn opening(boot: u64) -> Opening {
    Opening { boot_id: format!("boot-{boot}"), fresh_epoch: Epoch::from_random(boot) }
}

impl<'e> World<'e> {
    pub(crate) async fn new(engine: &'e mut dyn Engine) -> Self {
        let journal = engine.open(&opening(1));
        let broadcast = Broadcast::new(Arc::clone(&journal));
        journal.create(NewSession::new(key(), "/", Timestamp::UNIX_EPOCH)).await.unwrap();
        let fence = journal.claim(&key()).await.unwrap();
        World {
            engine,
            journal,
            broadcast,
            fence,
            list: Vec::new(),
            floor: 1,
            life: 1,
            boots: 1,
            appended: 0,
            commands: HashMap::new(),
            open: HashMap::new(),
            settled: HashMap::new(),
            readers: Default::default(),
            coverage: Coverage::default(),
        }
    }

    pub(crate) async fn take(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Append { events, class, command } => self.append(events, class, command).await,
            Step::Ask(ask) => self.ask(ask).await,
            Step::Settle(ask) => self.settle(ask).await,
            Step::Retain { keep } => self.retain(keep).await,
            Step::Connect(reader) => self.connect(reader).await,
            Step::Read { reader, events } => self.read(reader, events).await,
            Step::Cut(reader) => {
                self.readers[reader].events = None;
                Ok(())
            }
            Step::Restart(restart) => self.restart(restart).await,
            Step::Remake => self.remake().await,
        }
    }

    /// In the end each reader resumes and gets everything.
    pub(crate) async fn everybody_catches_up(&mut self) -> Result<(), TestCaseError> {
        for reader in 0..READERS {
            self.readers[reader].events = None;
            self.connect(reader).await?;
            self.read(reader, usize::MAX).await?;
            let last = self.readers[reader].cursor.map_or(self.floor - 1, |cursor| cursor.seq);
            prop_assert_eq!(last, self.head());
        }
        Ok(())
    }

    fn head(&self) -> u64 {
        self.list.len() as u64
    }

    fn say(&mut self) -> String {
        self.appended += 1;
        format!("said {}", self.appended)
    }

    async fn append(
        &mut self,
        events: usize,
        class: Class,
        command: Option<u8>,
    ) -> Result<(), TestCaseError> {
        let mut drafts: Vec<EventDraft> = (0..events).map(|_| draft(class, &self.say())).collect();
        if let (Some(first), Some(command)) = (drafts.first_mut(), command) {
            first.client_id = Some(ClientId::new(command.to_string()).unwrap());
        }
        let stored = self.journal.append(&key(), self.fence, drafts.clone()).await.unwrap();
        for (draft, stored) in drafts.iter().zip(&stored) {
            let known = command.filter(|_| draft.client_id.is_some());
            if let Some(seq) = known.and_then(|command| self.commands.get(&command)) {
                prop_assert_eq!((stored.cursor.seq, stored.novelty), (*seq, Novelty::Seen));
                continue;
            }
            self.list.push(String::from_utf8(draft.body.to_vec()).unwrap());
            prop_assert_eq!((stored.cursor.seq, stored.novelty), (self.head(), Novelty::New));
            known.map(|command| self.commands.insert(command, self.list.len() as u64));
        }
        Ok(())
    }

    async fn ask(&mut self, ask: u8) -> Result<(), TestCaseError> {
        let body = self.say();
        let new = NewRequest {
            id: ask_id(ask),
            kind: "permission".to_owned(),
            digest: None,
            body: Arc::from(&b"{}"[..]),
            deadline: None,
            event: draft(Class::Durable, &body),
        };
        let stored = self.journal.ask(&key(), self.fence, new).await.unwrap();
        if let Some(seq) = self.open.get(&ask) {
            prop_assert_eq!((stored.cursor.seq, stored.novelty), (*seq, Novelty::Seen));
            return Ok(());
        }
        self.list.push(body);
        prop_assert_eq!(stored.cursor.seq, self.head());
        self.open.insert(ask, self.head());
        self.settled.remove(&ask);
        Ok(())
    }

    async fn settle(&mut self, ask: u8) -> Result<(), TestCaseError> {
        let body = self.say();
        let settle =
            Settle { outcome: RequestOutcome::Cancelled, event: draft(Class::Delta, &body), audit: None };
        let settlement = self.journal.settle(&key(), &ask_id(ask), settle).await;
        if self.open.remove(&ask).is_some() {
            self.list.push(body);
            prop_assert!(matches!(settlement, Ok(Settlement::Won(_))));
            prop_assert_eq!(settlement.unwrap().cursor().seq, self.head());
            self.settled.insert(ask, self.head());
        } else if let Some(seq) = self.settled.get(&ask) {
            prop_assert!(matches!(settlement, Ok(Settlement::Lost { .. })), "it was settled before");
            prop_assert_eq!(settlement.unwrap().cursor().seq, *seq);
        } else {
            prop_assert!(settlement.is_err());
        }
        Ok(())
    }

    async fn retain(&mut self, keep: u64) -> Result<(), TestCaseError> {
        let bound = Keep { events: Some(keep), ..Keep::default() };
        let retained = self.journal.retain(&key(), bound, Timestamp::UNIX_EPOCH).await.unwrap();
        let wanted = (self.head() + 1).saturating_sub(keep);
        let asked = self.open.values().min().copied().unwrap_or(u64::MAX);
        self.floor = self.floor.max(wanted.min(asked));
        prop_assert_eq!(retained.floor, self.floor);
        self.settled.retain(|_, seq| *seq >= self.floor);
        Ok(())
    }

    async fn connect(&mut self, reader: usize) -> Result<(), TestCaseError> {
        let (life, head, floor) = (self.life, self.head(), self.floor);
        let reader = &mut self.readers[reader];
        let subscribed =
            self.broadcast.subscribe(&key(), SubscribeOptions::after(reader.cursor)).await.unwrap();
        let expected = match reader.cursor {
            Some(_) if reader.life != life => CursorVerdict::Reset,
            Some(cursor) if cursor.seq + 1 < floor => CursorVerdict::Gap,
            _ => CursorVerdict::Ok,
        };
        prop_assert_eq!(subscribed.verdict, expected);
        prop_assert_eq!((subscribed.head.seq, subscribed.floor), (head, floor));
        prop_assert_eq!(subscribed.pending.len(), self.open.len());
        let from = match (expected, reader.cursor) {
            (CursorVerdict::Ok, Some(cursor)) => cursor.seq,
            _ => floor - 1,
        };
        prop_assert_eq!(subscribed.from.seq, from);
        self.coverage.gaps += u64::from(expected == CursorVerdict::Gap);
        self.coverage.resets += u64::from(expected == CursorVerdict::Reset);
        let cursor = Some(subscribed.from);
        *reader = Reader { life, cursor, events: Some(subscribed.events), head };
        Ok(())
    }

    async fn read(&mut self, reader: usize, events: usize) -> Result<(), TestCaseError> {
        let (head, floor) = (self.head(), self.floor);
        let reader = &mut self.readers[reader];
        let Some(subscription) = &mut reader.events else { return Ok(()) };
        for _ in 0..events {
            let last = reader.cursor.map_or(0, |cursor| cursor.seq);
            if reader.life == self.life && last == head {
                return Ok(());
            }
            match subscription.next().await.unwrap() {
                Delivery::Event(event) => {
                    prop_assert_eq!(event.cursor.seq, last + 1);
                    let body = &self.list[usize::try_from(last).unwrap()];
                    prop_assert_eq!(&*event.body, body.as_bytes());
                    self.coverage.live += u64::from(event.cursor.seq > reader.head);
                    reader.cursor = Some(event.cursor);
                }
                Delivery::Cut(cut) => {
                    let is_right = match cut {
                        Cut::Gap(at) => Some(at) == reader.cursor && last + 1 < floor,
                        Cut::Deleted => reader.life != self.life,
                        Cut::Resync(_) => false,
                    };
                    prop_assert!(is_right, "{:?} at {} with floor {}", cut, last, floor);
                    reader.events = None;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    async fn restart(&mut self, restart: Restart) -> Result<(), TestCaseError> {
        for reader in &mut self.readers {
            reader.events = None;
        }
        if matches!(restart, Restart::Clean) {
            self.journal.close().await.unwrap();
        }
        if !matches!(restart, Restart::Kill) {
            self.boots += 1;
        }
        self.coverage.epochs += u64::from(matches!(restart, Restart::Machine));
        // A placeholder, so that the journal is dropped before it is opened again.
        self.journal = Arc::new(MemoryJournal::new(&opening(0)));
        self.broadcast = Broadcast::new(Arc::clone(&self.journal));
        self.journal = self.engine.open(&opening(self.boots));
        self.broadcast = Broadcast::new(Arc::clone(&self.journal));
        Ok(())
    }

    async fn remake(&mut self) -> Result<(), TestCaseError> {
        // Only now and then; otherwise no run has a history.
        if !self.appended.is_multiple_of(3) {
            return Ok(());
        }
        self.journal.delete(&key()).await.unwrap();
        self.journal.create(NewSession::new(key(), "/", Timestamp::UNIX_EPOCH)).await.unwrap();
        self.fence = self.journal.claim(&key()).await.unwrap();
        self.list.clear();
        self.floor = 1;
        self.life += 1;
        self.commands.clear();
        self.open.clear();
        self.settled.clear();
        Ok(())
    }
}

fn draft(class: Class, body: &str) -> EventDraft {
    EventDraft::new(class, Timestamp::UNIX_EPOCH, Kind::new("said").unwrap(), body.as_bytes())
}

fn ask_id(ask: u8) -> AskId {
    AskId::new(format!("ask-{ask}")).unwrap()
}
