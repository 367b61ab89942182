//! The hooks as settings of one process, for `tidings claude`: nothing has to be installed.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::install::{data_argument, program};
use super::plugin::HookProgram;

/// Flag that tells the hooks of `tidings claude` from installed ones.
pub(super) const VIA: &str = "--via";

/// Variable with the process id of the host that holds the terminal, in sessions that have hooks of their
/// own.
pub(crate) const TERMINAL_HOST: &str = "TIDINGS_TERMINAL_HOST";

/// Variable with the time that the hooks wait for a reply of the server, for tests on busy machines.
const REPLY_MS: &str = "TIDINGS_HOOK_REPLY_MS";

/// The hooks as the value of `hooks` in settings.
pub(crate) fn hooks(data: Option<&PathBuf>) -> anyhow::Result<Map<String, Value>> {
    let program = HookProgram { program: program()?, data: data_argument(data)? };
    let mut settings: Value = serde_json::from_str(&program.hooks())?;
    let reply_ms = std::env::var(REPLY_MS).ok();
    let Value::Object(mut hooks) = settings["hooks"].take() else { return Ok(Map::new()) };
    for groups in hooks.values_mut() {
        for group in groups.as_array_mut().into_iter().flatten() {
            for hook in group["hooks"].as_array_mut().into_iter().flatten() {
                let Some(args) = hook["args"].as_array_mut() else { continue };
                args.extend([VIA, "settings"].map(Value::from));
                if let Some(reply_ms) = &reply_ms {
                    args.extend(["--reply-ms", reply_ms].map(Value::from));
                }
            }
        }
    }
    Ok(hooks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hook_is_marked() {
        let hooks = hooks(Some(&PathBuf::from("/srv/data"))).unwrap();
        assert!(hooks.contains_key("PermissionRequest"));
        for (event, groups) in hooks {
            let args = &groups[0]["hooks"][0]["args"];
            let expected = ["hook", "run", event.as_str(), "--data", "/srv/data", "--via", "settings"];
            assert_eq!(*args, Value::from(expected.to_vec()));
        }
    }
}
