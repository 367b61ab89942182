//! What is said when the server is there.

use std::env;
use std::io::{self, IsTerminal as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use serde::Serialize;
use tidings_bridge::{Guard, Scope};
use tidings_protocol::api::NewDevice;

use super::settings::Settings;
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
pub(super) fn address(settings: &Settings, bound: Option<SocketAddr>) -> String {
    if let Some(url) = settings.public_urls.first() {
        return url.trim_end_matches('/').to_owned();
    }
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    let Some(mut bound) = bound else { return "http://localhost".to_owned() };
    if bound.ip().is_unspecified() {
        bound.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    format!("{scheme}://{bound}")
}

/// Says where the server is. Somebody who sits there, and whoever starts it first, also gets a link to come in by.
pub(super) fn print(
    settings: &Settings,
    guard: &Guard,
    address: &str,
    json: bool,
    out: &mut Output,
) -> anyhow::Result<()> {
    let wanted = guard.devices().is_empty() || io::stderr().is_terminal();
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
    out.note(&format!(
        "{what}\nListens on {address}{}, keeps its data in {}",
        settings.base_path,
        settings.data.display()
    ))?;
    warnings(settings, out)?;
    if let Some(link) = link {
        out.note("Open this within a minute, on one device (another: `tidings pair`):")?;
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
    if settings.claude_path.is_none() && tidings::find::claude().is_err() {
        warn("Claude Code was not found, so sessions cannot start; see `tidings doctor`")?;
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
