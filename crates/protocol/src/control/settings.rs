//! Settings: what is set, where, and how to change it.

use super::models::EffortLevel;
use crate::json::{Json, object, open_string};

open_string! {
    /// Where settings come from.
    pub struct SettingsSource {
        LOCAL_SETTINGS = "localSettings",
        USER_SETTINGS = "userSettings",
        PROJECT_SETTINGS = "projectSettings",
        FLAG_SETTINGS = "flagSettings",
        POLICY_SETTINGS = "policySettings",
    }
}

object! {
    /// Changes settings of this process.
    pub struct ApplyFlagSettings {
        /// Keys to set; `null` takes a key away. Merged at the top level only.
        req settings: Json,
    }

    /// Changes a settings file.
    pub struct UpdateSettings {
        /// `localSettings` or `userSettings`.
        req source: SettingsSource,
        /// The keys to set. The CLI lets few through.
        req settings: Json,
    }

    /// What is set, and where?
    pub struct GetSettings {}

    /// What is set, and where.
    pub struct SettingsReply {
        /// All sources put together.
        def effective: Json,
        def sources: Vec<SettingsLayer>,
        /// What the settings came to.
        opt applied: AppliedSettings,
        opt errors: Vec<SettingsError>,
        opt withheld: Json,
    }

    /// The settings of one source.
    pub struct SettingsLayer {
        req source: SettingsSource,
        def settings: Json,
    }

    /// What the settings came to.
    pub struct AppliedSettings {
        opt model: String,
        opt effort: EffortLevel,
        opt advisor: Json,
        opt ultracode: bool,
    }

    /// A mistake in a settings file.
    pub struct SettingsError {
        opt file: String,
        /// The key, from the outside in.
        opt path: String,
        def message: String,
    }
}

impl ApplyFlagSettings {
    /// Sets the keys of an object.
    pub fn new(settings: Json) -> Self {
        ApplyFlagSettings { settings, ..ApplyFlagSettings::default() }
    }
}

impl UpdateSettings {
    /// Sets the keys of an object in the file of `source`.
    pub fn new(source: SettingsSource, settings: Json) -> Self {
        UpdateSettings { source, settings, ..UpdateSettings::default() }
    }
}
