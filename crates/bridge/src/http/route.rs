//! A route: its handler and its `OpenAPI` description.
//!
//! The description of all routes is large and rarely requested, so it is built on request.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::MethodRouter;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::scope;
use crate::caller::Scope;

/// One handler, made with [`route!`].
pub(crate) struct Route<S> {
    pub(crate) path: String,
    pub(crate) methods: MethodRouter<S>,
    pub(crate) describe: fn() -> UtoipaMethodRouter<S>,
    /// The scope that the route needs.
    pub(crate) scope: Option<Scope>,
}

/// Makes a route from a function with `#[utoipa::path]`, which contains its path and its method.
macro_rules! route {
    (@ [$($module:tt)*] $handler:ident) => {
        utoipa_axum::paste! {{
            use utoipa::Path as _;
            use utoipa_axum::PathItemExt as _;
            type Handler = $($module)* [<__path_ $handler>];
            let methods = Handler::methods().iter().fold(axum::routing::MethodRouter::new(), |methods, method| {
                methods.on(method.to_method_filter(), $($module)* $handler)
            });
            let describe = || utoipa_axum::routes!($($module)* $handler);
            $crate::http::route::Route { path: Handler::path(), methods, describe, scope: None }
        }}
    };
    ($module:ident :: $handler:ident) => {
        $crate::http::route::route!(@ [$module ::] $handler)
    };
    ($handler:ident) => {
        $crate::http::route::route!(@ [] $handler)
    };
}

pub(crate) use route;

impl<S: Clone + Send + Sync + 'static> Route<S> {
    /// Sets another limit on the size of request bodies.
    pub(crate) fn bounded(self, limit: DefaultBodyLimit) -> Self {
        Route { methods: self.methods.layer(limit), ..self }
    }
}

/// A router for the routes.
pub(crate) fn router<S: Clone + Send + Sync + 'static>(routes: Vec<Route<S>>) -> Router<S> {
    routes.into_iter().fold(Router::new(), |router, route| router.route(&route.path, route.methods))
}

/// Adds the descriptions of the routes to a document.
pub(crate) fn describe<S: Clone + Send + Sync + 'static>(about: OpenApi, routes: &[Route<S>]) -> OpenApi {
    let all = OpenApiRouter::with_openapi(about);
    routes
        .iter()
        .fold(all, |all, route| all.routes(scope::describe_scope((route.describe)(), route.scope)))
        .into_openapi()
}
