//! Sessions on disk: list, read, search, count. Nothing here writes to them.
//!
//! Reading files takes time, so that it is done on threads of its own, a few at a time. What a client sends is never a
//! part of a path: files are looked for where sessions lie, and the client's words pick among what was found.

mod call;
mod cost;
mod list;
mod one;
mod prompt;
mod search;
mod shelf;
mod summary;
mod when;

pub use shelf::Transcripts;

use super::Api;
use super::route::{Route, route};
use super::scope::needs;
use crate::caller::Scope::Read;

/// The routes under `/v1/transcripts`.
pub(crate) fn routes() -> [Route<Api>; 10] {
    [
        needs(Read, route!(list::list_transcripts)),
        needs(Read, route!(summary::transcript_summary)),
        needs(Read, route!(search::search_transcripts)),
        needs(Read, route!(cost::transcript_stats)),
        needs(Read, route!(cost::transcript_cost)),
        needs(Read, route!(one::get_transcript)),
        needs(Read, route!(one::transcript_events)),
        needs(Read, route!(one::transcript_branches)),
        needs(Read, route!(call::transcript_call)),
        needs(Read, route!(prompt::transcript_prompt)),
    ]
}
