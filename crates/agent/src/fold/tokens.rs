//! Token counts of a turn: the prompt of the last response, and all generated tokens. Each response is
//! counted once.

use serde::{Deserialize, Serialize};
use tidings_protocol::json::Raw;
use tidings_protocol::ui::{TokenUsage, UiMessage};
use tidings_transcript::cost::{Money, Prices};

use super::out::Out;
use super::read::Members;

/// The token counts of one lane.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Tokens {
    message_id: Option<String>,
    /// Counts of the response in progress.
    input: u64,
    output: u64,
    /// Generated tokens of the earlier responses in this turn.
    output_before: u64,
    /// The counts that were reported last.
    #[serde(rename = "told")]
    reported: (u64, u64),
    /// List price of the last response that an interrupt cut off, in US dollars.
    #[serde(default)]
    cut_off_usd: Option<f64>,
    /// Model of the response in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// List price of the response in progress, in US dollars.
    #[serde(default)]
    response_usd: f64,
    /// List price of the responses before it that the agent has not reported yet.
    #[serde(default)]
    unreported_usd: f64,
}

impl Tokens {
    /// Resets the counts at the start of a turn.
    pub(super) fn clear(&mut self) {
        let unreported_usd = self.take_unreported_usd();
        *self = Tokens { reported: self.reported, unreported_usd, ..Tokens::default() };
    }

    /// Records the usage of a response so far. Every frame of the response repeats it.
    pub(super) fn response(
        &mut self,
        message_id: Option<&str>,
        model: Option<&str>,
        usage: Raw<'_>,
        out: &mut Out<'_>,
    ) {
        let read = read(usage);
        if message_id.is_none() || message_id != self.message_id.as_deref() {
            self.next(message_id);
            self.output = 0;
        }
        self.input = self.input.max(prompt(&read));
        // A frame repeats the count from the start of its response, even if a higher one was reported
        // already.
        self.output = self.output.max(read.output_tokens);
        self.model = model.map(str::to_owned).or_else(|| self.model.take());
        self.price(usage);
        self.report(self.output_before + self.output, out);
    }

    /// Updates the price of the response in progress. Its counts only grow.
    fn price(&mut self, usage: Raw<'_>) {
        let Some(model) = &self.model else { return };
        let cost = Prices::built_in().cost_of_usage(model, usage).map_or(0.0, Money::dollars);
        self.response_usd = self.response_usd.max(cost);
    }

    /// Forgets the price of all responses so far: the agent has reported it.
    fn forget_cost(&mut self) {
        (self.response_usd, self.unreported_usd) = (0.0, 0.0);
    }

    /// Takes the price of all responses that the agent has not reported.
    pub(super) fn take_unreported_usd(&mut self) -> f64 {
        let cost = self.unreported_usd + self.response_usd;
        self.forget_cost();
        cost
    }

    /// Records the cost of a response that an interrupt cut off. The agent's own count may omit it, but it is
    /// charged.
    pub(super) fn cut_off(&mut self, model: &str, usage: Raw<'_>) {
        let cost = Prices::built_in().cost_of_usage(model, usage);
        self.cut_off_usd = cost.map(Money::dollars).filter(|cost| *cost > 0.0);
    }

    /// Takes the price of the response that an interrupt cut off.
    pub(super) fn take_cut_off_usd(&mut self) -> Option<f64> {
        self.cut_off_usd.take()
    }

    /// Records more usage of the response in progress.
    pub(super) fn more(&mut self, usage: Raw<'_>, out: &mut Out<'_>) {
        let read = read(usage);
        self.input = self.input.max(prompt(&read));
        self.output = self.output.max(read.output_tokens);
        self.price(usage);
        self.report(self.output_before + self.output, out);
    }

    /// Reports the agent's estimate of thinking tokens.
    pub(super) fn estimate(&mut self, tokens: u64, out: &mut Out<'_>) {
        self.report(self.output_before + self.output.max(tokens), out);
    }

    /// Reports the total of a finished turn.
    pub(super) fn total(&mut self, usage: &TokenUsage, out: &mut Out<'_>) {
        if self.input == 0 && self.output == 0 {
            self.input = prompt(usage);
        }
        if usage.output_tokens > 0 {
            self.report(usage.output_tokens, out);
        }
    }

    fn next(&mut self, message_id: Option<&str>) {
        self.output_before += self.output;
        self.unreported_usd += std::mem::take(&mut self.response_usd);
        self.model = None;
        self.input = 0;
        self.message_id = message_id.map(str::to_owned);
    }

    fn report(&mut self, output: u64, out: &mut Out<'_>) {
        let now = (self.input, output);
        if now == self.reported || now == (0, 0) {
            return;
        }
        self.reported = now;
        let session_id = out.handle;
        out.push(UiMessage::TokenUpdate {
            input_tokens: signed(now.0),
            output_tokens: signed(now.1),
            session_id,
        });
    }
}

/// The token counts of a frame.
pub(super) fn read(usage: Raw<'_>) -> TokenUsage {
    let count = |key| usage.count(key).unwrap_or_default();
    let mut read = TokenUsage::new(count("input_tokens"), count("output_tokens"));
    read.cache_creation_input_tokens = count("cache_creation_input_tokens");
    read.cache_read_input_tokens = count("cache_read_input_tokens");
    read
}

/// All tokens of a prompt, cached or not: the size of the context.
fn prompt(usage: &TokenUsage) -> u64 {
    usage
        .input_tokens
        .saturating_add(usage.cache_creation_input_tokens)
        .saturating_add(usage.cache_read_input_tokens)
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
