//! One server: how it is reached, and requests to it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tidings_api::Problem;
use tidings_base::backoff::Backoff;
use tokio::time::Instant;

use crate::error::{Error, ErrorKind, Retry};
use crate::local::{self, LocalServer};

/// Upper bound of the body of a response: a page of events or a whole tool call, of which one line of the CLI
/// may have 64 MiB.
const BODY_BYTES_MAX: usize = 256 << 20;

/// Upper bound of the body of a problem report.
const PROBLEM_BYTES_MAX: usize = 1 << 20;

/// A time that no program waits for.
const ENDLESS: Duration = Duration::from_secs(30 * 365 * 86_400);

/// Header with the id of a command.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// A client of one server. A clone is the same client.
///
/// A future of a request may be dropped at any time. A command that was dropped may have had its effect:
/// sent again with the same client id it has no second one.
#[derive(Clone)]
pub struct RemoteServer(Arc<ServerClient>);

struct ServerClient {
    http: reqwest::Client,
    base: String,
    token: Option<String>,
    /// Data folder of a server on this machine.
    data: Option<PathBuf>,
    options: RemoteOptions,
}

/// Times of a client.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RemoteOptions {
    /// Time for a response.
    pub answer_max: Duration,
    /// Time during which a request is sent again after its connection was lost. A request that could not be
    /// sent at all fails at once.
    pub patience: Duration,
    /// Pause before the second attempt to connect again; each further pause is twice as long.
    pub pause_first: Duration,
    /// Upper bound of the pause.
    pub pause_max: Duration,
    /// Silence after which a stream counts as lost. Servers send a heartbeat every 15 seconds.
    pub silence_max: Duration,
}

impl Default for RemoteOptions {
    fn default() -> Self {
        RemoteOptions {
            answer_max: Duration::from_secs(30),
            patience: Duration::from_secs(60),
            pause_first: Duration::from_millis(500),
            pause_max: Duration::from_secs(10),
            silence_max: Duration::from_secs(45),
        }
    }
}

impl fmt::Debug for RemoteServer {
    /// Hides the credential, and the address, which may contain one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = &*self.0;
        f.debug_struct("RemoteServer")
            .field("data", &server.data)
            .field("options", &server.options)
            .finish_non_exhaustive()
    }
}

impl RemoteServer {
    /// The server at an address, such as `https://box.example` or `http://127.0.0.1:7717`. Sends nothing yet.
    ///
    /// `tidings token create` on the server's machine creates a token, and [`RemoteServer::pair`] exchanges a
    /// code for one.
    pub fn at(address: &str, token: &str) -> Result<Self, Error> {
        RemoteServer::new(client(address).build(), address, Some(token.to_owned()), None)
    }

    /// The server at an address, without a credential.
    pub(crate) fn anonymous(address: &str) -> Result<Self, Error> {
        RemoteServer::new(client(address).build(), address, None, None)
    }

    /// The server of the same user on this machine with this data folder, over its Unix socket and with its
    /// admin token. Sends nothing yet.
    pub fn local(data: impl AsRef<Path>) -> Result<Self, Error> {
        let data = data.as_ref();
        let LocalServer { socket, base_path, token } = LocalServer::find(data)?;
        let address = format!("http://localhost{base_path}");
        let client = client(&address);
        #[cfg(unix)]
        let client = client.unix_socket(socket);
        #[cfg(not(unix))]
        drop(socket);
        RemoteServer::new(client.build(), &address, Some(token), Some(data.to_owned()))
    }

    fn new(
        http: reqwest::Result<reqwest::Client>,
        address: &str,
        token: Option<String>,
        data: Option<PathBuf>,
    ) -> Result<Self, Error> {
        if address.starts_with("https:") && !cfg!(feature = "tls") {
            let message = "This program cannot use addresses that begin with `https://`";
            return Err(Error::new(
                ErrorKind::Invalid,
                message,
                "enable the feature `tls` of tidings-remote",
            ));
        }
        let http = http.map_err(|error| {
            let message = format!("Failed to set up the client: {}", error.without_url());
            Error::new(ErrorKind::Invalid, message, "")
        })?;
        let (base, options) = (address.trim_end_matches('/').to_owned(), RemoteOptions::default());
        Ok(RemoteServer(Arc::new(ServerClient { http, base, token, data, options })))
    }

