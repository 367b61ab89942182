//! Options of the model: name, limits, thinking, effort and output schema.

use tidings_protocol::control::{EffortLevel, ThinkingDisplay};
use tidings_protocol::json::Json;

use super::{Options, Plan};
use crate::error::Error;
use crate::limits::SCHEMA_ARGUMENT_BYTES_MAX;

/// The extent of the model's thinking before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinking {
    /// As much as the model decides.
    Adaptive,
    /// Up to this many tokens.
    Budget(u64),
    /// No thinking.
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
    /// Sets the model, by name or alias.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model.model = Some(model.into());
        self
    }

    /// Adds a model to use when the first is overloaded. Several are tried in order.
    pub fn fallback_model(mut self, model: impl Into<String>) -> Self {
        self.model.fallback.push(model.into());
        self
    }

    /// Enables a beta feature of the API.
    pub fn beta(mut self, beta: impl Into<String>) -> Self {
        self.model.betas.push(beta.into());
        self
    }

    /// Limits the rounds of model and tool calls per turn.
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.model.max_turns = Some(turns);
        self
    }

    /// Limits the cost of the session, in US dollars.
    pub fn max_budget_usd(mut self, dollars: f64) -> Self {
        self.model.max_budget_usd = Some(dollars);
        self
    }

    /// Sets the token budget that the model plans with.
    pub fn task_budget(mut self, tokens: u64) -> Self {
        self.model.task_budget = Some(tokens);
        self
    }

    /// Sets the extent of the model's thinking.
    pub fn thinking(mut self, thinking: Thinking) -> Self {
        self.model.thinking = Some(thinking);
        self
    }

    /// Sets how much of the thinking is shown.
    pub fn thinking_display(mut self, display: ThinkingDisplay) -> Self {
        self.model.thinking_display = Some(display);
        self
    }

    /// Sets the effort of the model.
    pub fn effort(mut self, effort: EffortLevel) -> Self {
        self.model.effort = Some(effort);
        self
    }

    /// Sets the JSON Schema that the result must match; the output is then in
    /// [`TurnEnd::structured_output`](crate::TurnEnd::structured_output).
    ///
    /// The schema is checked before the session starts, since the CLI ignores a schema that it does not
    /// understand, and the API refuses one that does not describe an object: a list, or a choice of
    /// alternatives, has to be a field of one. Keywords of drafts later than 7 are rewritten where draft 7
    /// has an equivalent. A turn that ends without an output fails with
    /// [`Outcome::StructuredOutput`](crate::Outcome::StructuredOutput).
    pub fn output_schema(mut self, schema: impl Into<Json>) -> Self {
        self.model.output_schema = Some(schema.into());
        self
    }
}

#[cfg(feature = "schema")]
impl Options {
    /// Requires a result of this type; [`TurnEnd::output`](crate::TurnEnd::output) reads it.
    ///
    /// It needs the feature `schema`. The type must be a struct or a map. A list or an enum is refused by
    /// [`Options::plan`], since the API does not take it; make it a field of a struct.
    pub fn output_type<T: schemars::JsonSchema>(self) -> Self {
        self.output_schema(schemars::schema_for!(T).to_value())
    }
}

impl ModelOptions {
    pub(super) fn wants_output(&self) -> bool {
        self.output_schema.is_some()
    }

    pub(super) fn add(&self, plan: &mut Plan) -> Result<(), Error> {
        if self.model.iter().chain(&self.fallback).any(|model| model.trim().is_empty()) {
            return Err(Error::invalid("The name of the model is empty", "remove it for the default model"));
        }
        if let Some(model) = &self.model {
            plan.value("model", model);
        }
        if let Some(same) = self.fallback.iter().find(|fallback| Some(*fallback) == self.model.as_ref()) {
            let message = format!("The fallback model is the same as the model: `{same}`");
            return Err(Error::invalid(message, "choose another fallback model"));
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
                return Err(Error::invalid("The thinking budget is 0", "use `Thinking::Disabled`"));
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
            let schema = super::schema::of_output(schema)?;
            let text = schema.raw().as_str();
            if text.len() <= SCHEMA_ARGUMENT_BYTES_MAX {
                // The CLI validates the flag at the start and reports errors; it does not validate the
                // schema of the handshake.
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
                return Err(Error::invalid("`max_turns` is 0", "remove `max_turns` for no limit"));
            }
            Some(turns) => plan.value("max-turns", turns),
            None => {}
        }
        match self.max_budget_usd {
            Some(dollars) if !dollars.is_finite() || dollars <= 0.0 => {
                let message = format!("The budget must be greater than 0: `{dollars}`");
                return Err(Error::invalid(message, "remove `max_budget_usd` for no limit"));
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
