//! A route: its method, its path and its handler, and in a build for developers its `OpenAPI` description.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::handler::Handler;
use axum::response::Response;
use axum::routing::MethodRouter;
use futures_core::future::BoxFuture;
use tidings_api::Scope;

/// One handler, made with [`route!`].
pub(crate) struct Route<S> {
    #[cfg(all(test, feature = "openapi"))]
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) methods: MethodRouter<S>,
    #[cfg(feature = "openapi")]
    pub(crate) describe: fn() -> utoipa_axum::router::UtoipaMethodRouter<S>,
    /// The scope that the route needs.
    #[cfg_attr(not(feature = "openapi"), expect(dead_code, reason = "only the description says it"))]
    pub(crate) scope: Option<Scope>,
}

/// Makes a route of a handler, whose description has the same method and path: a test compares them.
macro_rules! route {
    ($method:ident $path:literal, $($handler:tt)+) => {
        $crate::http::route::Route {
            #[cfg(all(test, feature = "openapi"))]
            method: stringify!($method),
            path: $path,
            methods: axum::routing::$method($crate::http::route::ErasedHandler::new($($handler)+)),
            #[cfg(feature = "openapi")]
            describe: || utoipa_axum::routes!($($handler)+),
            scope: None,
        }
    };
}

pub(crate) use route;

/// A handler of any route. All have this one type, so that the router's code is compiled once and not for
/// each of them.
#[derive(Clone)]
pub(crate) struct ErasedHandler<S>(Arc<dyn Fn(Request, S) -> BoxFuture<'static, Response> + Send + Sync>);

impl<S> ErasedHandler<S> {
    pub(crate) fn new<T, H>(handler: H) -> Self
    where
        H: Handler<T, S, Future = BoxFuture<'static, Response>> + Sync,
    {
        ErasedHandler(Arc::new(move |request, state| handler.clone().call(request, state)))
    }
}

impl<S: Clone + Send + Sync + 'static> Handler<(), S> for ErasedHandler<S> {
    type Future = BoxFuture<'static, Response>;

    fn call(self, request: Request, state: S) -> Self::Future {
        self.0(request, state)
    }
}

impl<S: Clone + Send + Sync + 'static> Route<S> {
    /// Sets another limit on the size of request bodies.
    pub(crate) fn bounded(self, limit: DefaultBodyLimit) -> Self {
        Route { methods: self.methods.layer(limit), ..self }
    }
}

/// A router for the routes.
pub(crate) fn router<S: Clone + Send + Sync + 'static>(routes: Vec<Route<S>>) -> Router<S> {
    routes.into_iter().fold(Router::new(), |router, route| router.route(route.path, route.methods))
}
