//! `get_hooks_listing`: the hooks that settings and plugins registered.

use crate::hooks::HookEvent;
use crate::json::{Json, object};

object! {
    /// Which hooks did settings and plugins register? Those of the host are not listed.
    pub struct GetHooksListing {}

    /// The hooks that settings and plugins registered.
    pub struct HooksListing {
        /// The events that have hooks.
        def events: Vec<HookEventInfo>,
        def hooks: Vec<ListedHook>,
        /// All events there are.
        def event_catalog: Vec<HookEventInfo> as "eventCatalog",
        opt policy: HookPolicy,
        opt safe_mode: RestrictedMode as "safeMode",
        opt bare_mode: RestrictedMode as "bareMode",
        opt errors: Json,
    }

    /// An event that hooks can be registered for.
    pub struct HookEventInfo {
        req name: HookEvent,
        def summary: String,
        opt supports_matcher: bool as "supportsMatcher",
        /// How many hooks it has; not in the catalogue.
        opt hook_count: u64 as "hookCount",
    }

    /// A hook as it is listed.
    pub struct ListedHook {
        req event: HookEvent,
        opt matcher: String,
        opt source: String,
        opt source_label: String as "sourceLabel",
        opt plugin_name: String as "pluginName",
        /// What kind of hook: a command, a prompt, …
        opt kind: String as "type",
        opt display_text: String as "displayText",
        opt command_text: String as "commandText",
        opt content_label: String as "contentLabel",
        opt condition: String,
        /// How long the CLI waits, in seconds.
        opt timeout: f64,
        opt status_message: String as "statusMessage",
        opt runs_once: bool as "runsOnce",
        opt runs_in_background: bool as "runsInBackground",
        opt disabled: bool,
        opt editable: EditableHook,
    }

    /// A hook as its settings file has it.
    pub struct EditableHook {
        opt matcher: String,
        def config: Json,
        opt headers_redacted: bool as "headersRedacted",
    }

    /// What the organisation says about hooks.
    pub struct HookPolicy {
        opt disabled_by_policy: bool as "disabledByPolicy",
        opt managed_only: bool as "managedOnly",
        opt plugin_only: bool as "pluginOnly",
        opt all_disabled: bool as "allDisabled",
        opt policy_hook_count: u64 as "policyHookCount",
        opt policy_unreadable: bool as "policyUnreadable",
    }

    /// A mode in which hooks do not run, and how to leave it.
    pub struct RestrictedMode {
        /// In safe mode only.
        opt managed_hooks_still_apply: bool as "managedHooksStillApply",
        opt exit_hint: String as "exitHint",
    }
}
