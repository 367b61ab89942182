//! The log of a run, line by line.

use std::io::{Stdout, Write as _, stdout};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tidings::Error;
use tokio::sync::watch;

/// Writes lines, and counts the handler calls among them. Clones share the log.
#[derive(Clone)]
pub(crate) struct Log(Arc<Inner>);

struct Inner {
    out: Mutex<Stdout>,
    called: watch::Sender<usize>,
}

impl Default for Log {
    fn default() -> Self {
        Log(Arc::new(Inner { out: Mutex::new(stdout()), called: watch::channel(0).0 }))
    }
}

impl Log {
    pub(crate) fn message(&self, message: &Value) {
        self.line(&json!({"message": message}));
    }

    /// Logs a call of a handler.
    pub(crate) fn call(&self, call: &Value) {
        self.line(&json!({"call": call}));
        self.0.called.send_modify(|count| *count += 1);
    }

    pub(crate) fn reply(&self, to: &str, value: &Value) {
        self.line(&json!({"reply": {"to": to, "value": value}}));
    }

    pub(crate) fn refusal(&self, to: &str, error: &Error) {
        let code = error.code().map(|code| code.as_str().to_owned());
        self.line(&json!({"reply": {"to": to, "refused": error.to_string(), "code": code}}));
    }

    pub(crate) fn error(&self, error: &Error) {
        self.line(&json!({"error": {"kind": format!("{:?}", error.kind()), "text": error.to_string()}}));
    }

    /// Waits until handlers were called this many times.
    pub(crate) async fn calls(&self, count: usize) {
        drop(self.0.called.subscribe().wait_for(|called| *called >= count).await);
    }

    /// The reader may have exited, which ends the run soon.
    fn line(&self, value: &Value) {
        if let Ok(mut out) = self.0.out.lock() {
            drop(writeln!(out, "{value}"));
        }
    }
}
