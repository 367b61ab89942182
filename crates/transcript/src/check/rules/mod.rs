//! The rules, one file each. A rule's name stands in its file and nowhere else.

mod clock_order;
mod complete_tool_call;
mod conditional_field;
mod conflicting_copies;
mod duplicate_key;
mod duplicate_line;
mod foreign_session;
mod iso_timestamp;
mod known_parent;
pub(super) mod missing_agent_file;
mod missing_output;
mod parent_cycle;
mod phantom_leaf;
mod progress_link;
mod required_field;
mod shape_matches_type;
mod sidechain_flag;
mod tool_pairs;
mod unique_uuid;
mod unknown_type;
pub(super) mod unstarted_agent;

use super::context::Check;

/// New instances of every rule that checks the lines of one file.
pub(super) fn all() -> Vec<Box<dyn Check>> {
    vec![
        // The field table of the session specification, then its six integrity rules in the order of its
        // page.
        Box::new(required_field::RequiredField),
        Box::new(conditional_field::ConditionalField),
        Box::new(unique_uuid::UniqueUuid),
        Box::new(iso_timestamp::IsoTimestamp),
        Box::new(known_parent::KnownParent::default()),
        Box::new(shape_matches_type::ShapeMatchesType),
        Box::new(complete_tool_call::CompleteToolCall),
        Box::new(sidechain_flag::SidechainFlag),
        // Damage that occurs in real files.
        Box::new(parent_cycle::ParentCycle),
        Box::new(tool_pairs::ToolPairs::default()),
        Box::new(duplicate_line::DuplicateLine::default()),
        Box::new(conflicting_copies::ConflictingCopies),
        Box::new(foreign_session::ForeignSession::default()),
        Box::new(progress_link::ProgressLink),
        Box::new(clock_order::ClockOrder),
        Box::new(duplicate_key::DuplicateKey),
        Box::new(missing_output::MissingOutput),
        Box::new(phantom_leaf::PhantomLeaf::default()),
        Box::new(unknown_type::UnknownType::default()),
    ]
}
