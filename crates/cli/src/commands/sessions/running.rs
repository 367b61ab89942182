//! Sessions of running agents.

use std::collections::HashSet;
use std::io::Read as _;
use std::path::Path;

use tidings_transcript::roots::Roots;

/// Returns the ids of sessions whose agent is running. Each agent keeps a file `<pid>.json` with its session.
/// A crashed agent leaves its file behind, so the process must exist too. Other files there may be secret and
/// are not read.
pub(crate) fn ids(roots: &Roots) -> HashSet<String> {
    let mut ids = HashSet::new();
    for root in roots.paths() {
        let Ok(entries) = std::fs::read_dir(root.join("sessions")) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            ids.extend(session_of(&path));
        }
    }
    ids
}

fn session_of(path: &Path) -> Option<String> {
    const BYTES_MAX: u64 = 64 << 10;
    let name = path.file_name()?.to_str()?;
    let pid: u32 = name.strip_suffix(".json")?.parse().ok()?;
    if !is_alive(pid) {
        return None;
    }
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(BYTES_MAX).read_to_string(&mut text).ok()?;
    let state: serde_json::Value = serde_json::from_str(&text).ok()?;
    state.get("sessionId")?.as_str().map(str::to_owned)
}

/// True if the process exists; false on systems without `/proc`.
fn is_alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}
