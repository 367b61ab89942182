//! Tokens of a turn: the prompt of the last response, and everything generated, each response counted once.

use serde::{Deserialize, Serialize};
use tidings_protocol::json::Raw;
use tidings_protocol::ui::{TokenUsage, UiMessage};
use tidings_transcript::cost::{Money, Prices};

use super::out::Out;
use super::read::Members;

/// The count of one lane.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Tokens {
    message_id: Option<String>,
    /// Of the response that is under way.
    input: u64,
    output: u64,
    /// Of the responses before it in this turn.
    output_before: u64,
    /// What was told last.
    told: (u64, u64),
    /// List price of the last response that an interrupt cut off, in dollars.
    #[serde(default)]
    cut_off_usd: Option<f64>,
}

impl Tokens {
    /// A new turn begins.
    pub(super) fn clear(&mut self) {
        *self = Tokens { told: self.told, ..Tokens::default() };
    }

    /// What a response has used by now. The same figures come with every frame of it.
    pub(super) fn response(&mut self, message_id: Option<&str>, usage: Raw<'_>, out: &mut Out<'_>) {
        let read = read(usage);
        if message_id.is_none() || message_id != self.message_id.as_deref() {
            self.next(message_id);
            self.output = 0;
        }
        self.input = self.input.max(prompt(&read));
        // A frame repeats the figure from the start of its response, when more was already told.
        self.output = self.output.max(read.output_tokens);
        self.tell(self.output_before + self.output, out);
    }

    /// An interrupt cut this response off. The agent's own count leaves it out, but it is charged.
    pub(super) fn cut_off(&mut self, model: &str, usage: Raw<'_>) {
        let cost = Prices::built_in().cost_of_usage(model, usage);
        self.cut_off_usd = cost.map(Money::dollars).filter(|cost| *cost > 0.0);
    }

    /// The price of the response that an interrupt cut off. It is given once.
    pub(super) fn take_cut_off_usd(&mut self) -> Option<f64> {
        self.cut_off_usd.take()
    }

    /// More of the response that is under way.
    pub(super) fn more(&mut self, usage: Raw<'_>, out: &mut Out<'_>) {
        let read = read(usage);
        self.input = self.input.max(prompt(&read));
        self.output = self.output.max(read.output_tokens);
        self.tell(self.output_before + self.output, out);
    }

    /// The agent guesses how much it is thinking.
    pub(super) fn estimate(&mut self, tokens: u64, out: &mut Out<'_>) {
        self.tell(self.output_before + self.output.max(tokens), out);
    }

    /// The turn is over, and this is what it has generated.
    pub(super) fn total(&mut self, usage: &TokenUsage, out: &mut Out<'_>) {
        if self.input == 0 && self.output == 0 {
            self.input = prompt(usage);
        }
        if usage.output_tokens > 0 {
            self.tell(usage.output_tokens, out);
        }
    }

    fn next(&mut self, message_id: Option<&str>) {
        self.output_before += self.output;
        self.input = 0;
        self.message_id = message_id.map(str::to_owned);
    }

    fn tell(&mut self, output: u64, out: &mut Out<'_>) {
        let now = (self.input, output);
        if now == self.told || now == (0, 0) {
            return;
        }
        self.told = now;
        let session_id = out.handle;
        out.push(UiMessage::TokenUpdate {
            input_tokens: signed(now.0),
            output_tokens: signed(now.1),
            session_id,
        });
    }
}

/// The figures as they stand in a frame.
pub(super) fn read(usage: Raw<'_>) -> TokenUsage {
    let count = |key| usage.count(key).unwrap_or_default();
    let mut read = TokenUsage::new(count("input_tokens"), count("output_tokens"));
    read.cache_creation_input_tokens = count("cache_creation_input_tokens");
    read.cache_read_input_tokens = count("cache_read_input_tokens");
    read
}

/// All tokens of a prompt, cached or not: this is what fills the context.
fn prompt(usage: &TokenUsage) -> u64 {
    usage
        .input_tokens
        .saturating_add(usage.cache_creation_input_tokens)
        .saturating_add(usage.cache_read_input_tokens)
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
