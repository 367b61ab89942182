//! Makes the `OpenAPI` document from the routes, for `make schema`.

use tidings_api::Scope;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    ComponentsBuilder, Info, OpenApi, OpenApiBuilder, Ref, RefOr, Response, ResponseBuilder,
};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::{health, rest};
use crate::auth;
use crate::http::route::Route;

/// The name of the security scheme.
const BEARER: &str = "bearer";

/// The description of every route, as `OpenAPI` 3.1.
pub fn describe() -> OpenApi {
    let mut all = add(about(), &rest::routes());
    all.merge(add(OpenApi::default(), &auth::routes()));
    all.merge(add(OpenApi::default(), &health::routes()));
    all
}

/// The document without routes.
fn about() -> OpenApi {
    let mut info = Info::new("Tidings", env!("CARGO_PKG_VERSION"));
    info.description = Some(
        "Claude Code sessions over HTTP. Each operation names the scope that its credential needs. \
         Errors are problems as in RFC 9457. A command with a `client_id`, or the header `Idempotency-Key`, \
         has one effect however often it is sent."
            .to_owned(),
    );
    let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    let components = ComponentsBuilder::new()
        .schema_from::<tidings_api::Problem>()
        .schema_from::<tidings_api::AnswerResult>()
        .security_scheme(BEARER, bearer)
        .build();
    OpenApiBuilder::new().info(info).components(Some(components)).build()
}

/// Adds the descriptions of the routes to a document.
fn add<S: Clone + Send + Sync + 'static>(about: OpenApi, routes: &[Route<S>]) -> OpenApi {
    let all = OpenApiRouter::with_openapi(about);
    routes
        .iter()
        .fold(all, |all, route| all.routes(with_scope((route.describe)(), route.scope)))
        .into_openapi()
}

/// Adds the scope of a route and its error response to its description.
fn with_scope<S>(
    (schemas, mut paths, methods): UtoipaMethodRouter<S>,
    scope: Option<Scope>,
) -> UtoipaMethodRouter<S> {
    for operation in paths.paths.values_mut().flat_map(operations_mut) {
        if let Some(scope) = scope {
            operation.security = Some(vec![SecurityRequirement::new(BEARER, [scope.as_str()])]);
        }
        operation.responses.responses.insert("default".to_owned(), RefOr::T(problem()));
    }
    (schemas, paths, methods)
}

fn operations_mut(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.put, &mut item.post, &mut item.patch, &mut item.delete]
        .into_iter()
        .filter_map(Option::as_mut)
}

fn problem() -> Response {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    ResponseBuilder::new().description("The error").content("application/problem+json", content).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<S: Clone + Send + Sync + 'static>(routes: &[Route<S>]) {
        for route in routes {
            let (_, paths, _) = (route.describe)();
            let described: Vec<(String, Vec<String>)> = paths
                .paths
                .iter()
                .map(|(path, item)| {
                    let item = serde_json::to_value(item).unwrap();
                    (path.clone(), item.as_object().unwrap().keys().cloned().collect())
                })
                .collect();
            assert_eq!(described, [(route.path.to_owned(), vec![route.method.to_owned()])]);
        }
    }

    #[test]
    fn each_route_is_described_with_its_own_method_and_path() {
        check(&rest::routes());
        check(&auth::routes());
        check(&health::routes());
    }
}
