/// Why what the stand-in was doing ends early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The process ends with this code.
    Exit(i32),
    /// The process kills itself with this signal.
    Killed(i32),
    /// The host interrupted the turn.
    Interrupted,
}

/// What everything that writes, waits or asks gives back.
pub(super) type Flow<T = ()> = Result<T, Stop>;
