//! Choice of the server that runs a new session.

use tidings_api::Code;
use tidings_fleet::{MemberKind, Name};
use tidings_sessions::Error;

use super::{Fleet, fleet_error};

/// The word for any server.
const ANY: &str = "*";

impl Fleet {
    /// The server for a new session: by name, by labels such as `gpu=yes,os=linux`, or `*` for any. Of
    /// several that fit, the one with the fewest agents.
    pub(crate) fn choose(&self, wanted: &str) -> Result<Name, Error> {
        if wanted != ANY && !wanted.contains('=') {
            return Name::new(wanted).map_err(fleet_error);
        }
        let labels: Vec<(&str, &str)> = wanted.split(',').filter_map(|label| label.split_once('=')).collect();
        let roster = self.roster();
        let nodes = roster.members().into_iter().filter(|member| member.kind == MemberKind::Node);
        let open = nodes.filter_map(|member| {
            let alive = roster.liveness(&member.node).filter(|alive| alive.is_reachable)?;
            let has = |(name, value): &(&str, &str)| {
                alive.beat.labels.get(*name).is_some_and(|found| found == value)
            };
            let fits = !alive.beat.draining && labels.iter().all(has);
            fits.then_some((alive.beat.running, member.node))
        });
        open.min().map(|(_, node)| node).ok_or_else(|| {
            let message = format!("No connected server of the fleet takes a new session with `{wanted}`");
            let hint = "`tidings fleet status` lists the servers with their labels";
            Error::new(Code::Unavailable, message, hint).retry_after_ms(2000)
        })
    }
}
