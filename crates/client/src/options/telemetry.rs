//! Options of tracing: one trace across this program and the CLI.

use super::{Options, Plan};
use crate::error::Error;

#[derive(Debug, Clone, Default)]
pub(super) struct TelemetryOptions {
    traceparent: Option<String>,
    tracestate: Option<String>,
}

impl Options {
    /// Sets the parent span of the session, as a W3C `traceparent`: the CLI's own spans become its children.
    ///
    /// It is passed to the CLI as the variable `TRACEPARENT`, as by the official SDKs, and so applies to the
    /// whole process. The [guide](crate::guide::telemetry) shows where to get it from.
    pub fn traceparent(mut self, traceparent: impl Into<String>) -> Self {
        self.telemetry.traceparent = Some(traceparent.into());
        self
    }

    /// Sets the vendor-specific part of a [`traceparent`](Options::traceparent), as a W3C `tracestate`.
    pub fn tracestate(mut self, tracestate: impl Into<String>) -> Self {
        self.telemetry.tracestate = Some(tracestate.into());
        self
    }
}

impl TelemetryOptions {
    pub(super) fn add(&self, plan: &mut Plan) -> Result<(), Error> {
        if let Some(parent) = &self.traceparent {
            if !is_traceparent(parent) {
                let message = format!("Not a valid traceparent: `{}`", parent.escape_debug());
                let hint =
                    "it looks like 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01, in lower case";
                return Err(Error::invalid(message, hint));
            }
            plan.env("TRACEPARENT", parent);
        } else if self.tracestate.is_some() {
            return Err(Error::invalid("A tracestate needs a traceparent", "add `Options::traceparent`"));
        }
        if let Some(state) = &self.tracestate {
            if !state.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
                let message = format!("Not a valid tracestate: `{}`", state.escape_debug());
                return Err(Error::invalid(message, "use visible ASCII characters only"));
            }
            plan.env("TRACESTATE", state);
        }
        Ok(())
    }
}

/// True if the text is a W3C traceparent. Later versions may add parts; no id may be all zeros.
fn is_traceparent(text: &str) -> bool {
    let mut parts = text.split('-');
    let hex = |part: Option<&str>, len: usize| {
        part.filter(|part| part.len() == len)
            .filter(|part| part.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)))
            .map(str::to_owned)
    };
    let is_zero = |part: &str| part.bytes().all(|byte| byte == b'0');
    let version = hex(parts.next(), 2).filter(|version| version != "ff");
    let trace = hex(parts.next(), 32).filter(|id| !is_zero(id));
    let span = hex(parts.next(), 16).filter(|id| !is_zero(id));
    let flags = hex(parts.next(), 2);
    let whole = version.as_deref() != Some("00") || parts.next().is_none();
    let printable = text.bytes().all(|byte| byte.is_ascii_graphic());
    version.is_some() && trace.is_some() && span.is_some() && flags.is_some() && whole && printable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_w3c_calls_a_traceparent_is_one() {
        for (text, fits) in [
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", true),
            ("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", true),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", false),
            ("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false),
            ("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", false),
            ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", false),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", false),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7", false),
            ("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-\n", false),
            ("", false),
        ] {
            assert_eq!(is_traceparent(text), fits, "{text:?}");
        }
    }

    #[test]
    fn the_trace_goes_by_the_environment() {
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let plan = Options::new().traceparent(parent).tracestate("vendor=1").plan().unwrap();
        let set = plan.launch.environment.set;
        assert_eq!((set["TRACEPARENT"].as_str(), set["TRACESTATE"].as_str()), (parent, "vendor=1"));
        for wrong in [
            Options::new().traceparent("mine"),
            Options::new().tracestate("vendor=1"),
            Options::new().traceparent(parent).tracestate("a\nb"),
        ] {
            assert!(wrong.plan().is_err());
        }
    }
}
