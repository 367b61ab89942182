//! Sessions on disk: list, read, search, count, and in `change` rename and delete.
//!
//! Files are read on blocking threads, a few at a time. Input of a client never becomes part of a path: the
//! session folders are scanned, and the input selects among the sessions that were found.

mod call;
mod change;
mod cost;
mod list;
mod prompt;
mod search;
mod session;
mod store;
mod summary;
mod times;
mod unlisted;

use tidings_api::Scope::{Admin, Prompt, Read};

pub(crate) use change::delete_transcript;
pub(crate) use list::newest_transcripts;
pub(super) use session::folder_of;
pub use store::Transcripts;

use super::Api;
use crate::http::route::{Route, route};
use crate::http::scope::needs;

/// The routes under `/v1/transcripts`.
pub(crate) fn routes() -> [Route<Api>; 12] {
    [
        needs(Read, route!(get "/v1/transcripts", list::list_transcripts)),
        needs(Read, route!(get "/v1/transcripts/summary", summary::transcript_summary)),
        needs(Read, route!(get "/v1/transcripts/search", search::search_transcripts)),
        needs(Read, route!(get "/v1/transcripts/stats", cost::transcript_stats)),
        needs(Read, route!(get "/v1/transcripts/cost", cost::transcript_cost)),
        needs(Read, route!(get "/v1/transcripts/{id}", session::get_transcript)),
        needs(Prompt, route!(patch "/v1/transcripts/{id}", change::patch_transcript)),
        needs(Admin, route!(delete "/v1/transcripts/{id}", change::delete_transcript)),
        needs(Read, route!(get "/v1/transcripts/{id}/events", session::transcript_events)),
        needs(Read, route!(get "/v1/transcripts/{id}/branches", session::transcript_branches)),
        needs(Read, route!(get "/v1/transcripts/{id}/calls/{tool_use_id}", call::transcript_call)),
        needs(Read, route!(get "/v1/transcripts/{id}/prompts/{prompt}", prompt::transcript_prompt)),
    ]
}
