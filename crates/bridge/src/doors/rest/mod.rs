//! Requests and answers.

mod asks;
mod history;
mod queue;
mod server;
mod sessions;
mod steer;
mod workspace;

use axum::extract::DefaultBodyLimit;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouterExt as _};
use utoipa_axum::routes;

use super::scope::{needs, needs_later};
use super::{Doors, mobile, openapi, sse, transcripts, ws};
use crate::caller::Scope::{Admin, Decide, Prompt, Read};
use crate::limits::INPUT_BYTES_MAX;

/// Every route, and what it needs.
pub(crate) fn routes() -> OpenApiRouter<Doors> {
    let long = || DefaultBodyLimit::max(INPUT_BYTES_MAX);
    OpenApiRouter::with_openapi(openapi::about())
        .routes(needs(Read, routes!(server::meta)))
        .routes(needs(Read, routes!(server::list_models)))
        .routes(needs(Read, routes!(server::openapi_json)))
        .routes(needs(Admin, routes!(server::audit)))
        .routes(needs(Read, routes!(sessions::list_sessions)))
        .routes(needs(Prompt, routes!(sessions::create_session)).layer(long()))
        .routes(needs(Read, routes!(sessions::get_session)))
        .routes(needs(Prompt, routes!(sessions::patch_session)))
        .routes(needs(Admin, routes!(sessions::delete_session)))
        .routes(needs_later(Read, routes!(ws::websocket)))
        .routes(needs_later(Read, routes!(mobile::mobile)))
        .routes(needs(Read, routes!(sse::all_events)))
        .routes(needs(Read, routes!(sse::session_events)))
        .routes(needs(Read, routes!(history::get_snapshot)))
        .routes(needs(Read, routes!(history::get_history)))
        .routes(needs(Prompt, routes!(queue::post_input)).layer(long()))
        .routes(needs(Read, routes!(queue::get_queue)))
        .routes(needs(Prompt, routes!(queue::cancel_input)))
        .routes(needs(Prompt, routes!(steer::interrupt)))
        .routes(needs(Prompt, routes!(steer::mode)))
        .routes(needs(Prompt, routes!(steer::model)))
        .routes(needs(Prompt, routes!(steer::rewind)))
        .routes(needs(Prompt, routes!(steer::stop)))
        .routes(needs(Prompt, routes!(steer::compact)))
        .routes(needs(Prompt, routes!(steer::clear)))
        .routes(needs(Read, routes!(workspace::list_commands)))
        .routes(needs(Read, routes!(workspace::find_files)))
        .routes(needs(Read, routes!(workspace::get_diff)))
        .routes(needs(Read, routes!(asks::list_permissions)))
        .routes(needs(Decide, routes!(asks::answer_permission)))
        .routes(needs(Decide, routes!(asks::answer_batch)))
        .routes(needs(Read, routes!(asks::list_questions)))
        .routes(needs(Decide, routes!(asks::answer_question)))
        .merge(transcripts::routes())
}
