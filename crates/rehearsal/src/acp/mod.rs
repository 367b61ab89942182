//! A stand-in for an agent of the Agent Client Protocol, played from a script of its own.
//!
//! It sends what the script says, also what no agent should: late, repeated, malformed and hostile updates.

mod play;
mod script;

pub use self::play::play;
pub use self::script::{AcpScript, AcpStep, AcpTurn};
