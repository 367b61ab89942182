//! What can be asked of a session besides a prompt.

use axum::Json;
use axum::extract::State;
use tidings_protocol::api::{Accepted, CommandRequest};

use crate::api::Api;
use crate::api::extract::{Answer, Command, Path};
use crate::api::reach;
use crate::caller::Caller;
use crate::sessions::Verb;

macro_rules! commands {
    ($( $(#[$doc:meta])* $name:ident, $path:literal, $Verb:ident; )+) => {$(
        $(#[$doc])*
        #[utoipa::path(
            post, path = $path, tag = "commands",
            params(("id" = String, Path, description = "The key or the number of the session")),
            request_body(content = Option<CommandRequest>, description = "What the command needs"),
            responses((status = 200, description = "Where it took effect", body = Accepted)),
        )]
        pub(crate) async fn $name(
            State(api): State<Api>,
            caller: Caller,
            Path(id): Path<String>,
            Command(request): Command<CommandRequest>,
        ) -> Answer<Accepted> {
            reach::admit(&api.sessions, &caller, &id).await?;
            api.sessions.command(&caller, &id, Verb::$Verb, request).await.map(Json)
        }
    )+};
}

commands! {
    /// Ends the turn that is under way.
    interrupt, "/v1/sessions/{id}/interrupt", Interrupt;
    /// Another permission mode from now on.
    mode, "/v1/sessions/{id}/mode", Mode;
    /// Another model from now on.
    model, "/v1/sessions/{id}/model", Model;
    /// Puts files back to where they were before a prompt.
    rewind, "/v1/sessions/{id}/rewind", Rewind;
    /// Ends the agent; the next prompt starts it again.
    stop, "/v1/sessions/{id}/stop", Stop;
    /// Sums the conversation up, to make room.
    compact, "/v1/sessions/{id}/compact", Compact;
    /// Begins the conversation anew.
    clear, "/v1/sessions/{id}/clear", Clear;
}
