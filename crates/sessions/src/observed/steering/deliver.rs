//! The queue of a session that runs in a terminal.

use std::sync::Arc;

use tidings::host::terminal::{TypingOutcome, typed_text};
use tidings_agent::UiMessage;
use tidings_api::{Delivery, QueueState};
use tidings_transcript::running::{self, RunningCli};
use tokio::time::Instant;

use super::{BUSY, IDLE, ObservedProcess, Steering, unreachable};
use crate::Error;
use crate::backends::{Backend, PromptOutcome};
use crate::limits::{TYPED_SHOWN_WITHIN, TYPING_EVERY};
use crate::live_session::{Change, LiveSession};
use crate::observed::dialog;
use crate::settings::{Queued, SessionSettings};

/// Types the prompts of the queue, one after the other, until the process is over.
pub(in crate::observed) async fn deliver(process: Arc<ObservedProcess>, entry: Arc<LiveSession>) {
    let mut idle_since: Option<Instant> = None;
    while !process.state().is_over {
        let is_empty = entry.memory().settings.queue.iter().all(|queued| !queued.typed);
        let wait = if is_empty { None } else { Some(TYPING_EVERY) };
        let step = step(&process, &entry, &mut idle_since).await;
        if let Err(error) = step {
            tracing::warn!(session = %entry.key, %error, "failed to type a prompt");
        }
        tokio::select! {
            () = process.queue_changed.notified() => {}
            () = async { match wait { Some(wait) => tokio::time::sleep(wait).await, None => std::future::pending().await } } => {}
        }
    }
}

/// `idle_since` is the time since which the CLI is idle although a prompt was typed.
async fn step(
    process: &ObservedProcess,
    entry: &LiveSession,
    idle_since: &mut Option<Instant>,
) -> Result<(), Error> {
    let now = entry.described_now(process).await;
    let status = now.as_ref().and_then(|now| now.status.as_deref());
    let is_idle = status == Some(IDLE);
    let handed = entry.queued_in(QueueState::Handed);
    if let (Some(handed), Some(steering)) = (&handed, &process.steering)
        && now.as_ref().is_some_and(|now| has_opened_screen(&handed.content, now))
    {
        return steering.close_screen().await.map_err(|error| unreachable(&error));
    }
    if let Some(handed) = handed {
        // The file shows a prompt soon after it was typed, and one that was typed during a turn when the turn
        // takes it. Some commands are not in the file.
        let since = *idle_since.get_or_insert_with(Instant::now);
        if !is_idle {
            *idle_since = None;
        } else if since.elapsed() >= TYPED_SHOWN_WITHIN {
            entry.leave_queue(&handed).await?;
        } else {
            return Ok(());
        }
    }
    if !is_idle && status != Some(BUSY) {
        return Ok(());
    }
    let Some(steering) = &process.steering else { return Ok(()) };
    let Some(queued) = entry.queued_in(QueueState::Waiting) else { return Ok(()) };
    if !is_idle && queued.delivery == Delivery::Interrupt {
        // It is typed when the turn is over.
        drop(process.interrupt().await);
        return Ok(());
    }
    if probe(steering).await != Some(TypingOutcome::Typed) {
        return Ok(());
    }
    // Marked before it is typed: after a crash its state is uncertain, and it is never typed twice.
    entry.set_state(&queued, QueueState::Handed).await?;
    *idle_since = None;
    match process.prompt(&queued).await {
        Ok(PromptOutcome::Handed) => Ok(()),
        Ok(PromptOutcome::NotNow) => entry.set_state(&queued, QueueState::Waiting).await,
        Err(error) => {
            tracing::warn!(session = %entry.key, %error, "a terminal does not respond");
            entry.set_state(&queued, QueueState::Uncertain).await
        }
    }
}

/// Asks whether a prompt could be typed.
async fn probe(steering: &Steering) -> Option<TypingOutcome> {
    steering.prompt("", "").await.ok()
}

impl LiveSession {
    /// The process as it describes itself now.
    async fn described_now(&self, process: &ObservedProcess) -> Option<RunningCli> {
        let (config_dir, pid) = (self.config_dir.clone()?, process.running.pid);
        tokio::task::spawn_blocking(move || running::current(&config_dir, pid)).await.ok().flatten()
    }

    /// The status that a process reports in its file.
    pub(super) async fn status_of(&self, process: &ObservedProcess) -> Option<String> {
        self.described_now(process).await?.status
    }

    /// The first prompt to type in a state.
    fn queued_in(&self, state: QueueState) -> Option<Queued> {
        let memory = self.memory();
        memory.settings.queue.iter().find(|queued| queued.typed && queued.state == state).cloned()
    }

    async fn set_state(&self, queued: &Queued, state: QueueState) -> Result<(), Error> {
        let set = |settings: &mut SessionSettings, _: &_| {
            for found in settings.queue.iter_mut().filter(|found| found.id == queued.id) {
                found.state = state;
            }
            Ok(Change::default())
        };
        self.change(set).await.map(drop)
    }