    /// The same client with other times.
    #[must_use]
    pub fn with(&self, options: RemoteOptions) -> Self {
        let ServerClient { http, base, token, data, .. } = &*self.0;
        let (http, base, token, data) = (http.clone(), base.clone(), token.clone(), data.clone());
        RemoteServer(Arc::new(ServerClient { http, base, token, data, options }))
    }

    /// Times of the client.
    pub fn options(&self) -> &RemoteOptions {
        &self.0.options
    }

    /// True if the server is on this machine.
    pub fn is_local(&self) -> bool {
        self.0.data.is_some()
    }

    /// Gets the JSON of a route, such as `/v1/meta`.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Error> {
        let request = || self.request(Method::GET, path);
        decode(&self.send_until_answered(request).await?)
    }

    /// Sends a request that is not a command, once: after [`ErrorKind::Cut`] it may have had its effect.
    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, Error> {
        decode(&self.send(self.with_json(Method::POST, path, &encode(body)?)).await?)
    }

    /// Replaces what a route returns.
    pub async fn put<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, Error> {
        let body = encode(body)?;
        let request = || self.with_json(Method::PUT, path, &body);
        decode(&self.send_until_answered(request).await?)
    }

    /// Changes parts of what a route returns, once.
    pub async fn patch<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, Error> {
        decode(&self.send(self.with_json(Method::PATCH, path, &encode(body)?)).await?)
    }

    /// Deletes, once.
    pub async fn delete(&self, path: &str) -> Result<(), Error> {
        self.send(self.request(Method::DELETE, path)).await.map(drop)
    }

    /// Sends a command, and sends it again if the connection is lost, with the same id: it has one effect.
    ///
    /// The id is the `client_id` of the body. Without one it is a new one, so that a second call of this
    /// function is another command.
    pub async fn command<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, Error> {
        self.command_with(Method::POST, path, body).await
    }

    pub(crate) async fn command_with<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Error> {
        #[derive(Deserialize)]
        struct WithId {
            client_id: Option<String>,
        }
        let body = encode(body)?;
        let given = serde_json::from_slice::<WithId>(&body).ok().and_then(|body| body.client_id);
        let id = given.unwrap_or_else(client_id);
        let request = || self.with_json(method.clone(), path, &body).header(IDEMPOTENCY_KEY, &id);
        decode(&self.send_until_answered(request).await?)
    }

    /// Reads the body of a route without an end of time, for long ones and for those that are not JSON.
    pub async fn read(&self, path: &str) -> Result<RemoteBody, Error> {
        let opening = async {
            let response = self.request(Method::GET, path).send().await;
            self.checked(response.map_err(|error| self.failed(&error))?).await
        };
        let answered = tokio::time::timeout(self.0.options.answer_max, opening).await;
        Ok(RemoteBody { server: self.clone(), response: answered.map_err(|_| too_late())?? })
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.0.http.request(method, format!("{}{path}", self.0.base));
        match &self.0.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    fn with_json(&self, method: Method, path: &str, body: &Bytes) -> RequestBuilder {
        self.request(method, path).header(CONTENT_TYPE, "application/json").body(body.clone())
    }

    /// Sends a request once, and returns the body of a successful response.
    async fn send(&self, request: RequestBuilder) -> Result<Bytes, Error> {
        let response = request.timeout(self.0.options.answer_max).send().await;
        let response = self.checked(response.map_err(|error| self.failed(&error))?).await?;
        self.body(response, BODY_BYTES_MAX).await
    }

    /// Reads a whole body.
    async fn body(&self, mut response: Response, bytes_max: usize) -> Result<Bytes, Error> {
        let mut body = BytesMut::new();
        while let Some(part) = response.chunk().await.map_err(|error| self.failed(&error))? {
            if body.len() + part.len() > bytes_max {
                let message = format!("The response of the server is longer than {bytes_max} bytes");
                return Err(Error::new(ErrorKind::Response, message, "ask for less at once"));
            }
            body.extend_from_slice(&part);
        }
        Ok(body.freeze())
    }

    /// Sends a request again as long as its connection is lost. A response is final, whatever it is, unless
    /// the server that lost the connection is only starting again.
    async fn send_until_answered(&self, request: impl Fn() -> RequestBuilder) -> Result<Bytes, Error> {
        let RemoteOptions { patience, pause_first, pause_max, .. } = self.0.options;
        let deadline = after(Instant::now(), patience);
        let mut backoff = Backoff::new(pause_first, pause_max);
        let mut was_cut = false;
        loop {
            let error = match self.send(request()).await {
                Ok(body) => return Ok(body),
                Err(error) => error,
            };
            was_cut |= error.kind() == ErrorKind::Cut;
            if !was_cut {
                return Err(error);
            }
            let next = after(Instant::now(), backoff.pause().max(error.wait().unwrap_or_default()));
            if error.retry() == Retry::Never || next > deadline {
                return Err(error.after_cut());
            }
            tokio::time::sleep_until(next).await;
        }
    }

    /// Makes the server's problem report the error.
    pub(crate) async fn checked(&self, response: Response) -> Result<Response, Error> {
        let status = response.status();
        if status.is_success() || status == StatusCode::SWITCHING_PROTOCOLS {
            return Ok(response);
        }
        let body = self.body(response, PROBLEM_BYTES_MAX).await.unwrap_or_default();
        if let Ok(problem) = serde_json::from_slice::<Problem>(&body) {
            return Err(Error::refused(problem));
        }
        let message = format!("The server answered with {status}");
        let error = Error::new(ErrorKind::Response, message, "check the address");
        // Proxies answer so while the server behind them restarts.
        if status.is_server_error() { Err(error.retry_after(self.0.options.pause_first)) } else { Err(error) }
    }

    /// The error of a request without a response.
    pub(crate) fn failed(&self, error: &reqwest::Error) -> Error {
        if error.is_builder() {
            let hint = "an address looks like `https://box.example` or `http://127.0.0.1:7717`";
            return Error::new(ErrorKind::Invalid, "Not the address of a server", hint);
        }
        #[cfg(feature = "tls")]
        if let Some(why) = crate::tls::certificate_problem(error) {
            return Error::new(
                ErrorKind::Untrusted,
                format!("The certificate of the server is not trusted: {why}"),
                "set SSL_CERT_FILE to a PEM file with the certificates to trust, and use a host name that the \
                 certificate covers",
            );
        }
        match (&self.0.data, error.is_connect()) {
            (Some(data), true) => local::not_running(data),
            // The address is not part of the message, since it may contain a secret.
            (None, true) => {
                let reason = if error.is_timeout() { "timed out" } else { "cannot connect" };
                Error::new(
                    ErrorKind::Unreachable,
                    format!("Failed to reach the server: {reason}"),
                    "check that it runs, and that its address begins with the right scheme, http:// or https://",
                )
            }
            (_, false) if error.is_timeout() => too_late(),
            (_, false) => {
                Error::new(ErrorKind::Cut, "The connection to the server was lost", "check that it runs")
            }
        }
    }
}

