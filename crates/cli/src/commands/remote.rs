//! HTTP client for the commands that talk to a server.
//!
//! On the same machine they use the socket in the data folder, independent of the server's port and TLS, and
//! the admin token beside it, which is accepted there only. For an address they need a token in the
//! environment.

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use reqwest::{Method, RequestBuilder, Response};
use rustls::CertificateError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tidings_api::{Code, Problem};
use tidings_bridge::auth::read_admin_token;
use tidings_bridge::http_client;
use tidings_sessions::Error;

use super::serve;

/// Name of the server's socket in its data folder, unless the file `SOCKET_NOTE` there names another.
pub(crate) const SOCKET: &str = "server.sock";

/// Files in which a server records its socket and base path, in its data folder.
pub(crate) const SOCKET_NOTE: &str = "socket-path";
pub(crate) const BASE_PATH_NOTE: &str = "base-path";

/// File in the data folder with the folders whose sessions the server and the hooks leave alone.
pub(crate) const IGNORED_FOLDERS: &str = "ignored-folders";

/// Timeout for an answer of the server.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// Arguments of every command that talks to a server: the server, and the output format.
#[derive(Debug, Clone, Args)]
pub(crate) struct RemoteArgs {
    /// Data folder of a server on this machine [default: the default of `tidings serve`]
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) data: Option<PathBuf>,

    /// Address of a server; its token is read from `TIDINGS_TOKEN` [env: `TIDINGS_SERVER`]
    #[arg(long, value_name = "URL", global = true, conflicts_with = "data")]
    pub(crate) server: Option<String>,

    /// Print JSON for scripts
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// HTTP client of one server.
#[derive(Debug, Clone)]
pub(crate) struct Remote {
    client: reqwest::Client,
    base: String,
    token: String,
    /// Data folder of a server on this machine.
    data: Option<PathBuf>,
}

impl RemoteArgs {
    /// Address of the remote server, if one was named.
    pub(crate) fn remote_url(&self) -> Option<String> {
        self.server.clone().or_else(|| {
            let variable = env::var("TIDINGS_SERVER").ok().filter(|url| !url.is_empty());
            variable.filter(|_| self.data.is_none())
        })
    }

    /// Data folder of the server on this machine.
    pub(crate) fn data(&self) -> anyhow::Result<PathBuf> {
        self.data.clone().map_or_else(serve::configured_data, Ok)
    }

    /// Creates the client of the chosen server. Sends nothing yet.
    pub(crate) fn remote(&self) -> anyhow::Result<Remote> {
        if let Some(base) = self.remote_url() {
            let token =
                env::var("TIDINGS_TOKEN").ok().filter(|token| !token.is_empty()).ok_or_else(|| {
                    let hint =
                        "set TIDINGS_TOKEN; create a token with `tidings token create` on the server's machine";
                    Error::new(Code::Unauthorized, "A server at an address needs a token", hint)
                })?;
            return Remote::at(&base, &token);
        }
        let data = self.data()?;
        let Some(token) = read_admin_token(&data)? else { return Err(not_running(&data).into()) };
        let socket = note(&data, SOCKET_NOTE).map_or_else(|| data.join(SOCKET), PathBuf::from);
        if !socket.exists() {
            return Err(not_running(&data).into());
        }
        let client = http_client().timeout(ANSWER_MAX);
        #[cfg(unix)]
        let client = client.unix_socket(socket);
        let base = format!("http://localhost{}", note(&data, BASE_PATH_NOTE).unwrap_or_default());
        let token = token.reveal().to_owned();
        Ok(Remote { client: client.build()?, base, token, data: Some(data) })
    }
}

impl Remote {
    /// Creates the client of a server at an address.
    pub(crate) fn at(address: &str, token: &str) -> anyhow::Result<Self> {
        let client = http_client().timeout(ANSWER_MAX).build()?;
        let base = address.trim_end_matches('/').to_owned();
        Ok(Remote { client, base, token: token.to_owned(), data: None })
    }