    /// Removes a prompt that was typed, and that the file of the session does not show as one.
    async fn leave_queue(&self, queued: &Queued) -> Result<(), Error> {
        let mut prompt = tidings_protocol::ui::UserPrompt::new(self.handle, typed_text(&queued.content));
        prompt.uuid = Some(queued.id.clone());
        let draft = self.draft(&UiMessage::from(prompt));
        let leave = |settings: &mut SessionSettings, _: &_| {
            let count = settings.queue.len();
            settings.queue.retain(|other| other.id != queued.id);
            let event = (settings.queue.len() < count).then_some(draft);
            Ok(Change { event, ..Change::default() })
        };
        self.change(leave).await.map(drop)
    }

    /// Shows a prompt that was sent as a message: its entry in the session file is not one of a prompt.
    pub(in crate::observed) async fn leave_message(&self, id: &str) {
        let handed = self.queued_in(QueueState::Handed).filter(|queued| queued.id == id);
        let Some(handed) = handed else { return };
        if let Err(error) = self.leave_queue(&handed).await {
            tracing::warn!(session = %self.key, %error, "failed to show a message");
        }
    }

    /// Gives a prompt of the session file the id that it had in the queue.
    pub(crate) fn match_typed(&self, event: &mut UiMessage) {
        let UiMessage::UserPrompt(prompt) = event else { return };
        let memory = self.memory();
        let is_it = |queued: &&Queued| {
            let is_typed = queued.typed && queued.state != QueueState::Waiting;
            is_typed && is_shown_as(&typed_text(&queued.content), &prompt.text)
        };
        if let Some(found) = memory.settings.queue.iter().find(is_it) {
            prompt.uuid = Some(found.id.clone());
        }
    }

    /// Removes the prompts that were to be typed into a terminal that is gone.
    pub(crate) async fn drop_typed(&self) {
        let typed: Vec<Queued> =
            self.memory().settings.queue.iter().filter(|queued| queued.typed).cloned().collect();
        for queued in typed {
            let why = "the session in the terminal has ended".to_owned();
            let removed = match queued.state {
                // A command such as `/clear` ends the session that it is typed into.
                QueueState::Handed => self.leave_queue(&queued).await,
                _ => self.drop_prompt(&queued, why).await,
            };
            if let Err(error) = removed {
                tracing::warn!(session = %self.key, %error, "failed to remove a prompt");
            }
        }
    }
}

/// True if a text that was typed last has opened the screen that the process shows: a command such as
/// `/usage`. The screen takes every key, so no prompt would reach the session until it is closed.
fn has_opened_screen(typed: &str, now: &RunningCli) -> bool {
    dialog::shows_screen(now) && typed_text(typed).starts_with('/')
}

/// True if the session file shows a typed text as this prompt. Shell commands have marks of their own.
fn is_shown_as(typed: &str, shown: &str) -> bool {
    let (typed, shown) = (typed.trim(), shown.trim());
    let inner = |shown: &str| {
        Some(shown.strip_prefix("<bash-input>")?.strip_suffix("</bash-input>")?.trim().to_owned())
    };
    typed == shown
        || typed.strip_prefix('!').is_some_and(|command| inner(shown).as_deref() == Some(command.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r6_the_screen_that_a_command_has_opened_is_closed() {
        let process = |status: &str, dialog: Option<&str>| -> RunningCli {
            let text = serde_json::json!({"sessionId": "s", "status": status, "waitingFor": dialog});
            serde_json::from_value(text).unwrap()
        };
        let screen = process("waiting", Some("dialog open"));
        for command in ["/cost", "/usage", "/status", "/help", "/config", " /usage now"] {
            assert!(has_opened_screen(command, &screen), "{command}");
            // Esc would deny a request, drop a question and interrupt a turn.
            for other in [
                process("waiting", Some("permission prompt")),
                process("waiting", Some("input needed")),
                process("waiting", None),
                process("busy", None),
                process("idle", None),
            ] {
                assert!(!has_opened_screen(command, &other), "{command} {other:?}");
            }
        }
        // The user has opened it, and reads it.
        assert!(!has_opened_screen("mend the build", &screen));
    }

    #[test]
    fn a_typed_text_is_found_in_the_file() {
        for (typed, shown) in [
            ("two\nlines ", "two\nlines"),
            ("/context ", "/context"),
            ("! ls", "<bash-input>ls</bash-input>"),
        ] {
            assert!(is_shown_as(typed, shown), "{typed}");
        }
        for (typed, shown) in [("ls", "<bash-input>ls</bash-input>"), ("!ls", "ls"), ("one", "two")] {
            assert!(!is_shown_as(typed, shown), "{typed}");
        }
    }
}
