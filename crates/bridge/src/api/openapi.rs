//! The `OpenAPI` document, made from the routes.

use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{ComponentsBuilder, Info, OpenApi, OpenApiBuilder};

use super::{health, rest};
use crate::auth;
use crate::http::route;
use crate::http::scope::BEARER;

/// The description of every route, as `OpenAPI` 3.1.
pub fn openapi() -> OpenApi {
    let mut all = route::describe(about(), &rest::routes());
    all.merge(route::describe(OpenApi::default(), &auth::routes()));
    all.merge(route::describe(OpenApi::default(), &health::routes()));
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
        .schema_from::<tidings_protocol::api::Problem>()
        .schema_from::<tidings_protocol::api::AnswerResult>()
        .security_scheme(BEARER, bearer)
        .build();
    OpenApiBuilder::new().info(info).components(Some(components)).build()
}
