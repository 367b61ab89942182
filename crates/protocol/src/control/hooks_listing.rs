//! `get_hooks_listing`: hooks registered by settings and plugins.

use crate::hooks::HookEvent;
use crate::json::{Json, object};

object! {
    /// Request for the hooks registered by settings and plugins. Hooks of the host are not listed.
    pub struct GetHooksListing {}

    /// Hooks registered by settings and plugins.
    pub struct HooksListing {
        /// Events that have hooks.
        def events: Vec<HookEventInfo>,
        def hooks: Vec<ListedHook>,
        /// All existing events.
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
        /// Number of its hooks; absent in the catalogue.
        opt hook_count: u64 as "hookCount",
    }

    /// A listed hook.
    pub struct ListedHook {
        req event: HookEvent,
        opt matcher: String,
        opt source: String,
        opt source_label: String as "sourceLabel",
        opt plugin_name: String as "pluginName",
        /// Type of hook: a command, a prompt, …
        opt kind: String as "type",
        opt display_text: String as "displayText",
        opt command_text: String as "commandText",
        opt content_label: String as "contentLabel",
        opt condition: String,
        /// Timeout in seconds.
        opt timeout: f64,
        opt status_message: String as "statusMessage",
        opt runs_once: bool as "runsOnce",
        opt runs_in_background: bool as "runsInBackground",
        opt disabled: bool,
        opt editable: EditableHook,
    }

    /// A hook in its settings file.
    pub struct EditableHook {
        opt matcher: String,
        def config: Json,
        opt headers_redacted: bool as "headersRedacted",
    }

    /// Policy of the organisation for hooks.
    pub struct HookPolicy {
        opt disabled_by_policy: bool as "disabledByPolicy",
        opt managed_only: bool as "managedOnly",
        opt plugin_only: bool as "pluginOnly",
        opt all_disabled: bool as "allDisabled",
        opt policy_hook_count: u64 as "policyHookCount",
        opt policy_unreadable: bool as "policyUnreadable",
    }

    /// A mode without hooks, and how to leave it.
    pub struct RestrictedMode {
        /// Present in safe mode only.
        opt managed_hooks_still_apply: bool as "managedHooksStillApply",
        opt exit_hint: String as "exitHint",
    }
}
