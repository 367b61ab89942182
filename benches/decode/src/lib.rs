//! How fast frames are decoded, next to other ways to read the same bytes; see docs/performance.md.

pub mod corpus;
pub mod judge;
#[cfg(feature = "peers")]
mod peers;
pub mod random;
pub mod rows;
pub mod table;
mod template;
mod text;

/// What ends a run early.
pub type Failure = Box<dyn std::error::Error>;
