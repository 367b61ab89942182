//! The scope of each route, declared once together with the route.

use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::Response;
use tidings_api::Scope;
use tidings_sessions::{Caller, Error};

use super::route::Route;

/// Requires a scope for a route, and adds it to the description of the route.
pub(crate) fn needs<S: Clone + Send + Sync + 'static>(scope: Scope, route: Route<S>) -> Route<S> {
    let check = move |caller: Caller, request: Request, next: Next| async move {
        caller.require(scope)?;
        Ok::<Response, Error>(next.run(request).await)
    };
    let route = needs_later(scope, route);
    Route { methods: route.methods.route_layer(middleware::from_fn(check)), ..route }
}

/// Adds a scope to the description of a route. The handler must check it, since the credential may come
/// later.
pub(crate) fn needs_later<S>(scope: Scope, route: Route<S>) -> Route<S> {
    Route { scope: Some(scope), ..route }
}

/// Declares a route without a credential: its handler checks the process at the other end of the socket.
pub(crate) fn needs_process<S>(route: Route<S>) -> Route<S> {
    Route { scope: None, ..route }
}

/// Declares a route without a credential: its path contains a token, which its handler checks.
pub(crate) fn needs_token<S>(route: Route<S>) -> Route<S> {
    Route { scope: None, ..route }
}
