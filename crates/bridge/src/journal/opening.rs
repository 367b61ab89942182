use super::Epoch;

/// What a journal has to be told when it is opened, since it looks at no clock and has no randomness of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// Which start of the machine this is, such as Linux's `boot_id`. Whoever cannot know it hands in a random one.
    pub boot_id: String,
    /// The epoch to use if a new one is needed.
    pub fresh_epoch: Epoch,
}

impl Opening {
    /// Whether numbers may have been lost since the journal was last open.
    ///
    /// A process that was killed loses nothing that it had written, as the kernel still has it. A machine that went
    /// down may have lost deltas that were shown to somebody.
    pub(crate) fn may_have_lost(&self, clean: Stop, boot_id: &str) -> bool {
        clean == Stop::Unclean && boot_id != self.boot_id
    }
}

/// How the journal was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Clean,
    Unclean,
}
