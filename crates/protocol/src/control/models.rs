//! Models: which there are, which is used, how much it may think.

use crate::json::{object, open_string};

open_string! {
    /// How hard a model tries.
    pub struct EffortLevel {
        MEDIUM = "medium",
        LOW = "low",
        HIGH = "high",
        XHIGH = "xhigh",
        MAX = "max",
    }

    /// How much of its thinking is shown.
    pub struct ThinkingDisplay {
        SUMMARIZED = "summarized",
        OMITTED = "omitted",
        HIGHLIGHTS = "highlights",
    }
}

object! {
    /// A model that can be chosen.
    pub struct ModelInfo {
        /// What to choose it by.
        req value: String,
        /// The model that the value stands for now.
        opt resolved_model: String as "resolvedModel",
        def display_name: String as "displayName",
        def description: String,
        opt supports_effort: bool as "supportsEffort",
        opt supported_effort_levels: Vec<EffortLevel> as "supportedEffortLevels",
        opt supports_adaptive_thinking: bool as "supportsAdaptiveThinking",
        opt supports_fast_mode: bool as "supportsFastMode",
        opt supports_auto_mode: bool as "supportsAutoMode",
    }

    /// Which models can be chosen?
    pub struct ListModels {}

    /// The models that can be chosen.
    pub struct ListModelsReply {
        def models: Vec<ModelInfo>,
    }

    /// Changes the model.
    pub struct SetModel {
        /// A value of [`ModelInfo`] or a model's id; absent for the default.
        opt model: String,
    }

    /// The answer to a [`SetModel`].
    pub struct SetModelReply {
        /// The model as it is now called. Not always there.
        opt model: String,
    }

    /// Changes how much the model may think.
    pub struct SetMaxThinkingTokens {
        /// `Some(None)` sets it back to the default, `None` leaves it.
        opt max_thinking_tokens: Option<u64>,
        /// `Some(None)` sets it back to the default, `None` leaves it.
        opt thinking_display: Option<ThinkingDisplay>,
    }
}

impl SetModel {
    /// Changes to this model, or to the default.
    pub fn new(model: Option<String>) -> Self {
        SetModel { model, ..SetModel::default() }
    }
}

impl SetMaxThinkingTokens {
    /// Lets the model think that much, or as much as it does by default.
    pub fn new(max_thinking_tokens: Option<u64>) -> Self {
        SetMaxThinkingTokens {
            max_thinking_tokens: Some(max_thinking_tokens),
            ..SetMaxThinkingTokens::default()
        }
    }
}
