//! Events around a change of the model.

use crate::json::{object, open_string};

open_string! {
    /// Who changes the model.
    pub struct ModelSwitchSource {
        SDK = "sdk",
        COMMAND = "command",
        PICKER = "picker",
        AUTO = "auto",
        RESUME = "resume",
    }

    /// How long the prompt cache lives.
    pub struct CacheTtl {
        FIVE_MINUTES = "5m",
        ONE_HOUR = "1h",
    }

    /// Where the prices of an estimate come from.
    pub struct ModelSwitchPricing {
        DEFAULT = "default",
        CATALOG = "catalog",
        CONFIGURED = "configured",
    }
}

object! {
    /// The model is about to change.
    pub struct PreModelSwitch {
        opt from_model: String,
        opt to_model: String,
        /// What was asked for, before it was resolved.
        opt requested_model: String,
        opt source: ModelSwitchSource,
        opt context_tokens: u64,
        opt prompt_cache_warm: bool,
        opt cache_ttl: CacheTtl,
        opt estimated_cache_write_usd: f64,
        opt pricing: ModelSwitchPricing,
    }

    /// The model has changed.
    pub struct PostModelSwitch {
        opt from_model: String,
        opt to_model: String,
        /// What was asked for, before it was resolved.
        opt requested_model: String,
        opt source: ModelSwitchSource,
        opt context_tokens: u64,
        opt prompt_cache_warm: bool,
        opt cache_ttl: CacheTtl,
        opt estimated_cache_write_usd: f64,
        opt pricing: ModelSwitchPricing,
    }
}
