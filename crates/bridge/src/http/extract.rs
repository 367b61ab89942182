//! Extractors for requests. A rejection is always a problem response, never plain text.

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::extract::{self, FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use serde::de::DeserializeOwned;
use tidings_api::{
    BatchAnswer, Code, CommandRequest, CreateSession, Input, PatchSession, PermissionAnswer, QuestionAnswer,
};
use tidings_sessions::Error;

use super::keys;

/// The result of a handler.
pub(crate) type Answer<T> = Result<Json<T>, Error>;

/// Parameters in the path.
#[derive(Debug)]
pub(crate) struct Path<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let found = extract::Path::from_request_parts(parts, state).await;
        found.map(|extract::Path(found)| Path(found)).map_err(|rejection| refused_path(&rejection))
    }
}

/// Parameters in the query string.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let found = extract::Query::from_request_parts(parts, state).await;
        found.map(|extract::Query(found)| Query(found)).map_err(|rejection| refused_query(&rejection))
    }
}

/// The body of a request.
#[derive(Debug)]
pub(crate) struct Body<T>(pub(crate) T);

/// The body of a command. The id comes from `Idempotency-Key` if the body has none.
#[derive(Debug)]
pub(crate) struct Command<T>(pub(crate) T);

/// A command with an idempotency key.
pub(crate) trait Repeatable: DeserializeOwned {
    /// The field with the id of the command.
    fn client_id(&mut self) -> &mut Option<String>;

    /// The value of an empty body; `None` if an empty body is an error.
    fn empty() -> Option<Self> {
        None
    }
}

macro_rules! repeatable {
    ($( $Name:ident $(= $empty:expr)?; )+) => {$(
        impl Repeatable for $Name {
            fn client_id(&mut self) -> &mut Option<String> {
                &mut self.client_id
            }
            $( fn empty() -> Option<Self> { Some($empty) } )?
        }
    )+};
}

repeatable! {
    CreateSession;
    PatchSession;
    Input;
    CommandRequest = CommandRequest::default();
    PermissionAnswer;
    BatchAnswer;
    QuestionAnswer;
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self, Error> {
        let headers = request.headers().clone();
        read(
            &headers,
            &Bytes::from_request(request, state).await.map_err(|rejection| refused_body(&rejection))?,
        )
        .map(Body)
    }
}

impl<T: Repeatable, S: Send + Sync> FromRequest<S> for Command<T> {
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self, Error> {
        let headers = request.headers().clone();
        let body = Bytes::from_request(request, state).await.map_err(|rejection| refused_body(&rejection))?;
        let mut command = match T::empty() {
            Some(empty) if body.is_empty() => empty,
            _ => read(&headers, &body)?,
        };
        let Some(key) = idempotency_key(&headers)? else { return Ok(Command(command)) };
        let client_id = command.client_id();
        if client_id.as_ref().is_some_and(|id| *id != key) {
            let message = "`Idempotency-Key` and `client_id` differ";
            return Err(Error::new(Code::Invalid, message, "send one of them, or the same in both"));
        }
        *client_id = Some(key);
        Ok(Command(command))
    }
}

fn read<T: DeserializeOwned>(headers: &HeaderMap, body: &[u8]) -> Result<T, Error> {
    if !is_json(headers) {
        let message = "The body must be JSON, with a matching content type";
        return Err(Error::new(Code::MediaType, message, "send `Content-Type: application/json`"));
    }
    let wrong = |error: serde_json::Error| {
        let hint = "see /v1/openapi.json for the schema";
        Error::new(Code::Invalid, format!("Invalid body: {error}"), hint)
    };
    // Checked first, because a misspelt key is often reported as a missing one otherwise.
    keys::check::<T>(&serde_json::from_slice(body).map_err(wrong)?)?;
    serde_json::from_slice(body).map_err(wrong)
}

/// True for JSON. A form on a foreign page can send other content types without a preflight request, but not
/// this one.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Error> {
    let Some(key) = headers.get("idempotency-key") else { return Ok(None) };
    let key = key.to_str().map_err(|_| {
        Error::new(Code::Invalid, "`Idempotency-Key` is not plain text", "use a UUID, for example")
    })?;
    Ok(Some(key.to_owned()))
}

fn refused_path(rejection: &PathRejection) -> Error {
    Error::new(Code::Invalid, rejection.body_text(), "see /v1/openapi.json")
}

fn refused_query(rejection: &QueryRejection) -> Error {
    Error::new(Code::Invalid, rejection.body_text(), "see /v1/openapi.json")
}

fn refused_body(rejection: &BytesRejection) -> Error {
    if rejection.status().as_u16() == Code::TooLarge.status() {
        return Error::new(Code::TooLarge, "The body is too long", "send less at once; see /v1/meta");
    }
    Error::new(Code::Invalid, rejection.body_text(), "send the whole body")
}
