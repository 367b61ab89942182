//! Settings: their values and sources, and changes to them.

use super::models::EffortLevel;
use crate::json::{Json, object, open_string};

open_string! {
    /// Source of settings.
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
        /// Keys to set; `null` removes a key. Merged at the top level only.
        req settings: Json,
    }

    /// Changes a settings file.
    pub struct UpdateSettings {
        /// `localSettings` or `userSettings`.
        req source: SettingsSource,
        /// Keys to set. The CLI accepts few of them.
        req settings: Json,
    }

    /// Request for the settings and their sources.
    pub struct GetSettings {}

    /// The settings and their sources.
    pub struct SettingsReply {
        /// All sources merged.
        def effective: Json,
        def sources: Vec<SettingsLayer>,
        /// Effective values.
        opt applied: AppliedSettings,
        opt errors: Vec<SettingsError>,
        opt withheld: Json,
    }

    /// The settings of one source.
    pub struct SettingsLayer {
        req source: SettingsSource,
        def settings: Json,
    }

    /// Effective values of the settings.
    pub struct AppliedSettings {
        opt model: String,
        opt effort: EffortLevel,
        opt advisor: Json,
        opt ultracode: bool,
    }

    /// An error in a settings file.
    pub struct SettingsError {
        opt file: String,
        /// Path of the key, outermost first.
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
