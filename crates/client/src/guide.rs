//! The guide, with one chapter per topic that can surprise.
//!
//! | chapter | topic |
//! |---|---|
//! | [`messages`] | reading messages and matching on them |
//! | [`turns`] | which answer belongs to which prompt, and when it is complete |
//! | [`permissions`] | how the CLI decides whether a tool runs |
//! | [`hooks`] | seeing, changing and stopping what the agent does |
//! | [`cancellation`] | stopping a turn, a request or a session |
//! | [`deadlocks`] | what a handler may do, and what it must not do |
//! | [`options`] | how each option reaches the CLI |
//! | [`errors`] | what can go wrong, and how to react |
//! | [`processes`] | which processes run, and how they end |
//! | [`telemetry`] | traces and their export |
//!
//! The examples are compiled and run with the tests. They play `claude` from a recording or in memory, so
//! that you can run them too.

#[doc = include_str!("guide/cancellation.md")]
pub mod cancellation {}

#[doc = include_str!("guide/deadlocks.md")]
pub mod deadlocks {}

#[doc = include_str!("guide/errors.md")]
pub mod errors {}

#[doc = include_str!("guide/hooks.md")]
pub mod hooks {}

#[doc = include_str!("guide/messages.md")]
pub mod messages {}

#[doc = include_str!("guide/options.md")]
pub mod options {}

#[doc = include_str!("guide/permissions.md")]
pub mod permissions {}

#[doc = include_str!("guide/processes.md")]
pub mod processes {}

#[doc = include_str!("guide/telemetry.md")]
pub mod telemetry {}

#[doc = include_str!("guide/turns.md")]
pub mod turns {}
