//! Inputs for opening a journal, and how it was left.

use super::Epoch;

/// Inputs for opening a journal, which has no clock and no randomness of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// Id of the machine's current boot, such as Linux's `boot_id`; a random one if it is unknown.
    pub boot_id: String,
    /// The epoch to use if a new one is needed.
    pub fresh_epoch: Epoch,
}

impl Opening {
    /// True if numbers may have been lost since the journal was last open.
    ///
    /// A killed process loses nothing that it had written, as the kernel still has it. A machine that went
    /// down may have lost deltas that were already published.
    pub(crate) fn may_have_lost(&self, clean: LastStop, boot_id: &str) -> bool {
        clean == LastStop::Unclean && boot_id != self.boot_id
    }
}

/// State in which the journal was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastStop {
    Clean,
    Unclean,
}
