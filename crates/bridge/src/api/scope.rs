//! What each route needs, said once: where the route is declared.

use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::Response;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{Ref, RefOr, Response as Described, ResponseBuilder, content::ContentBuilder};
use utoipa_axum::router::UtoipaMethodRouter;

use super::Api;
use super::route::Route;
use crate::caller::{Caller, Scope};
use crate::error::Error;

/// The name of the way to authenticate, in the description of the API.
pub(crate) const BEARER: &str = "bearer";

/// The same route for those only whose credential has the scope, which its description says as well.
pub(crate) fn needs(scope: Scope, route: Route<Api>) -> Route<Api> {
    let check = move |caller: Caller, request: Request, next: Next| async move {
        caller.require(scope)?;
        Ok::<Response, Error>(next.run(request).await)
    };
    let route = needs_later(scope, route);
    Route { methods: route.methods.route_layer(middleware::from_fn(check)), ..route }
}

/// Only says so: the credential may come later, and the handler has to check it.
pub(crate) fn needs_later<S>(scope: Scope, route: Route<S>) -> Route<S> {
    Route { scope: Some(scope), ..route }
}

/// Says in a description what the route needs, if it needs a scope, and how it refuses.
pub(crate) fn say<S>(
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
    ResponseBuilder::new()
        .description("Why it was refused")
        .content("application/problem+json", content)
        .build()
}
