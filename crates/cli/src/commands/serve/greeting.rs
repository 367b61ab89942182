//! What is said when the server is there.

use std::env;
use std::io::{self, IsTerminal as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use serde::Serialize;
use tidings_bridge::{Guard, Scope};
use tidings_protocol::api::NewDevice;

use super::settings::Settings;
use crate::commands::sessions::Place;
use crate::output::{BOLD, Output, PLAIN, YELLOW};

/// Variables that agents are often meant to have, and do not get unless they are named.
const OFTEN_MEANT: &[&str] =
    &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "HTTPS_PROXY"];

/// Where the server is, for scripts.
#[derive(Serialize)]
struct Line<'a> {
    address: &'a str,
    link: Option<&'a str>,
    data: String,
    demo: bool,
}

/// The address to open, without a path.
pub(super) fn address(settings: &Settings, listens: Option<SocketAddr>) -> String {
    let public = settings.public_urls.first().map(|url| url.trim_end_matches('/').to_owned());
    public.or_else(|| listens.map(|at| here(settings, at))).unwrap_or_else(|| "http://localhost".to_owned())
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
    guard: &Guard,
    listens: Option<SocketAddr>,
    json: bool,
    out: &mut Output,
) -> anyhow::Result<()> {
    let address = &address(settings, listens);
    // A browser cannot open a socket of the file system.
    let can_open = listens.is_some() || !settings.public_urls.is_empty();
    let wanted = can_open && (guard.devices().is_empty() || io::stderr().is_terminal());
    let link = if wanted { Some(guard.link(&guard.pairing_code(owner())?)) } else { None };
    if json {
        let data = settings.data.display().to_string();
        let said = Line { address, link: link.as_deref(), data, demo: settings.demo.is_some() };
        out.text(&format!("{}\n", serde_json::to_string(&said)?))?;
        return Ok(out.flush()?);
    }
    let what = if settings.demo.is_some() {
        format!("{BOLD}Tidings DEMO{PLAIN}: a stand-in plays Claude Code, and nothing is kept")
    } else {
        format!("{BOLD}Tidings{PLAIN}")
    };
    let base = &settings.base_path;
    let place = match (listens, settings.public_urls.first()) {
        (Some(at), None) => format!("Listens on {}{base}", here(settings, at)),
        (Some(at), Some(_)) => format!("Listens on {}, is reached at {address}{base}", here(settings, at)),
        (None, Some(_)) => format!("Listens on a socket alone, is reached at {address}{base}"),
        (None, None) => "Listens on a socket alone".to_owned(),
    };
    let data = settings.data.display();
    out.note(&format!("{what}\n{place}, keeps its data in {data}"))?;
    warnings(settings, out)?;
    if let Some(link) = link {
        let is_usual = Place::data_folder().is_some_and(|usual| usual == settings.data);
        let pair = if is_usual { "tidings pair".to_owned() } else { format!("tidings pair --data {data}") };
        out.note(&format!("Open this within a minute, on one device (another: `{pair}`):"))?;
        out.text(&format!("{link}\n"))?;
    }
    Ok(out.flush()?)
}

fn warnings(settings: &Settings, out: &Output) -> anyhow::Result<()> {
    let warn = |text: &str| out.note(&format!("{YELLOW}warning{PLAIN}: {text}"));
    if settings.insecure_listen {
        warn("everybody on the way can read and change what is said, since --insecure-listen was given")?;
    }
    if settings.demo.is_some() {
        return Ok(());
    }
    match &settings.claude_path {
        Some(path) if !path.exists() => {
            warn(&format!("there is no `{}`, so sessions cannot start", path.display()))?;
        }
        None if tidings::find::claude().is_err() => {
            warn("Claude Code was not found, so sessions cannot start; see `tidings doctor`")?;
        }
        _ => {}
    }
    for folder in settings.allow_folders.iter().filter(|folder| !folder.is_dir()) {
        warn(&format!("there is no folder `{}`, so no session can work there", folder.display()))?;
    }
    let kept = tidings_bridge::guard::environment(env::vars_os(), &settings.pass_env);
    for name in OFTEN_MEANT {
        if env::var_os(name).is_some() && !kept.iter().any(|(kept, _)| kept == name) {
            warn(&format!("{name} is set, and agents do not get it; --pass-env {name} passes it on"))?;
        }
    }
    Ok(())
}

/// Whoever starts a server may do everything with it.
fn owner() -> NewDevice {
    let scopes = Scope::ALL.map(|scope| scope.as_str().to_owned());
    NewDevice { scopes: Some(scopes.to_vec()), ..NewDevice::default() }
}
