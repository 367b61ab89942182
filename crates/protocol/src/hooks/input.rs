//! Input of hooks.

use super::table::{HookEvent, HookEventInput};
use crate::control::EffortLevel;
use crate::json::wire::{ObjectOut, WireObject};
use crate::json::{Cursor, Extra, Misfit, Reading, Wire, object};
use crate::permissions::PermissionMode;

/// Input of a hook: the fields common to all events, and those of the event.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct HookInput {
    /// Fields common to all events.
    pub base: HookBase,
    /// Fields of the event.
    pub event: HookEventInput,
}

object! {
    /// Fields common to all events.
    pub struct HookBase {
        opt session_id: String,
        opt transcript_path: String,
        opt cwd: String,
        /// Prompt that the event belongs to.
        opt prompt_id: String,
        opt permission_mode: PermissionMode,
        /// Sub-agent in which the event happened; absent in the main conversation.
        opt agent_id: String,
        opt agent_type: String,
        opt effort: HookEffort,
        opt hook_event_name: HookEvent,
    }

    /// Effort level of the model.
    pub struct HookEffort {
        opt level: EffortLevel,
    }
}

/// Keys of [`HookBase`]; all others belong to the event.
pub(super) const BASE_KEYS: &[&str] = &[
    "session_id",
    "transcript_path",
    "cwd",
    "prompt_id",
    "permission_mode",
    "agent_id",
    "agent_type",
    "effort",
    "hook_event_name",
];

impl HookInput {
    /// An event with its common fields, and with the name of the event set.
    pub fn new(base: HookBase, event: impl Into<HookEventInput>) -> Self {
        let event = event.into();
        let hook_event_name = event.name().or(base.hook_event_name);
        HookInput { base: HookBase { hook_event_name, ..base }, event }
    }
}

impl Default for HookEventInput {
    fn default() -> Self {
        HookEventInput::Unknown(Extra::default())
    }
}

impl Wire for HookInput {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        let mut base = HookBase::read(cursor, reading)?;
        // The base keeps the members that it has no field for; the event reads those, and each keeps its own
        // rest.
        let members = std::mem::take(&mut base.extra);
        let before = reading.refused.len();
        let event = base.hook_event_name.as_ref().map(HookEvent::as_str);
        let event = HookEventInput::read_members(event, &members, reading).unwrap_or_else(|misfit| {
            reading.refused.truncate(before);
            reading.refused.push(misfit);
            None
        });
        let (own, others) = split(&members);
        base.extra = own;
        Ok(HookInput { base, event: event.unwrap_or(HookEventInput::Unknown(others)) })
    }

    fn write(&self, out: &mut String) {
        let mut object = ObjectOut::open(out);
        self.base.write_members(&mut object);
        self.event.write_members(&mut object);
        object.close();
    }
}

object!(@through_wire HookInput);

/// Splits members into those with a key of the base, and the others.
fn split(members: &Extra) -> (Extra, Extra) {
    let (mut own, mut others) = (Extra::default(), Extra::default());
    let mut cursor = members.cursor();
    while let Some((key, member)) = cursor.next_member() {
        if BASE_KEYS.contains(&&*key.get()) {
            own.keep(member);
        } else {
            others.keep(member);
        }
    }
    (own, others)
}
