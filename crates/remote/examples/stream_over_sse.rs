//! Passes the events of a session on to browsers as server-sent events, which this program may restrict to
//! what its users may see. A browser that connects again continues after the last event that it has.

#![expect(clippy::print_stdout, reason = "an example prints")]

mod common;

use std::convert::Infallible;
use std::error::Error;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use axum::routing::get;
use futures_util::{Stream, StreamExt as _, future};
use tidings_remote::{Answering, RemoteServer, SessionUpdate};
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = common::server()?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    let routes = Router::new().route("/{session}", get(events)).with_state(server);
    Ok(axum::serve(listener, routes).await?)
}

async fn events(
    State(server): State<RemoteServer>,
    Path(session): Path<String>,
    headers: HeaderMap,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let cursor = headers.get("last-event-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
    let updates = server.session(session).events(cursor).answering(Answering::Absent).into_stream();
    let events = updates.filter_map(|update| {
        future::ready(match update {
            Ok(SessionUpdate::Event(event)) => {
                Some(Event::default().id(event.cursor).event(event.name).data(event.json))
            }
            // Events are missing: the page loads the session again.
            Ok(SessionUpdate::Subscribed(subscribed)) => {
                Some(Event::default().event("subscribed").data(subscribed.from))
            }
            Ok(_) => None,
            Err(error) => Some(Event::default().event("failed").data(error.to_string())),
        })
    });
    Sse::new(events.map(Ok)).keep_alive(KeepAlive::default())
}
