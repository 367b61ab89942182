//! Rules of the CLI for "always".

use tidings_protocol::permissions::{
    PermissionBehavior, PermissionDestination, PermissionRule, PermissionUpdate, RulesUpdate,
};
use tidings_protocol::ui::{PermissionLevel, TargetType};

use super::{Ask, offer};

/// The rules that make the request unnecessary next time: those that the CLI suggests, else one that covers
/// exactly this call. It is empty if one of the rules may not be offered, because the others would cover only
/// a part of the request.
///
/// The CLI also suggests other modes and additional folders. They allow far more than the call, so the user
/// must choose them explicitly.
pub(super) fn always(ask: &Ask) -> Vec<PermissionUpdate> {
    if !ask.can_be_always || ask.needs_person {
        return Vec::new();
    }
    let mut updates: Vec<PermissionUpdate> =
        ask.suggestions.iter().filter(|update| allows(update).is_some()).cloned().collect();
    if updates.is_empty() {
        let own = own_rule(ask).map(|rule| {
            PermissionUpdate::add_rules(
                vec![rule],
                PermissionBehavior::ALLOW,
                PermissionDestination::LOCAL_SETTINGS,
            )
        });
        updates.extend(own);
    }
    let allowed: Vec<&RulesUpdate> = updates.iter().filter_map(allows).collect();
    if offer::is_offerable(ask, &allowed) { updates } else { Vec::new() }
}

/// The rules of an update that adds permissions.
fn allows(update: &PermissionUpdate) -> Option<&RulesUpdate> {
    match update {
        PermissionUpdate::AddRules(added) => {
            let is_allowing = added.behavior.as_ref() == Some(&PermissionBehavior::ALLOW);
            (is_allowing && !added.rules.is_empty()).then_some(added)
        }
        _ => None,
    }
}

fn own_rule(ask: &Ask) -> Option<PermissionRule> {
    let target = ask.request.target.as_str();
    match ask.request.target_type {
        // The CLI has one kind of rule for all reads and one for all writes. An absolute path begins with two
        // slashes there.
        TargetType::Path if target.starts_with('/') && !target.contains(['*', '?', '[']) => {
            let tool = if ask.request.level == PermissionLevel::Read { "Read" } else { "Edit" };
            let below = if ask.request.recursive { "/**" } else { "" };
            Some(PermissionRule::matching(tool, format!("/{target}{below}")))
        }
        // A star in a rule matches anything, and so does a colon before it.
        TargetType::Command if ask.suggested_grant().is_some() && !target.contains(['*', '\n']) => {
            Some(PermissionRule::matching(ask.tool_name.as_str(), target))
        }
        TargetType::Domain if ask.suggested_grant().is_some() => {
            Some(PermissionRule::matching(ask.tool_name.as_str(), format!("domain:{target}")))
        }
        TargetType::Tool => Some(PermissionRule::tool(ask.tool_name.as_str())),
        _ => None,
    }
}
