use std::fmt;
use std::sync::Arc;

use uuid::Uuid;

/// Where ids come from: of prompts, of control requests, of what is started.
///
/// They are random unless something else is handed in, which a test does to get the same run twice.
#[derive(Clone)]
pub struct Ids(Arc<dyn Fn() -> Uuid + Send + Sync>);

impl Ids {
    /// Random ids.
    pub fn random() -> Self {
        Ids(Arc::new(Uuid::new_v4))
    }

    /// Ids from elsewhere; each must be new.
    pub fn from_fn(next: impl Fn() -> Uuid + Send + Sync + 'static) -> Self {
        Ids(Arc::new(next))
    }

    /// The next one.
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