/// A body that is read in parts.
pub struct RemoteBody {
    server: RemoteServer,
    response: Response,
}

impl fmt::Debug for RemoteBody {
    /// Hides the address, which may contain a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteBody").field("server", &self.server).finish_non_exhaustive()
    }
}

impl RemoteBody {
    /// The next part; `None` at the end. Cancel safe.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        self.response.chunk().await.map_err(|error| self.server.failed(&error))
    }
}

/// A new id of a command. A program that may have to send a command again, after a restart for example,
/// chooses the id itself, and stores it.
pub fn client_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// A client that ignores the environment, and follows no redirect: what it sends is for one server.
#[cfg_attr(not(feature = "tls"), expect(unused_variables, reason = "there is no other kind of address"))]
fn client(address: &str) -> reqwest::ClientBuilder {
    let agent = concat!("tidings/", env!("CARGO_PKG_VERSION"));
    let client = reqwest::Client::builder().no_proxy().redirect(Policy::none()).user_agent(agent);
    #[cfg(feature = "tls")]
    let client = crate::tls::trusting(client, address);
    client
}

/// A later time; for a duration without an end, one that does not come.
pub(crate) fn after(time: Instant, pause: Duration) -> Instant {
    time.checked_add(pause).unwrap_or_else(|| time + ENDLESS)
}

fn too_late() -> Error {
    Error::new(ErrorKind::Cut, "Failed to reach the server: timed out", "check that it runs")
}

fn encode(body: &impl Serialize) -> Result<Bytes, Error> {
    let body = serde_json::to_vec(body);
    body.map(Bytes::from).map_err(|error| Error::new(ErrorKind::Invalid, error.to_string(), ""))
}

fn decode<T: DeserializeOwned>(body: &Bytes) -> Result<T, Error> {
    serde_json::from_slice(body).map_err(|error| {
        let message = format!("The response of the server is not understood: {error}");
        Error::new(ErrorKind::Response, message, "check the address, and update this program or the server")
    })
}
