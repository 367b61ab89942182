//! Events around a change of the model.

use crate::json::{object, open_string};

open_string! {
    /// Origin of a change of the model.
    pub struct ModelSwitchSource {
        SDK = "sdk",
        COMMAND = "command",
        PICKER = "picker",
        AUTO = "auto",
        RESUME = "resume",
    }

    /// Lifetime of the prompt cache.
    pub struct CacheTtl {
        FIVE_MINUTES = "5m",
        ONE_HOUR = "1h",
    }

    /// Source of the prices of an estimate.
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
        /// Requested model, before it was resolved.
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
        /// Requested model, before it was resolved.
        opt requested_model: String,
        opt source: ModelSwitchSource,
        opt context_tokens: u64,
        opt prompt_cache_warm: bool,
        opt cache_ttl: CacheTtl,
        opt estimated_cache_write_usd: f64,
        opt pricing: ModelSwitchPricing,
    }
}
