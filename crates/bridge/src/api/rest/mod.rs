//! REST routes.

mod archive;
mod asks;
mod audit;
mod fleet;
mod folders;
pub(crate) mod history;
mod hooks;
mod inbox;
mod marks;
mod notify;
mod project;
mod queue;
mod server;
mod sessions;
mod steer;
pub(crate) mod workspace;

use axum::extract::DefaultBodyLimit;

use super::{Api, acp, mobile, sse, transcripts, ws};
use crate::caller::Scope::{Admin, Always, Decide, Prompt, Read};
use crate::http::route::{Route, route};
use crate::http::scope::{needs, needs_later, needs_process, needs_token};
use crate::limits::{HOOK_BYTES_MAX, INPUT_BYTES_MAX};

/// Every route with the scope that it needs.
pub(crate) fn routes() -> Vec<Route<Api>> {
    let long = || DefaultBodyLimit::max(INPUT_BYTES_MAX);
    let mut routes = vec![
        needs(Read, route!(server::meta)),
        needs(Read, route!(server::list_models)),
        needs(Read, route!(server::session_models)),
        needs(Read, route!(server::openapi_json)),
        needs(Admin, route!(audit::audit)),
        needs(Read, route!(fleet::get_fleet)),
        needs(Admin, route!(fleet::invite_server)),
        needs(Admin, route!(fleet::remove_server)),
        needs(Admin, route!(fleet::drain_server)),
        needs(Read, route!(fleet::get_storage)),
        needs(Admin, route!(fleet::set_storage)),
        needs(Always, route!(fleet::continue_session)),
        needs(Read, route!(sessions::list_sessions)),
        needs(Prompt, route!(sessions::create_session)).bounded(long()),
        needs(Read, route!(sessions::get_session)),
        needs(Prompt, route!(sessions::patch_session)),
        needs(Admin, route!(sessions::delete_session)),
        needs_later(Read, route!(ws::websocket)),
        needs(Read, route!(@ [ws::terminal::] terminal)),
        needs_later(Read, route!(mobile::mobile)),
        needs(Read, route!(acp::acp_socket)),
        needs(Read, route!(sse::all_events)),
        needs(Read, route!(sse::session_events)),
        needs(Read, route!(history::get_snapshot)),
        needs(Read, route!(history::get_history)),
        needs(Read, route!(history::get_call)),
        needs(Read, route!(history::get_prompt)),
        needs(Prompt, route!(queue::post_input)).bounded(long()),
        needs(Read, route!(queue::get_queue)),
        needs(Prompt, route!(queue::cancel_input)),
        needs(Prompt, route!(steer::interrupt)),
        needs(Prompt, route!(steer::mode)),
        needs(Prompt, route!(steer::model)),
        needs(Prompt, route!(steer::option)),
        needs(Prompt, route!(steer::rewind)),
        needs(Prompt, route!(steer::stop)),
        needs(Prompt, route!(steer::compact)),
        needs(Prompt, route!(steer::clear)),
        needs(Always, route!(steer::take_over)),
        needs(Prompt, route!(folders::list_folders)),
        needs(Read, route!(archive::list_archive)),
        needs(Admin, route!(archive::archive_now)),
        needs(Prompt, route!(archive::restore_archived)),
        needs(Admin, route!(archive::remove_archived)),
        needs(Read, route!(workspace::list_commands)),
        needs(Read, route!(workspace::find_files)),
        needs(Read, route!(workspace::get_diff)),
        needs(Read, route!(project::list_tree)),
        needs(Read, route!(project::get_file)),
        needs(Always, route!(project::stage_changes)),
        needs(Always, route!(project::commit_changes)),
        needs(Read, route!(project::get_worktree)),
        needs(Always, route!(project::remove_worktree)),
        needs_process(route!(hooks::post_hook)).bounded(DefaultBodyLimit::max(HOOK_BYTES_MAX)),
        needs(Read, route!(asks::list_permissions)),
        needs(Decide, route!(asks::answer_permission)),
        needs(Decide, route!(asks::answer_batch)),
        needs(Read, route!(asks::list_questions)),
        needs(Decide, route!(asks::answer_question)),
        needs(Read, route!(inbox::list_inbox)),
        needs(Read, route!(inbox::read_inbox)),
        needs(Read, route!(inbox::visible_inbox)),
        needs(Decide, route!(inbox::act_inbox)),
        needs(Read, route!(marks::list_marks)),
        needs(Prompt, route!(marks::patch_marks)),
        needs(Read, route!(notify::get_push)),
        needs(Read, route!(notify::put_push)),
        needs(Read, route!(notify::delete_push)),
        needs(Read, route!(notify::test_push)),
        needs(Read, route!(notify::get_notify_settings)),
        needs(Admin, route!(notify::put_notify_settings)),
        needs(Admin, route!(notify::list_targets)),
        needs(Admin, route!(notify::add_target)),
        needs(Admin, route!(notify::remove_target)),
        needs(Admin, route!(notify::test_target)),
        needs_token(route!(notify::act_for_target)),
    ];
    routes.extend(transcripts::routes());
    routes
}
