//! The model: which, how long, how hard, in which form.

use tidings_protocol::control::{EffortLevel, ThinkingDisplay};
use tidings_protocol::json::Json;

use super::{Options, Plan};
use crate::error::Error;
use crate::limits::SCHEMA_ARGUMENT_BYTES_MAX;

/// How much the model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinking {
    /// As much as it finds right.
    Adaptive,
    /// Up to this many tokens.
    Budget(u64),
    /// Not at all.
    Disabled,
}

#[derive(Debug, Clone, Default)]
pub(super) struct ModelOptions {
    model: Option<String>,
    fallback: Vec<String>,
    betas: Vec<String>,
    max_turns: Option<u32>,
    max_budget_usd: Option<f64>,
    task_budget: Option<u64>,
    thinking: Option<Thinking>,
    thinking_display: Option<ThinkingDisplay>,
    effort: Option<EffortLevel>,
    output_schema: Option<Json>,
}

impl Options {
    /// The model, by name or alias.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model.model = Some(model.into());
        self
    }

    /// A model to take when the first is overloaded. Several are tried in the order they are named.
    pub fn fallback_model(mut self, model: impl Into<String>) -> Self {
        self.model.fallback.push(model.into());
        self
    }

    /// A beta feature of the API.
    pub fn beta(mut self, beta: impl Into<String>) -> Self {
        self.model.betas.push(beta.into());
        self
    }

    /// How many rounds of model and tools a turn may have.
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.model.max_turns = Some(turns);
        self
    }

    /// What the session may cost.
    pub fn max_budget_usd(mut self, dollars: f64) -> Self {
        self.model.max_budget_usd = Some(dollars);
        self
    }

    /// How many tokens the model may plan with.
    pub fn task_budget(mut self, tokens: u64) -> Self {
        self.model.task_budget = Some(tokens);
        self
    }

    /// How much the model thinks.
    pub fn thinking(mut self, thinking: Thinking) -> Self {
        self.model.thinking = Some(thinking);
        self
    }

    /// How much of its thinking is shown.
    pub fn thinking_display(mut self, display: ThinkingDisplay) -> Self {
        self.model.thinking_display = Some(display);
        self
    }

    /// How hard the model tries.
    pub fn effort(mut self, effort: EffortLevel) -> Self {
        self.model.effort = Some(effort);
        self
    }

    /// The JSON Schema that the result must fit; the output is then in
    /// [`TurnEnd::structured_output`](crate::TurnEnd::structured_output).
    ///
    /// The schema is checked before the session starts, since the CLI ignores one that it does not understand. Schemas of
    /// later drafts than 7 are rewritten where they mean the same. A turn that ends without an output has failed, with
    /// [`Outcome::StructuredOutput`](crate::Outcome::StructuredOutput).
    pub fn output_schema(mut self, schema: impl Into<Json>) -> Self {
        self.model.output_schema = Some(schema.into());
        self
    }
}

#[cfg(feature = "schema")]
impl Options {
    /// Asks for a result of this type; [`TurnEnd::output`](crate::TurnEnd::output) reads it.
    pub fn output_type<T: schemars::JsonSchema>(self) -> Self {
        self.output_schema(schemars::schema_for!(T).to_value())
    }
}

impl ModelOptions {
    pub(super) fn wants_output(&self) -> bool {
        self.output_schema.is_some()
    }

    pub(super) fn add(&self, plan: &mut Plan) -> Result<(), Error> {
        if let Some(model) = &self.model {
            plan.value("model", model);
        }
        if let Some(same) = self.fallback.iter().find(|fallback| Some(*fallback) == self.model.as_ref()) {
            let message = format!("The fallback is the model itself: `{same}`");
            return Err(Error::invalid(message, "name another model to fall back to"));
        }
        if !self.fallback.is_empty() {
            plan.value("fallback-model", self.fallback.join(","));
        }
        if !self.betas.is_empty() {
            plan.value("betas", self.betas.join(","));
        }
        self.add_limits(plan)?;
        match self.thinking {
            Some(Thinking::Adaptive) => plan.value("thinking", "adaptive"),
            Some(Thinking::Disabled) => plan.value("thinking", "disabled"),
            Some(Thinking::Budget(0)) => {
                return Err(Error::invalid("Thinking has a budget of 0", "say `Thinking::Disabled`"));
            }
            Some(Thinking::Budget(tokens)) => plan.value("max-thinking-tokens", tokens),
            None => {}
        }
        if let Some(display) = &self.thinking_display {
            plan.value("thinking-display", display.as_str());
        }
        if let Some(effort) = &self.effort {
            plan.value("effort", effort.as_str());
        }
        if let Some(schema) = &self.output_schema {
            let schema = super::schema::normalise(schema)?;
            let text = schema.raw().as_str();
            if text.len() <= SCHEMA_ARGUMENT_BYTES_MAX {
                // The CLI checks the flag at the start and says what is wrong; what the handshake has, it does not check.
                plan.value("json-schema", text);
            } else {
                plan.initialize.json_schema = Some(schema);
            }
        }
        Ok(())
    }

    fn add_limits(&self, plan: &mut Plan) -> Result<(), Error> {
        match self.max_turns {
            Some(0) => {
                return Err(Error::invalid(
                    "A turn of 0 rounds does nothing",
                    "leave `max_turns` out for no limit",
                ));
            }
            Some(turns) => plan.value("max-turns", turns),
            None => {}
        }
        match self.max_budget_usd {
            Some(dollars) if !dollars.is_finite() || dollars <= 0.0 => {
                let message = format!("A budget must be more than nothing: `{dollars}`");
                return Err(Error::invalid(message, "leave `max_budget_usd` out for no limit"));
            }
            Some(dollars) => plan.value("max-budget-usd", dollars),
            None => {}
        }
        if let Some(tokens) = self.task_budget {
            plan.value("task-budget", tokens);
        }
        Ok(())
    }
}
