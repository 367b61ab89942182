//! The source of ids, which tests replace.

use std::fmt;
use std::sync::Arc;

use uuid::Uuid;

/// The source of ids for prompts, control requests and started processes.
///
/// Ids are random by default; a test passes its own source for reproducible runs.
#[derive(Clone)]
pub struct Ids(Arc<dyn Fn() -> Uuid + Send + Sync>);

impl Ids {
    /// Random ids.
    pub fn random() -> Self {
        Ids(Arc::new(Uuid::new_v4))
    }

    /// Ids from a function; each must be unique.
    pub fn from_fn(next: impl Fn() -> Uuid + Send + Sync + 'static) -> Self {
        Ids(Arc::new(next))
    }

    /// The next id.
    pub fn next(&self) -> String {
        (self.0)().to_string()
    }
}

impl Default for Ids {
    fn default() -> Self {
        Ids::random()
    }
}

impl fmt::Debug for Ids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ids")
    }
}
