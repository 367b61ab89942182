//! Commands to a session.

use axum::Json;
use axum::extract::State;
use tidings_api::{Accepted, CommandRequest, SessionCommand};
use tidings_sessions::Caller;

use crate::api::{Api, visibility};
use crate::http::{Answer, Command, Path};

macro_rules! commands {
    ($( $(#[$doc:meta])* $name:ident, $path:literal, $Command:ident; )+) => {$(
        $(#[$doc])*
        #[cfg_attr(feature = "openapi", utoipa::path(
            post, path = $path, tag = "commands",
            params(("id" = String, Path, description = "The key or the number of the session")),
            request_body(content = Option<CommandRequest>, description = "The arguments of the command"),
            responses((status = 200, description = "The position of its effect", body = Accepted)),
        ))]
        pub(crate) async fn $name(
            State(api): State<Api>,
            caller: Caller,
            Path(id): Path<String>,
            Command(request): Command<CommandRequest>,
        ) -> Answer<Accepted> {
            visibility::check(&api.sessions, &caller, &id).await?;
            api.sessions.command(&caller, &id, SessionCommand::$Command, request).await.map(Json)
        }
    )+};
}

commands! {
    /// Interrupts the running turn.
    interrupt, "/v1/sessions/{id}/interrupt", Interrupt;
    /// Sets the permission mode.
    mode, "/v1/sessions/{id}/mode", Mode;
    /// Sets the model.
    model, "/v1/sessions/{id}/model", Model;
    /// Sets an option of another agent than Claude Code.
    option, "/v1/sessions/{id}/option", Option;
    /// Rewinds files to their state before a prompt.
    rewind, "/v1/sessions/{id}/rewind", Rewind;
    /// Stops the agent; the next prompt starts it again.
    stop, "/v1/sessions/{id}/stop", Stop;
    /// Compacts the conversation.
    compact, "/v1/sessions/{id}/compact", Compact;
    /// Clears the conversation.
    clear, "/v1/sessions/{id}/clear", Clear;
    /// Ends the idle process that holds the session in a terminal, and continues the session on the server.
    take_over, "/v1/sessions/{id}/take_over", TakeOver;
}
