//! Sessions on disk: list, read, search, count. Nothing here writes to them.
//!
//! Reading files takes time, so that it is done on threads of its own, a few at a time. What a client sends is never a
//! part of a path: files are looked for where sessions lie, and the client's words pick among what was found.

mod cost;
mod list;
mod one;
mod search;
mod shelf;
mod summary;
mod when;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use shelf::Transcripts;

use super::Doors;
use super::scope::needs;
use crate::caller::Scope::Read;

/// The routes under `/v1/transcripts`.
pub(crate) fn routes() -> OpenApiRouter<Doors> {
    OpenApiRouter::new()
        .routes(needs(Read, routes!(list::list_transcripts)))
        .routes(needs(Read, routes!(summary::transcript_summary)))
        .routes(needs(Read, routes!(search::search_transcripts)))
        .routes(needs(Read, routes!(cost::transcript_stats)))
        .routes(needs(Read, routes!(cost::transcript_cost)))
        .routes(needs(Read, routes!(one::get_transcript)))
        .routes(needs(Read, routes!(one::transcript_events)))
        .routes(needs(Read, routes!(one::transcript_branches)))
}
