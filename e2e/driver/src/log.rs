//! What happened, line by line.

use std::io::{Stdout, Write as _, stdout};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tidings::Error;
use tokio::sync::watch;

/// Writes lines, and counts the questions among them. Clones are the same log.
#[derive(Clone)]
pub(crate) struct Log(Arc<Inner>);

struct Inner {
    out: Mutex<Stdout>,
    asked: watch::Sender<usize>,
}

impl Default for Log {
    fn default() -> Self {
        Log(Arc::new(Inner { out: Mutex::new(stdout()), asked: watch::channel(0).0 }))
    }
}

impl Log {
    pub(crate) fn message(&self, message: &Value) {
        self.line(&json!({"message": message}));
    }

    /// Somebody is asked something.
    pub(crate) fn call(&self, call: &Value) {
        self.line(&json!({"call": call}));
        self.0.asked.send_modify(|count| *count += 1);
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

    /// Waits until so many questions have been asked.
    pub(crate) async fn calls(&self, count: usize) {
        drop(self.0.asked.subscribe().wait_for(|asked| *asked >= count).await);
    }

    /// Whoever reads this may be gone, which ends the run soon enough.
    fn line(&self, value: &Value) {
        if let Ok(mut out) = self.0.out.lock() {
            drop(writeln!(out, "{value}"));
        }
    }
}
