//! The deadline for the body of a request.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::{StreamExt as _, stream};
use tokio::time::{Instant, timeout_at};

/// Bytes of a body that add a second to its deadline.
const BYTES_PER_SECOND: usize = 1 << 10;

/// Ends a body that arrives too slowly. Reading it fails, and so does the request.
pub(super) async fn limit(State(body_time): State<Duration>, request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    next.run(request.map(|body| timed(body, body_time))).await
}

fn timed(body: Body, body_time: Duration) -> Body {
    let begun = Instant::now();
    let parts = stream::unfold(Some((body.into_data_stream(), 0)), move |state| async move {
        let (mut parts, bytes): (_, usize) = state?;
        let seconds = u64::try_from(bytes / BYTES_PER_SECOND).unwrap_or(u64::MAX);
        let deadline = begun + body_time + Duration::from_secs(seconds);
        match timeout_at(deadline, parts.next()).await {
            Ok(Some(Ok(part))) => {
                let bytes = bytes.saturating_add(part.len());
                Some((Ok::<Bytes, axum::Error>(part), Some((parts, bytes))))
            }
            Ok(Some(Err(error))) => Some((Err(error), None)),
            Ok(None) => None,
            Err(late) => Some((Err(axum::Error::new(late)), None)),
        }
    });
    Body::from_stream(parts)
}
