//! The scope of each route, declared once together with the route.

use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::Response;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{Ref, RefOr, Response as Described, ResponseBuilder, content::ContentBuilder};
use utoipa_axum::router::UtoipaMethodRouter;

use super::route::Route;
use crate::caller::{Caller, Scope};
use crate::error::Error;

/// The name of the security scheme in the `OpenAPI` document.
pub(crate) const BEARER: &str = "bearer";

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

/// Adds the scope of a route and its error response to its description.
pub(crate) fn describe_scope<S>(
    (schemas, mut paths, methods): UtoipaMethodRouter<S>,
    scope: Option<Scope>,
) -> UtoipaMethodRouter<S> {
    for item in paths.paths.values_mut() {
        for operation in operations_mut(item) {
            if let Some(scope) = scope {
                operation.security = Some(vec![SecurityRequirement::new(BEARER, [scope.as_str()])]);
            }
            operation.responses.responses.insert("default".to_owned(), RefOr::T(problem()));
        }
    }
    (schemas, paths, methods)
}

fn operations_mut(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.put, &mut item.post, &mut item.patch, &mut item.delete]
        .into_iter()
        .filter_map(Option::as_mut)
}

fn problem() -> Described {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    ResponseBuilder::new().description("The error").content("application/problem+json", content).build()
}
