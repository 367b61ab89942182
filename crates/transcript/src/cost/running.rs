//! The cost of a session whose lines are read while they are written.

use memchr::memmem;

use super::line::{MARK, SightingSource, UsageReader};
use super::money::Money;
use super::prices::Prices;
use super::rows::Rows;
use super::{Response, Tokens};

/// The cost of a session whose lines are read one by one, while they are written.
#[derive(Debug, Default)]
pub struct RunningCost {
    reader: UsageReader,
    rows: Rows,
}

/// A sum, as far as prices are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KnownCost {
    /// The cost of the responses whose prices are known.
    pub money: Money,
    /// The tokens of all responses.
    pub tokens: Tokens,
    /// Number of responses without a known price.
    pub unpriced: u64,
}

impl RunningCost {
    /// Counts a line. Each response counts once, however many lines it has.
    ///
    /// Returns the model, if the line is a response to the main conversation.
    pub fn add(&mut self, line: &[u8]) -> Option<String> {
        memmem::find(line, MARK)?;
        let mut model = None;
        self.reader.read(line, |seen| {
            if seen.claim.source == SightingSource::Conversation && !seen.model.is_empty() {
                model = Some(seen.model.clone().into_owned());
            }
            self.rows.see(&seen);
        });
        model
    }

    /// The sum so far.
    pub fn sum(&self, prices: &Prices) -> KnownCost {
        let mut sum = KnownCost::default();
        for row in &self.rows.list {
            let response = Response {
                time: row.claim.time.timestamp(),
                session: self.rows.names.get(row.session),
                cwd: self.rows.names.get(row.cwd),
                model: self.rows.names.get(row.model),
                tokens: row.usage.tokens(),
                fast: row.usage.fast,
                sub_agent: row.claim.source != SightingSource::Conversation,
                copied: row.claim.copied,
            };
            sum.tokens.add(&response.tokens);
            match prices.cost(&response) {
                Some(money) => sum.money += money,
                None => sum.unpriced += 1,
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str, model: &str, output: u64) -> Vec<u8> {
        format!(
            r#"{{"type":"assistant","uuid":"{id}-{output}","message":{{"id":"{id}","model":"{model}","usage":{{"input_tokens":1000,"output_tokens":{output}}}}}}}"#
        )
        .into_bytes()
    }

    #[test]
    fn a_response_of_several_lines_counts_once_and_an_unknown_price_stays_unknown() {
        let prices = Prices::built_in();
        let mut cost = RunningCost::default();
        assert_eq!(cost.add(br#"{"type":"user","message":{"content":"\"usage\""}}"#), None);
        assert_eq!(cost.add(&line("one", "claude-opus-4-5", 5)).as_deref(), Some("claude-opus-4-5"));
        cost.add(&line("one", "claude-opus-4-5", 9));
        let one = cost.sum(&prices);
        assert_eq!((one.tokens.input, one.tokens.output, one.unpriced), (1000, 9, 0));
        assert!(one.money > Money::ZERO);
        cost.add(&line("two", "another-model", 9));
        let both = cost.sum(&prices);
        assert_eq!((both.money, both.unpriced), (one.money, 1));
    }
}
