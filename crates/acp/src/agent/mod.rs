//! Tidings as an agent: the methods that an editor calls, and the updates and requests that it gets.

mod answers;
mod calls;
mod content;
mod open_prompts;
mod requests;
mod tools;
mod translator;

pub use answers::{
    ListedSession, ModeChoice, SessionState, initialized, listed, opened, options_set, stopped,
};
pub use calls::{AgentCall, AgentNotice, ClientFeatures, OpenSession};
pub use open_prompts::{OpenPrompts, PromptEnd};
pub use requests::{EditorAnswer, EditorRequest, PendingRequest};
pub use translator::Translator;
