//! Models: listing, selection and thinking budget.

use crate::json::{object, open_string};

open_string! {
    /// Effort level of a model.
    pub struct EffortLevel {
        MEDIUM = "medium",
        LOW = "low",
        HIGH = "high",
        XHIGH = "xhigh",
        MAX = "max",
    }

    /// Display mode of the model's thinking.
    pub struct ThinkingDisplay {
        SUMMARIZED = "summarized",
        OMITTED = "omitted",
        HIGHLIGHTS = "highlights",
    }
}

object! {
    /// A selectable model.
    pub struct ModelInfo {
        /// Value that selects it.
        req value: String,
        /// Model that the value currently resolves to.
        opt resolved_model: String as "resolvedModel",
        def display_name: String as "displayName",
        def description: String,
        opt supports_effort: bool as "supportsEffort",
        opt supported_effort_levels: Vec<EffortLevel> as "supportedEffortLevels",
        opt supports_adaptive_thinking: bool as "supportsAdaptiveThinking",
        opt supports_fast_mode: bool as "supportsFastMode",
        opt supports_auto_mode: bool as "supportsAutoMode",
    }

    /// Request for the selectable models.
    pub struct ListModels {}

    /// The selectable models.
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
        /// Resolved name of the model. Not always present.
        opt model: String,
    }

    /// Changes the thinking budget of the model.
    pub struct SetMaxThinkingTokens {
        /// `Some(None)` restores the default, `None` leaves it unchanged.
        opt max_thinking_tokens: Option<u64>,
        /// `Some(None)` restores the default, `None` leaves it unchanged.
        opt thinking_display: Option<ThinkingDisplay>,
    }
}

impl ModelInfo {
    /// A model, in the form of the CLI, which writes empty texts too.
    pub fn new(
        value: impl Into<String>,
        display_name: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        let mut model = ModelInfo {
            value: value.into(),
            display_name: display_name.into(),
            description: description.into(),
            ..ModelInfo::default()
        };
        model.extra.keep("\"displayName\":\"\",\"description\":\"\"");
        model
    }
}

impl SetModel {
    /// Changes to this model, or to the default.
    pub fn new(model: Option<String>) -> Self {
        SetModel { model, ..SetModel::default() }
    }
}

impl SetMaxThinkingTokens {
    /// Sets the budget in tokens, or restores the default.
    pub fn new(max_thinking_tokens: Option<u64>) -> Self {
        SetMaxThinkingTokens {
            max_thinking_tokens: Some(max_thinking_tokens),
            ..SetMaxThinkingTokens::default()
        }
    }
}
