//! The reasons for which the stand-in ends early.

/// Reason for an early end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The process exits with this code.
    Exit(i32),
    /// The process kills itself with this signal.
    Killed(i32),
    /// The host interrupted the turn.
    Interrupted,
}

/// Result of every function that writes, waits or sends requests.
pub(super) type Flow<T = ()> = Result<T, Stop>;
