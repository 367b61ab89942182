//! How things work, one chapter per thing that can surprise.
//!
//! | chapter | answers |
//! |---|---|
//! | [`messages`] | How do I read what comes? |
//! | [`turns`] | Which answer belongs to which prompt, and when is it over? |
//! | [`permissions`] | Who decides whether a tool runs? |
//! | [`hooks`] | How do I see, change or stop what the agent does? |
//! | [`cancellation`] | How do I stop a turn, a request, a session? |
//! | [`deadlocks`] | What may a handler do, and what must it not? |
//! | [`options`] | What becomes of each option? |
//! | [`errors`] | What can go wrong, and what do I do then? |
//! | [`processes`] | What runs, and what is left behind? |
//! | [`telemetry`] | How do I see it in my traces? |
//!
//! The examples here are compiled and run with the tests. They play `claude` from a recording or in memory,
//! so that you can run them too.

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
