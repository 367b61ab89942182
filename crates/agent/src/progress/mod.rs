//! Progress of the work: counted if Claude Code reports it, otherwise estimated from text.
//!
//! [`ProgressParser`] finds "Running test 5 of 20", percentages, bars, current tasks and mentioned sub-agents
//! in the agent's text.
//! [`SubAgentProgressMonitor`] holds the tree of sub-agents, from the CLI's reports about its tasks, and from
//! mentions until the first such report.
//! [`test_summary`] and [`completion_summary`] extract numbers from finished texts.
//!
//! Every value from text is marked as an estimate: [`ProgressSource::is_estimated`].

mod limits;
mod mention;
mod monitor;
mod parser;
mod plural;
mod segments;
mod steps;
mod summary;
mod task;
mod test_output;
mod tree;

pub use mention::{AgentMention, sub_agent_type};
pub(crate) use monitor::share_of_tools;
pub use monitor::{SubAgentProgressMonitor, SubAgentUpdate};
pub use parser::{Finding, ProgressParser, TextProgress};
pub use steps::{Progress, ProgressSource};
pub use summary::{CompletionSummary, completion_summary};
pub use task::current_task;
pub use test_output::{TestRunner, TestSummary, test_summary};

/// Compiles a pattern of this module.
fn pattern(text: &str) -> regex::Regex {
    regex::Regex::new(text).expect("every pattern of this module is tried by a test")
}

#[cfg(test)]
mod tests;
