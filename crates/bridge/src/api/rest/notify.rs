//! Notifications: rules, targets, and the Web Push subscription of a device.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use tidings_api::{
    Code, InboxActed, NewNotifyTarget, NotifySettings, NotifyTarget, NotifyTargets, NotifyTest, PushState,
    PushSubscription,
};
use tidings_sessions::{Caller, Error};

use crate::api::Api;
use crate::http::{Answer, Body, Path};

/// Gets the public key of the server, and the subscription of this device.
#[cfg_attr(feature = "openapi", utoipa::path(get, path = "/v1/push", tag = "notifications",
    responses((status = 200, description = "The state", body = PushState))))]
pub(crate) async fn get_push(State(api): State<Api>, caller: Caller) -> Answer<PushState> {
    api.notifications.push_state(&caller).await.map(Json)
}

/// Subscribes the browser of this device, in place of its earlier subscription.
#[cfg_attr(feature = "openapi", utoipa::path(put, path = "/v1/push", tag = "notifications", request_body = PushSubscription,
    responses((status = 200, description = "The new state", body = PushState))))]
pub(crate) async fn put_push(
    State(api): State<Api>,
    caller: Caller,
    Body(wanted): Body<PushSubscription>,
) -> Answer<PushState> {
    api.notifications.subscribe(&caller, wanted).await?;
    api.notifications.push_state(&caller).await.map(Json)
}

/// Ends the subscription of this device.
#[cfg_attr(feature = "openapi", utoipa::path(delete, path = "/v1/push", tag = "notifications",
    responses((status = 204, description = "It is not subscribed any more"))))]
pub(crate) async fn delete_push(State(api): State<Api>, caller: Caller) -> Result<StatusCode, Error> {
    api.notifications.load().await?;
    if let Some(device) = &caller.device {
        api.notifications.remove_device(device).await;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Sends a test message to this device.
#[cfg_attr(feature = "openapi", utoipa::path(post, path = "/v1/push/test", tag = "notifications",
    responses((status = 200, description = "The result", body = NotifyTest))))]
pub(crate) async fn test_push(State(api): State<Api>, caller: Caller) -> Answer<NotifyTest> {
    let state = api.notifications.push_state(&caller).await?;
    let Some(subscription) = state.subscription else {
        return Ok(Json(NotifyTest {
            sent: false,
            kind: Some("no_subscription".to_owned()),
            message: Some("This device is not subscribed".to_owned()),
            hint: Some(state.reason.unwrap_or_else(|| "subscribe first".to_owned())),
        }));
    };
    api.notifications.test_device(&subscription.device).await.map(Json)
}

/// Gets the rules for notifications.
#[cfg_attr(feature = "openapi", utoipa::path(get, path = "/v1/notify/settings", tag = "notifications",
    responses((status = 200, description = "The rules", body = NotifySettings))))]
pub(crate) async fn get_notify_settings(State(api): State<Api>, caller: Caller) -> Answer<NotifySettings> {
    all_folders(&caller)?;
    let inbox = api.notifications.inbox();
    inbox.load().await?;
    Ok(Json(inbox.with(|ledger| ledger.rules().settings().clone())))
}

/// Sets the rules for notifications.
#[cfg_attr(feature = "openapi", utoipa::path(put, path = "/v1/notify/settings", tag = "notifications", request_body = NotifySettings,
    responses((status = 200, description = "The rules", body = NotifySettings))))]
pub(crate) async fn put_notify_settings(
    State(api): State<Api>,
    caller: Caller,
    Body(settings): Body<NotifySettings>,
) -> Answer<NotifySettings> {
    all_folders(&caller)?;
    api.notifications.inbox().set_rules(settings).await.map(Json)
}

/// Lists the targets of notifications, without their secrets.
#[cfg_attr(feature = "openapi", utoipa::path(get, path = "/v1/notify/targets", tag = "notifications",
    responses((status = 200, description = "The targets", body = NotifyTargets))))]
pub(crate) async fn list_targets(State(api): State<Api>, caller: Caller) -> Answer<NotifyTargets> {
    all_folders(&caller)?;
    Ok(Json(NotifyTargets { items: api.notifications.targets().await? }))
}

/// Adds a target of notifications.
#[cfg_attr(feature = "openapi", utoipa::path(post, path = "/v1/notify/targets", tag = "notifications", request_body = NewNotifyTarget,
    responses((status = 201, description = "The target", body = NotifyTarget))))]
pub(crate) async fn add_target(
    State(api): State<Api>,
    caller: Caller,
    Body(new): Body<NewNotifyTarget>,
) -> Result<(StatusCode, Json<NotifyTarget>), Error> {
    all_folders(&caller)?;
    Ok((StatusCode::CREATED, Json(api.notifications.add_target(new).await?)))
}

/// Removes a target, or the subscription of a device.
#[cfg_attr(feature = "openapi", utoipa::path(delete, path = "/v1/notify/targets/{id}", tag = "notifications",
    params(("id" = String, Path, description = "The id of the target")),
    responses((status = 204, description = "It is removed"), (status = 404, description = "No such target"))))]
pub(crate) async fn remove_target(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, Error> {
    all_folders(&caller)?;
    api.notifications.remove_target(&id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Sends a test notification to a target.
#[cfg_attr(feature = "openapi", utoipa::path(post, path = "/v1/notify/targets/{id}/test", tag = "notifications",
    params(("id" = String, Path, description = "The id of the target")),
    responses((status = 200, description = "The result", body = NotifyTest))))]
pub(crate) async fn test_target(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
) -> Answer<NotifyTest> {
    all_folders(&caller)?;
    api.notifications.test_target(&id).await.map(Json)
}

/// Decides by the button of a notification at ntfy. The token is the credential, and contains the decision.
#[cfg_attr(feature = "openapi", utoipa::path(post, path = "/v1/notify/act/{token}", tag = "notifications",
    params(("token" = String, Path, description = "The token of the button")),
    responses((status = 200, description = "The result", body = InboxActed),
        (status = 403, description = "The token is not valid"))))]
pub(crate) async fn act_for_target(State(api): State<Api>, Path(token): Path<String>) -> Answer<InboxActed> {
    let answered = api.notifications.act_for_target(&token).await?;
    Ok(Json(InboxActed { outcome: answered.outcome }))
}

/// Rules and targets concern all sessions.
fn all_folders(caller: &Caller) -> Result<(), Error> {
    if caller.folders.is_empty() {
        return Ok(());
    }
    let message = "Notifications concern all sessions, and this credential is limited to folders";
    Err(Error::new(Code::Forbidden, message, "use a credential without folders"))
}
