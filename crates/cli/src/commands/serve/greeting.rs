//! Startup message of the server: its addresses, warnings and a pairing link.

use std::env;
use std::io::{self, IsTerminal as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use serde::Serialize;
use tidings_api::{NewDevice, Scope};
use tidings_bridge::Auth;
use tidings_commands::output::{BOLD, Output, PLAIN, YELLOW};

use super::declared::LogForm;
use super::settings::Settings;
use super::{configured_data, start};

/// Variables that agents often need, and do not receive unless they are named with `--pass-env`.
const OFTEN_NEEDED: &[&str] =
    &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "HTTPS_PROXY"];

/// JSON line with the server's addresses.
#[derive(Serialize)]
struct AddressLine<'a> {
    /// None if the server listens on its socket only.
    address: Option<&'a str>,
    socket: Option<String>,
    link: Option<&'a str>,
    data: String,
    demo: bool,
}

/// Addresses that a server listens on.
pub(super) struct BoundAddresses<'a> {
    pub(super) port: Option<SocketAddr>,
    pub(super) socket: Option<&'a Path>,
}

/// URL to open, without a path; none if there is only a Unix socket, which browsers cannot open.
pub(super) fn address(settings: &Settings, port: Option<SocketAddr>) -> Option<String> {
    let public = settings.given.public_urls.first().map(|url| url.trim_end_matches('/').to_owned());
    public.or_else(|| port.map(|at| local_url(settings, at)))
}

/// URL of the server on this machine.
fn local_url(settings: &Settings, mut at: SocketAddr) -> String {
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    if at.ip().is_unspecified() {
        at.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    format!("{scheme}://{at}")
}

/// Prints the server's addresses. Adds a pairing link on a terminal, and while no device is paired.
pub(super) fn print(
    settings: &Settings,
    auth: &Auth,
    bound: &BoundAddresses<'_>,
    warnings: &[String],
    json: bool,
    out: &mut Output,
) -> anyhow::Result<()> {
    let address = address(settings, bound.port);
    let wanted = address.is_some() && (auth.devices().is_empty() || io::stderr().is_terminal());
    let link = if wanted { Some(auth.link(&auth.pairing_code(owner())?)) } else { None };
    let data = settings.data.display();
    if json {
        let addresses = AddressLine {
            address: address.as_deref(),
            socket: bound.socket.map(|path| path.display().to_string()),
            link: link.as_deref(),
            data: data.to_string(),
            demo: settings.demo.is_some(),
        };
        out.json(&addresses)?;
        return Ok(out.flush()?);
    }
    let summary = summary(settings, bound, address.as_deref());
    if settings.given.log == LogForm::Json {
        // Standard error contains nothing but JSON then.
        tracing::info!(demo = settings.demo.is_some(), data = %data, "{summary}");
        for warning in warnings {
            tracing::warn!("{warning}");
        }
    } else {
        let what = match &settings.demo {
            None => format!("{BOLD}Tidings{PLAIN}"),
            Some(_) => {
                format!("{BOLD}Tidings DEMO{PLAIN}: a stand-in plays Claude Code, and no session is stored")
            }
        };
        let folder = match &settings.demo {
            Some(demo) if demo.folder == settings.data => "temporary data folder",
            _ => "data folder",
        };
        out.note(&format!("{what}\n{summary}, {folder} {data}"))?;
        for warning in warnings {
            out.note(&format!("{YELLOW}warning{PLAIN}: {warning}"))?;
        }
    }
    if let Some(link) = link {
        if settings.given.log == LogForm::Text {
            let is_configured = configured_data().is_ok_and(|data| data == settings.data);
            let pair =
                if is_configured { "tidings pair".to_owned() } else { format!("tidings pair --data {data}") };
            out.note(&format!("Open this link within one minute, on one device (for another: `{pair}`):"))?;
        }
        out.text(&format!("{link}\n"))?;
    }
    Ok(out.flush()?)
}

/// Describes where the server listens, and its public address.
fn summary(settings: &Settings, bound: &BoundAddresses<'_>, address: Option<&str>) -> String {
    let base = &settings.base_path;
    let at = match (bound.port, bound.socket) {
        (Some(at), _) if at.ip().is_unspecified() => {
            format!("all addresses of this machine, locally {}{base}", local_url(settings, at))
        }
        (Some(at), _) => format!("{}{base}", local_url(settings, at)),
        (None, Some(socket)) => format!("the socket {} only", socket.display()),
        (None, None) => "nothing".to_owned(),
    };
    match address.filter(|_| !settings.given.public_urls.is_empty()) {
        Some(address) => format!("Listening on {at}, public address {address}{base}"),
        None => format!("Listening on {at}"),
    }
}

/// Warnings about settings that are probably unintended, and about a Claude Code that starts no session.
pub(super) async fn warnings(settings: &Settings) -> Vec<String> {
    let mut all = Vec::new();
    if settings.given.insecure_listen {
        all.push(
            "traffic is not encrypted, since --insecure-listen was given: others on the network can read and change it"
                .to_owned(),
        );
    }
    if settings.demo.is_some() {
        return all;
    }
    match &settings.given.claude_path {
        Some(path) if !path.exists() => {
            all.push(format!("`{}` does not exist, so sessions cannot start", path.display()));
        }
        None if tidings::find::claude().is_err() => {
            all.push("Claude Code was not found, so sessions cannot start; see `tidings doctor`".to_owned());
        }
        _ => all.extend(start::too_old(settings).await),
    }
    for folder in settings.given.allow_folders.iter().filter(|folder| !folder.is_dir()) {
        all.push(format!("the folder `{}` does not exist, so no session can work there", folder.display()));
    }
    let kept = tidings_bridge::auth::environment(env::vars_os(), &settings.given.pass_env);
    for name in OFTEN_NEEDED {
        if env::var_os(name).is_some() && !kept.iter().any(|(kept, _)| kept == name) {
            all.push(format!(
                "{name} is set, but agents do not receive it; pass it on with --pass-env {name}"
            ));
        }
    }
    all
}

/// Device of the user who started the server, with every scope.
fn owner() -> NewDevice {
    let scopes = Scope::ALL.map(|scope| scope.as_str().to_owned());
    NewDevice { scopes: Some(scopes.to_vec()), ..NewDevice::default() }
}
