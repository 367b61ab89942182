//! The inbox: one list over all sessions of what waits for a person and of what happened since the person
//! last looked. Notifications, badges and the waiting mark of sessions come from here.
//!
//! Items are made from events of the journal and from its pending requests, so a server that was killed finds
//! them again. They are stored as documents of the journal.

mod document;
mod item;
mod ledger;
mod rules;
mod watch;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tidings_api::{InboxCounts, InboxItem, InboxPage, Notice, NotifySettings, Scope};
use tidings_sessions::{Caller, Error, Sessions};
use tokio::sync::{Notify, OnceCell};

pub(crate) use self::document::HEALTH;
pub(crate) use self::item::{ButtonRecord, Item, Millis, Subject, text};
pub(crate) use self::ledger::{Audience, Effect, Ledger, Outcome, TargetRecord};
pub(crate) use self::rules::Rules;

use crate::limits::INBOX_PAGE_MAX;

/// The inbox of a server. Handles are cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Inbox(Arc<InboxInner>);

#[derive(Debug)]
struct InboxInner {
    sessions: Sessions,
    state: Mutex<InboxState>,
    loaded: OnceCell<()>,
    /// Serializes storing, so that an older state never replaces a newer one.
    saving: tokio::sync::Mutex<()>,
    /// Wakes the task that sends notifications.
    wake: Notify,
    /// Wakes the task that tells clients.
    changed: Notify,
}

#[derive(Debug, Default)]
struct InboxState {
    ledger: Ledger,
    /// The number up to which the events of each session were taken into account.
    seen: HashMap<String, u64>,
    /// Sessions whose number in `seen` is not stored yet.
    unsaved_seen: Vec<String>,
}

/// A filter for a page of the inbox.
#[derive(Debug, Default)]
pub(crate) struct InboxFilter {
    pub(crate) waiting: bool,
    pub(crate) unread: bool,
    pub(crate) kinds: Vec<tidings_api::InboxKind>,
    pub(crate) session: Option<String>,
    pub(crate) before: Option<u64>,
    pub(crate) max: usize,
}

impl Inbox {
    /// The inbox of these sessions. It is read from the journal on first use.
    pub(crate) fn new(sessions: Sessions, rules: Rules) -> Self {
        let mut state = InboxState::default();
        state.ledger.set_rules(rules, 0);
        Inbox(Arc::new(InboxInner {
            sessions,
            state: Mutex::new(state),
            loaded: OnceCell::new(),
            saving: tokio::sync::Mutex::default(),
            wake: Notify::new(),
            changed: Notify::new(),
        }))
    }

    /// Reads the stored items, once.
    pub(crate) async fn load(&self) -> Result<(), Error> {
        self.0.loaded.get_or_try_init(|| self.read_documents()).await?;
        Ok(())
    }

    pub(crate) fn sessions(&self) -> &Sessions {
        &self.0.sessions
    }

    pub(crate) fn now(&self) -> Millis {
        self.0.sessions.config().clock.now().as_millisecond()
    }

    /// Looks at the ledger.
    pub(crate) fn with<T>(&self, look: impl FnOnce(&Ledger) -> T) -> T {
        look(&self.state().ledger)
    }

    /// Changes the ledger, stores the changes, and tells clients of them.
    pub(crate) async fn change<T>(&self, change: impl FnOnce(&mut Ledger, Millis) -> T) -> T {
        let now = self.now();
        let changed = change(&mut self.state().ledger, now);
        self.save().await;
        changed
    }

    /// Stores changes that were made without storing them.
    pub(crate) async fn flush(&self) {
        self.save().await;
    }

    /// The notifications that are due now.
    pub(crate) fn due(&self, audience: &[Audience<'_>]) -> Vec<Effect> {
        let now = self.now();
        self.state().ledger.due(now, audience)
    }

    /// Waits until the ledger has changed.
    pub(crate) async fn woken(&self) {
        self.0.wake.notified().await;
    }

    /// Tells the task that sends notifications that something may be due.
    pub(crate) fn wake(&self) {
        self.0.wake.notify_one();
    }

    /// A page of the items that the caller may see.
    pub(crate) async fn page(&self, caller: &Caller, filter: &InboxFilter) -> Result<InboxPage, Error> {
        self.load().await?;
        let state = self.state();
        let InboxCounts { waiting, unread, badge, position } = state.ledger.counts(|item| sees(caller, item));
        let mut page = InboxPage { waiting, unread, badge, position, ..InboxPage::default() };
        let max = filter.max.clamp(1, INBOX_PAGE_MAX);
        for item in state.ledger.newest_first().filter(|item| sees(caller, item) && filter.admits(item)) {
            if page.items.len() == max {
                page.next = page.items.last().map(|item: &InboxItem| item.position);
                break;
            }
            page.items.push(item.view());
        }
        Ok(page)
    }

    /// The counts of the items that the caller may see.
    pub(crate) fn counts(&self, caller: &Caller) -> InboxCounts {
        self.with(|ledger| ledger.counts(|item| sees(caller, item)))
    }

    /// Notes items that a visible tab of the caller shows. Requests count only for callers who could answer.
    pub(crate) async fn visible(&self, caller: &Caller, ids: &[String]) -> u64 {
        self.change(|ledger, now| {
            let mut accepted = 0;
            for id in ids {
                let counts = ledger.item(id).is_some_and(|item| {
                    sees(caller, item) && (!item.kind.is_request() || caller.scopes.has(Scope::Decide))
                });
                accepted += u64::from(counts && ledger.visible(id, now));
            }
            accepted
        })
        .await
    }

    /// Sets other rules for notifications, and stores them.
    pub(crate) async fn set_rules(&self, settings: NotifySettings) -> Result<NotifySettings, Error> {
        self.load().await?;
        let rules = Rules::new(settings)?;
        self.store_rules(&rules).await?;
        self.change(|ledger, now| ledger.set_rules(rules, now)).await;
        Ok(self.with(|ledger| ledger.rules().settings().clone()))
    }

    fn state(&self) -> MutexGuard<'_, InboxState> {
        self.0.state.lock()
    }

    /// Tells clients of changes, several at once.
    pub(crate) async fn tell_clients(&self) {
        loop {
            self.0.changed.notified().await;
            tokio::time::sleep(TOGETHER).await;
            let position = self.with(Ledger::position);
            self.0.sessions.notify(Notice::Inbox { position });
        }
    }
}

/// Changes within this time are told as one.
const TOGETHER: std::time::Duration = std::time::Duration::from_millis(100);

impl InboxFilter {
    fn admits(&self, item: &Item) -> bool {
        (!self.waiting || item.waiting)
            && (!self.unread || item.unread || item.waiting)
            && (self.kinds.is_empty() || self.kinds.contains(&item.kind))
            && self.session.as_deref().is_none_or(|session| item.session() == Some(session))
            && self.before.is_none_or(|before| item.position < before)
    }
}

/// True if the caller may see an item. Those of the whole server are for callers without a folder limit.
pub(crate) fn sees(caller: &Caller, item: &Item) -> bool {
    match &item.subject {
        Some(subject) => caller.sees(&subject.cwd),
        None => caller.folders.is_empty(),
    }
}
