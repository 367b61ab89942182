//! How far the work has come: counted where Claude Code says so, guessed from text where it does not.
//!
//! [`ProgressParser`] reads what the agent writes and notices "Running test 5 of 20", percentages, bars, what is being
//! worked on, and sub-agents that are only mentioned. [`SubAgentProgressMonitor`] keeps the tree of sub-agents, first
//! from what the CLI reports about its tasks, and from mentions only until the first such report.
//! [`test_summary`] and [`completion_summary`] read figures out of finished texts.
//!
//! Every value that comes from text is a guess, and says so: [`ProgressSource::is_estimated`].

mod limits;
mod mention;
mod monitor;
mod parser;
mod pieces;
mod plural;
mod steps;
mod summary;
mod task;
mod test_output;
mod tree;

pub use mention::{AgentMention, sub_agent_type};
pub(crate) use monitor::share_of_tools;
pub use monitor::{SubAgentProgressMonitor, SubAgentUpdate};
pub use parser::{Noticed, ProgressParser, TextProgress};
pub use steps::{Progress, ProgressSource};
pub use summary::{CompletionSummary, completion_summary};
pub use task::current_task;
pub use test_output::{TestRunner, TestSummary, test_summary};

/// A pattern that is part of the program.
fn pattern(text: &str) -> regex::Regex {
    regex::Regex::new(text).expect("every pattern of this module is tried by a test")
}

#[cfg(test)]
mod tests;
