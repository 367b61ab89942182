//! Reasons of retractions.

use super::closed_enums;

closed_enums! {
    /// Reason of a retraction.
    pub enum RetractReason {
        /// The stream was cut off and the answer starts again.
        Retry,
        /// The model refused and another model answers.
        Refusal,
        /// A later message replaces this one.
        Superseded,
        /// The complete message differs from the streamed one.
        Corrected,
    }
}