    /// True if the server is on this machine.
    pub(crate) fn is_local(&self) -> bool {
        self.data.is_some()
    }

    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        Ok(self.send(self.request(Method::GET, path)).await?.json().await?)
    }

    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> anyhow::Result<T> {
        Ok(self.send(self.request(Method::POST, path).json(body)).await?.json().await?)
    }

    pub(crate) async fn patch<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> anyhow::Result<T> {
        Ok(self.send(self.request(Method::PATCH, path).json(body)).await?.json().await?)
    }

    pub(crate) async fn delete(&self, path: &str) -> anyhow::Result<()> {
        self.send(self.request(Method::DELETE, path)).await?;
        Ok(())
    }

    /// Builds a request with the credential, for callers that need more than JSON.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token)
    }

    /// Sends a request; the server's problem report becomes the error.
    pub(crate) async fn send(&self, request: RequestBuilder) -> anyhow::Result<Response> {
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        Self::checked(response).await
    }

    async fn checked(response: Response) -> anyhow::Result<Response> {
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status();
        let Ok(problem) = response.json::<Problem>().await else {
            let message = format!("The server answered with {status}");
            return Err(Error::new(Code::Internal, message, "check the address").into());
        };
        let code =
            Code::ALL.iter().copied().find(|code| code.as_str() == problem.code).unwrap_or(Code::Internal);
        Err(Error::new(code, problem.detail, problem.hint).into())
    }

    /// Sends a request that asks for another protocol; the server's problem report becomes the error.
    pub(crate) async fn send_upgrade(&self, request: RequestBuilder) -> anyhow::Result<Response> {
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        if response.status().is_informational() { Ok(response) } else { Self::checked(response).await }
    }

    fn unreachable(&self, error: &reqwest::Error) -> Error {
        match &self.data {
            Some(data) if error.is_connect() => not_running(data),
            // The address is not part of the message, since it may contain a secret.
            _ => {
                if error.is_builder() {
                    let hint = "an address looks like `https://box.example` or `http://127.0.0.1:7717`";
                    return Error::new(Code::Invalid, "Not the address of a server", hint);
                }
                if let Some(why) = certificate_problem(error) {
                    return Error::new(
                        Code::Unavailable,
                        format!("The certificate of the server is not trusted: {why}"),
                        "set SSL_CERT_FILE to a PEM file with the certificates to trust, and use a host name that the \
                         certificate covers",
                    );
                }
                let reason = if error.is_timeout() { "timed out" } else { "cannot connect" };
                Error::new(
                    Code::Unavailable,
                    format!("Failed to reach the server: {reason}"),
                    "check that it runs, and that its address begins with the right scheme, http:// or https://",
                )
            }
        }
    }
}

/// Returns why the server's certificate was rejected, if that is the cause of the error.
fn certificate_problem(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    if let Some(rustls::Error::InvalidCertificate(why)) = error.downcast_ref() {
        return Some(match why {
            CertificateError::UnknownIssuer => "its issuer is unknown".to_owned(),
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "it has expired".to_owned()
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "it is for another name".to_owned()
            }
            why if format!("{why:?}").contains("CaUsedAsEndEntity") => {
                "it is a CA certificate, not a server certificate".to_owned()
            }
            why => why.to_string(),
        });
    }
    // `source` of an I/O error skips the error that it wraps.
    let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    match inner {
        Some(inner) => certificate_problem(inner),
        None => error.source().and_then(certificate_problem),
    }
}

fn not_running(data: &std::path::Path) -> Error {
    let message = format!("No server is running with the data folder `{}`", data.display());
    Error::new(
        Code::Unavailable,
        message,
        "start it with `tidings serve`, or name its data folder with --data",
    )
}

/// Reads a file that a server on this machine wrote when it started.
fn note(data: &std::path::Path, name: &str) -> Option<String> {
    fs_err::read_to_string(data.join(name)).ok()
}
