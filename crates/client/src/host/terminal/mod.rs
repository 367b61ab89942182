//! A host that holds a pseudo-terminal in place of pipes: the interactive CLI outlives the terminals that
//! look at it (feature `terminal`, on Unix).
//!
//! ```text
//!  viewers (come and go)                     host (stays)                             claude
//!  +----------------------+   socket   +------------------------------+    pty    +-----------+
//!  | `tidings claude`     |   keys  >  | copy of the screen; answers  |   keys >  |           |
//!  | `tidings attach`     | < output   | the program's questions to   | < output  |   tools   |
//!  | the server: prompts  |  prompt >  | its terminal                 |           |           |
//!  +----------------------+            +------------------------------+           +-----------+
//! ```
//!
//! - **Every viewer has the same screen.** A new one gets the whole screen first. One that reads too slowly
//!   skips output, and gets the whole screen again; nothing waits for it, and no buffer grows.
//! - **The size is the smallest** of all viewers that have told one, so that each shows everything.
//! - **Prompts are typed as a person types them**, as one paste and Enter, and only into an empty input line
//!   on the screen: with a dialog, a menu or a draft they are refused, and nothing is typed. Keys of viewers
//!   wait meanwhile.
//! - **No process is left behind.** The host ends with the program. If the host is killed, the system hangs
//!   up the terminal, which ends the program.
//! - **The program cannot answer its own dialogs.** A process that the program has started is refused, also
//!   if it has detached itself (on Linux).

mod found;
mod link;
mod peer;
mod pty;
mod queries;
mod run;
mod screen;
mod shared;
mod submit;
mod text;
mod viewer;

pub(super) use found::Address;
pub use found::TerminalHost;
pub use link::{TerminalReader, TerminalWriter};
pub(super) use peer::is_below;
pub(super) use run::{end, start};
pub use screen::ScreenCopy;
pub(super) use shared::Terminal;
pub use submit::{InputLine, submit};
pub use text::typed_text;
pub(super) use viewer::serve;

pub use super::start::TerminalStart;
pub use super::wire::{TerminalRole, TerminalSize, TypingOutcome};
