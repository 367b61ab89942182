//! What is said when the server is there.

use std::env;
use std::io::{self, IsTerminal as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use serde::Serialize;
use tidings_bridge::{Auth, Scope};
use tidings_protocol::api::NewDevice;

use super::settings::{LogForm, Settings};
use super::usual_data;
use crate::output::{BOLD, Output, PLAIN, YELLOW};

/// Variables that agents are often meant to have, and do not get unless they are named.
const OFTEN_MEANT: &[&str] =
    &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "HTTPS_PROXY"];

/// Where the server is, for scripts.
#[derive(Serialize)]
struct Line<'a> {
    /// None if only programs of this machine come in, through the socket.
    address: Option<&'a str>,
    socket: Option<String>,
    link: Option<&'a str>,
    data: String,
    demo: bool,
}

/// Where a server listens.
pub(super) struct Place<'a> {
    pub(super) port: Option<SocketAddr>,
    pub(super) socket: Option<&'a Path>,
}

/// The address to open, without a path. A browser cannot open a socket of the file system.
pub(super) fn address(settings: &Settings, port: Option<SocketAddr>) -> Option<String> {
    let public = settings.public_urls.first().map(|url| url.trim_end_matches('/').to_owned());
    public.or_else(|| port.map(|at| here(settings, at)))
}

/// The address on this machine.
fn here(settings: &Settings, mut at: SocketAddr) -> String {
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    if at.ip().is_unspecified() {
        at.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    format!("{scheme}://{at}")
}

/// Says where the server is. Somebody who sits there, and whoever starts it first, also gets a link to come in by.
pub(super) fn print(
    settings: &Settings,
    auth: &Auth,
    place: &Place<'_>,
    json: bool,
    out: &mut Output,
) -> anyhow::Result<()> {
    let address = address(settings, place.port);
    let wanted = address.is_some() && (auth.devices().is_empty() || io::stderr().is_terminal());
    let link = if wanted { Some(auth.link(&auth.pairing_code(owner())?)) } else { None };
    let data = settings.data.display();
    if json {
        let said = Line {
            address: address.as_deref(),
            socket: place.socket.map(|path| path.display().to_string()),
            link: link.as_deref(),
            data: data.to_string(),
            demo: settings.demo.is_some(),
        };
        out.text(&format!("{}\n", serde_json::to_string(&said)?))?;
        return Ok(out.flush()?);
    }
    let words = words(settings, place, address.as_deref());
    if settings.log == LogForm::Json {
        // Whoever reads the log as JSON cannot read anything else there.
        tracing::info!(demo = settings.demo.is_some(), data = %data, "{words}");
        for warning in warnings(settings) {
            tracing::warn!("{warning}");
        }
    } else {
        let what = match &settings.demo {
            None => format!("{BOLD}Tidings{PLAIN}"),
            Some(_) => {
                format!("{BOLD}Tidings DEMO{PLAIN}: a stand-in plays Claude Code, and no session is kept")
            }
        };
        let keeps = match &settings.demo {
            None => "keeps its data in",
            Some(demo) if demo.folder == settings.data => "and its other data until it ends in",
            Some(_) => "and keeps its other data in",
        };
        out.note(&format!("{what}\n{words}, {keeps} {data}"))?;
        for warning in warnings(settings) {
            out.note(&format!("{YELLOW}warning{PLAIN}: {warning}"))?;
        }
    }
    if let Some(link) = link {
        if settings.log == LogForm::Text {
            let is_usual = usual_data().is_ok_and(|usual| usual == settings.data);
            let pair =
                if is_usual { "tidings pair".to_owned() } else { format!("tidings pair --data {data}") };
            out.note(&format!("Open this within a minute, on one device (another: `{pair}`):"))?;
        }
        out.text(&format!("{link}\n"))?;
    }
    Ok(out.flush()?)
}

/// Where it listens and is reached.
fn words(settings: &Settings, place: &Place<'_>, address: Option<&str>) -> String {
    let base = &settings.base_path;
    let at = match (place.port, place.socket) {
        (Some(at), _) if at.ip().is_unspecified() => {
            format!("every address of this machine, here {}{base}", here(settings, at))
        }
        (Some(at), _) => format!("{}{base}", here(settings, at)),
        (None, Some(socket)) => format!("the socket {} alone", socket.display()),
        (None, None) => "nothing".to_owned(),
    };
    match address.filter(|_| !settings.public_urls.is_empty()) {
        Some(address) => format!("Listens on {at}, is reached at {address}{base}"),
        None => format!("Listens on {at}"),
    }
}

/// What may not be as it was meant.
fn warnings(settings: &Settings) -> Vec<String> {
    let mut all = Vec::new();
    if settings.insecure_listen {
        all.push(
            "everybody on the way can read and change what is said, since --insecure-listen was given"
                .to_owned(),
        );
    }
    if settings.demo.is_some() {
        return all;
    }
    match &settings.claude_path {
        Some(path) if !path.exists() => {
            all.push(format!("there is no `{}`, so sessions cannot start", path.display()));
        }
        None if tidings::find::claude().is_err() => {
            all.push("Claude Code was not found, so sessions cannot start; see `tidings doctor`".to_owned());
        }
        _ => {}
    }
    for folder in settings.allow_folders.iter().filter(|folder| !folder.is_dir()) {
        all.push(format!("there is no folder `{}`, so no session can work there", folder.display()));
    }
    let kept = tidings_bridge::auth::environment(env::vars_os(), &settings.pass_env);
    for name in OFTEN_MEANT {
        if env::var_os(name).is_some() && !kept.iter().any(|(kept, _)| kept == name) {
            all.push(format!("{name} is set, and agents do not get it; --pass-env {name} passes it on"));
        }
    }
    all
}

/// Whoever starts a server may do everything with it.
fn owner() -> NewDevice {
    let scopes = Scope::ALL.map(|scope| scope.as_str().to_owned());
    NewDevice { scopes: Some(scopes.to_vec()), ..NewDevice::default() }
}
