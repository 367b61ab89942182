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
use tidings_api::INPUT_BYTES_MAX;
use tidings_api::Scope::{Admin, Always, Decide, Prompt, Read};

use super::{Api, acp, mobile, sse, transcripts, ws};
use crate::http::route::{Route, route};
use crate::http::scope::{needs, needs_later, needs_process, needs_token};
use crate::limits::HOOK_BYTES_MAX;

/// Every route with the scope that it needs.
pub(crate) fn routes() -> Vec<Route<Api>> {
    let long = || DefaultBodyLimit::max(INPUT_BYTES_MAX);
    let mut routes = vec![
        needs(Read, route!(get "/v1/meta", server::meta)),
        needs(Read, route!(get "/v1/models", server::list_models)),
        needs(Read, route!(get "/v1/sessions/{id}/models", server::session_models)),
        needs(Read, route!(get "/v1/openapi.json", server::openapi_json)),
        needs(Admin, route!(get "/v1/audit", audit::audit)),
        needs(Read, route!(get "/v1/fleet", fleet::get_fleet)),
        needs(Admin, route!(post "/v1/fleet/invites", fleet::invite_server)),
        needs(Admin, route!(delete "/v1/fleet/nodes/{node}", fleet::remove_server)),
        needs(Admin, route!(post "/v1/fleet/drain", fleet::drain_server)),
        needs(Read, route!(get "/v1/fleet/storage", fleet::get_storage)),
        needs(Admin, route!(post "/v1/fleet/storage", fleet::set_storage)),
        needs(Always, route!(post "/v1/fleet/sessions/{id}/continue", fleet::continue_session)),
        needs(Read, route!(get "/v1/sessions", sessions::list_sessions)),
        needs(Prompt, route!(post "/v1/sessions", sessions::create_session)).bounded(long()),
        needs(Read, route!(get "/v1/sessions/{id}", sessions::get_session)),
        needs(Prompt, route!(patch "/v1/sessions/{id}", sessions::patch_session)),
        needs(Admin, route!(delete "/v1/sessions/{id}", sessions::delete_session)),
        needs_later(Read, route!(get "/v1/ws", ws::websocket)),
        needs(Read, route!(get "/v1/sessions/{id}/terminal", ws::terminal::terminal)),
        needs_later(Read, route!(get "/v1/mobile", mobile::mobile)),
        needs(Read, route!(get "/v1/acp", acp::acp_socket)),
        needs(Read, route!(get "/v1/events", sse::all_events)),
        needs(Read, route!(get "/v1/sessions/{id}/events", sse::session_events)),
        needs(Read, route!(get "/v1/sessions/{id}/snapshot", history::get_snapshot)),
        needs(Read, route!(get "/v1/sessions/{id}/history", history::get_history)),
        needs(Read, route!(get "/v1/sessions/{id}/calls/{tool_use_id}", history::get_call)),
        needs(Read, route!(get "/v1/sessions/{id}/prompts/{prompt}", history::get_prompt)),
        needs(Prompt, route!(post "/v1/sessions/{id}/input", queue::post_input)).bounded(long()),
        needs(Read, route!(get "/v1/sessions/{id}/queue", queue::get_queue)),
        needs(Prompt, route!(delete "/v1/sessions/{id}/queue/{item}", queue::cancel_input)),
        needs(Prompt, route!(post "/v1/sessions/{id}/interrupt", steer::interrupt)),
        needs(Prompt, route!(post "/v1/sessions/{id}/mode", steer::mode)),
        needs(Prompt, route!(post "/v1/sessions/{id}/model", steer::model)),
        needs(Prompt, route!(post "/v1/sessions/{id}/option", steer::option)),
        needs(Prompt, route!(post "/v1/sessions/{id}/rewind", steer::rewind)),
        needs(Prompt, route!(post "/v1/sessions/{id}/stop", steer::stop)),
        needs(Prompt, route!(post "/v1/sessions/{id}/compact", steer::compact)),
        needs(Prompt, route!(post "/v1/sessions/{id}/clear", steer::clear)),
        needs(Always, route!(post "/v1/sessions/{id}/take_over", steer::take_over)),
        needs(Prompt, route!(get "/v1/folders", folders::list_folders)),
        needs(Read, route!(get "/v1/archive", archive::list_archive)),
        needs(Admin, route!(post "/v1/archive", archive::archive_now)),
        needs(Prompt, route!(post "/v1/archive/{session}/restore", archive::restore_archived)),
        needs(Admin, route!(delete "/v1/archive/{session}", archive::remove_archived)),
        needs(Read, route!(get "/v1/sessions/{id}/commands", workspace::list_commands)),
        needs(Read, route!(get "/v1/sessions/{id}/files", workspace::find_files)),
        needs(Read, route!(get "/v1/sessions/{id}/diff", workspace::get_diff)),
        needs(Read, route!(get "/v1/sessions/{id}/tree", project::list_tree)),
        needs(Read, route!(get "/v1/sessions/{id}/file", project::get_file)),
        needs(Always, route!(post "/v1/sessions/{id}/stage", project::stage_changes)),
        needs(Always, route!(post "/v1/sessions/{id}/commit", project::commit_changes)),
        needs(Read, route!(get "/v1/sessions/{id}/worktree", project::get_worktree)),
        needs(Always, route!(post "/v1/sessions/{id}/worktree/remove", project::remove_worktree)),
        needs_process(route!(post "/v1/hooks/{event}", hooks::post_hook))
            .bounded(DefaultBodyLimit::max(HOOK_BYTES_MAX)),
        needs(Read, route!(get "/v1/permissions", asks::list_permissions)),
        needs(Decide, route!(post "/v1/sessions/{id}/permissions/{tool_use_id}", asks::answer_permission)),
        needs(Decide, route!(post "/v1/sessions/{id}/permission-batches/{batch_id}", asks::answer_batch)),
        needs(Read, route!(get "/v1/questions", asks::list_questions)),
        needs(Decide, route!(post "/v1/sessions/{id}/questions/{tool_use_id}", asks::answer_question)),
        needs(Read, route!(get "/v1/inbox", inbox::list_inbox)),
        needs(Read, route!(post "/v1/inbox/read", inbox::read_inbox)),
        needs(Read, route!(post "/v1/inbox/visible", inbox::visible_inbox)),
        needs(Decide, route!(post "/v1/inbox/act", inbox::act_inbox)),
        needs(Read, route!(get "/v1/marks", marks::list_marks)),
        needs(Prompt, route!(patch "/v1/marks/{session}", marks::patch_marks)),
        needs(Read, route!(get "/v1/push", notify::get_push)),
        needs(Read, route!(put "/v1/push", notify::put_push)),
        needs(Read, route!(delete "/v1/push", notify::delete_push)),
        needs(Read, route!(post "/v1/push/test", notify::test_push)),
        needs(Read, route!(get "/v1/notify/settings", notify::get_notify_settings)),
        needs(Admin, route!(put "/v1/notify/settings", notify::put_notify_settings)),
        needs(Admin, route!(get "/v1/notify/targets", notify::list_targets)),
        needs(Admin, route!(post "/v1/notify/targets", notify::add_target)),
        needs(Admin, route!(delete "/v1/notify/targets/{id}", notify::remove_target)),
        needs(Admin, route!(post "/v1/notify/targets/{id}/test", notify::test_target)),
        needs_token(route!(post "/v1/notify/act/{token}", notify::act_for_target)),
    ];
    routes.extend(transcripts::routes());
    routes
}
