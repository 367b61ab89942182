//! Benchmark of frame decoding, compared with other ways to read the same bytes; docs/performance-results.md
//! has the results.

pub mod corpus;
pub mod judge;
#[cfg(feature = "peers")]
mod peers;
pub mod random;
pub mod rows;
pub mod table;
mod template;
mod text;

/// Error that ends a run early.
pub type Failure = Box<dyn std::error::Error>;
