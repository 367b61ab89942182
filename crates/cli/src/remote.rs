//! The server, for the commands that talk to it.
//!
//! On the same machine they come through the socket in the data folder, whatever port the server listens on and
//! whether or not it speaks TLS there; the admin token lies beside it. Elsewhere they need an address and a token.

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use reqwest::{Method, RequestBuilder, Response};
use rustls::CertificateError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tidings_bridge::auth::read_admin_token;
use tidings_bridge::http_client;
use tidings_bridge::{Code, Error};
use tidings_protocol::api::Problem;

use crate::commands::serve;

/// The socket of a server in its data folder, unless a note there names another.
pub(crate) const SOCKET: &str = "server.sock";

/// What a server writes down in its data folder for commands that cannot guess it.
pub(crate) const SOCKET_NOTE: &str = "socket-path";
pub(crate) const BASE_PATH_NOTE: &str = "base-path";

/// How long a server may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// Which server, and how to print; every command that talks to a server takes these.
#[derive(Debug, Clone, Args)]
pub(crate) struct RemoteArgs {
    /// The data folder of the server, if it is on this machine [default: that of `tidings serve`]
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) data: Option<PathBuf>,

    /// The address of a server elsewhere; its token comes from `TIDINGS_TOKEN` [env: `TIDINGS_SERVER`]
    #[arg(long, value_name = "URL", global = true, conflicts_with = "data")]
    pub(crate) server: Option<String>,

    /// Print JSON for scripts
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// A server that can be asked.
#[derive(Debug, Clone)]
pub(crate) struct Remote {
    client: reqwest::Client,
    base: String,
    token: String,
    /// Its data folder, if it is on this machine.
    data: Option<PathBuf>,
}

impl RemoteArgs {
    /// The address of a server elsewhere, if one is meant.
    pub(crate) fn elsewhere(&self) -> Option<String> {
        self.server.clone().or_else(|| {
            let variable = env::var("TIDINGS_SERVER").ok().filter(|url| !url.is_empty());
            variable.filter(|_| self.data.is_none())
        })
    }

    /// The data folder of the server that is meant, if it is on this machine.
    pub(crate) fn data(&self) -> anyhow::Result<PathBuf> {
        self.data.clone().map_or_else(serve::usual_data, Ok)
    }

    /// The server that is meant. Nobody has asked it anything yet.
    pub(crate) fn remote(&self) -> anyhow::Result<Remote> {
        if let Some(base) = self.elsewhere() {
            let token =
                env::var("TIDINGS_TOKEN").ok().filter(|token| !token.is_empty()).ok_or_else(|| {
                    let hint =
                        "set TIDINGS_TOKEN; `tidings token create` on the machine of the server makes one";
                    Error::new(Code::Unauthorized, "A server elsewhere needs a token", hint)
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
    /// A server that is reached by its address.
    pub(crate) fn at(address: &str, token: &str) -> anyhow::Result<Self> {
        let client = http_client().timeout(ANSWER_MAX).build()?;
        let base = address.trim_end_matches('/').to_owned();
        Ok(Remote { client, base, token: token.to_owned(), data: None })
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

    pub(crate) async fn delete(&self, path: &str) -> anyhow::Result<()> {
        self.send(self.request(Method::DELETE, path)).await?;
        Ok(())
    }

    /// A request with the credential, for those who want more than JSON.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token)
    }

    /// Sends a request; a refusal is an error with the words of the server.
    pub(crate) async fn send(&self, request: RequestBuilder) -> anyhow::Result<Response> {
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status();
        let Ok(problem) = response.json::<Problem>().await else {
            let message = format!("The server has answered with {status}");
            return Err(Error::new(Code::Internal, message, "see whether the address is right").into());
        };
        let code =
            Code::ALL.iter().copied().find(|code| code.as_str() == problem.code).unwrap_or(Code::Internal);
        Err(Error::new(code, problem.detail, problem.hint).into())
    }

    fn unreachable(&self, error: &reqwest::Error) -> Error {
        match &self.data {
            Some(data) if error.is_connect() => not_running(data),
            // The address may be one with a secret in it.
            _ => {
                if error.is_builder() {
                    let hint = "an address looks like `https://box.example` or `http://127.0.0.1:7717`";
                    return Error::new(Code::Invalid, "It is no address of a server", hint);
                }
                if let Some(why) = distrust(error) {
                    return Error::new(
                        Code::Unavailable,
                        format!("The certificate of the server is not trusted: {why}"),
                        "SSL_CERT_FILE names a file with the certificates to trust, as PEM; the address has to be a \
                         name that the certificate is for",
                    );
                }
                let reason = if error.is_timeout() { "it takes too long" } else { "nobody answers" };
                Error::new(
                    Code::Unavailable,
                    format!("Failed to reach the server: {reason}"),
                    "see whether it runs, and whether its address begins with http:// or https:// as it should",
                )
            }
        }
    }
}

/// Why a certificate counts for nothing, if that is why the server was not reached.
fn distrust(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    if let Some(rustls::Error::InvalidCertificate(why)) = error.downcast_ref() {
        return Some(match why {
            CertificateError::UnknownIssuer => "nobody who is known here has signed it".to_owned(),
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "its time is over".to_owned()
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "it is for another name".to_owned()
            }
            why if format!("{why:?}").contains("CaUsedAsEndEntity") => {
                "it is one to sign others with, and not one for a server".to_owned()
            }
            why => why.to_string(),
        });
    }
    // An I/O error passes over what is in it when it names its source.
    let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    match inner {
        Some(inner) => distrust(inner),
        None => error.source().and_then(distrust),
    }
}

fn not_running(data: &std::path::Path) -> Error {
    let message = format!("No server runs with the data in `{}`", data.display());
    Error::new(Code::Unavailable, message, "start it with `tidings serve`, or name its folder with --data")
}

/// What a server on this machine has written down when it started.
fn note(data: &std::path::Path, name: &str) -> Option<String> {
    fs_err::read_to_string(data.join(name)).ok()
}
