//! Token usage, as it stands in a line and as it counts.

use tidings_protocol::json::Raw;

/// Token usage of one or many responses. Cached input is not part of `input`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens {
    /// Input that was neither written to the cache nor read from it.
    pub input: u64,
    /// Output, thinking included.
    pub output: u64,
    /// Input written to the cache for five minutes.
    pub cache_write_5m: u64,
    /// Input written to the cache for an hour.
    pub cache_write_1h: u64,
    /// Input read from the cache.
    pub cache_read: u64,
    /// Searches run by the API; priced per search.
    pub web_searches: u64,
}

impl Tokens {
    /// Everything written to the cache.
    pub fn cache_write(&self) -> u64 {
        self.cache_write_5m.saturating_add(self.cache_write_1h)
    }

    /// All input, cached or not; it determines whether a prompt counts as long.
    pub fn prompt(&self) -> u64 {
        self.input.saturating_add(self.cache_write()).saturating_add(self.cache_read)
    }

    /// Adds the usage of another response.
    pub fn add(&mut self, other: &Tokens) {
        for (sum, value) in self.fields_mut().into_iter().zip(other.fields()) {
            *sum = sum.saturating_add(value);
        }
    }

    pub(super) fn fields(&self) -> [u64; 6] {
        [
            self.input,
            self.output,
            self.cache_write_5m,
            self.cache_write_1h,
            self.cache_read,
            self.web_searches,
        ]
    }

    pub(super) fn fields_mut(&mut self) -> [&mut u64; 6] {
        [
            &mut self.input,
            &mut self.output,
            &mut self.cache_write_5m,
            &mut self.cache_write_1h,
            &mut self.cache_read,
            &mut self.web_searches,
        ]
    }
}

/// A `usage` object as it stands in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Usage {
    /// The numbers as written; [`Usage::tokens`] gives the ones to count.
    pub(super) tokens: Tokens,
    /// `cache_creation_input_tokens`: the sum of both kinds of writes, and in older lines the only number.
    pub(super) written: u64,
    /// True for the faster and more expensive mode.
    pub(super) fast: bool,
    /// True if the model had stopped when the line was written: until then the output is a placeholder.
    pub(super) ended: bool,
}

impl Usage {
    /// Number of values in [`Usage::numbers`].
    pub(super) const NUMBERS: usize = 7;

    pub(super) fn read(usage: Raw<'_>) -> Self {
        let mut read = Usage::default();
        let mut iterations = None;
        for (key, value) in usage.members() {
            let number = || value.u64().unwrap_or(0);
            match &*key.get() {
                "input_tokens" => read.tokens.input = number(),
                "output_tokens" => read.tokens.output = number(),
                "cache_creation_input_tokens" => read.written = number(),
                "cache_read_input_tokens" => read.tokens.cache_read = number(),
                "cache_creation" => read.read_writes(value),
                "server_tool_use" => read.tokens.web_searches = member(value, "web_search_requests"),
                "speed" => read.fast = value.as_str() == "\"fast\"",
                // Nearly always there are none.
                "iterations" if value.as_str() != "[]" => iterations = Some(value),
                _ => {}
            }
        }
        if let Some(iterations) = iterations {
            read.add_iterations(iterations);
        }
        read
    }

    fn read_writes(&mut self, creation: Raw<'_>) {
        self.tokens.cache_write_5m = member(creation, "ephemeral_5m_input_tokens");
        self.tokens.cache_write_1h = member(creation, "ephemeral_1h_input_tokens");
    }

    /// A response may consist of several rounds. The outer usage is their sum, without compactions; if it is
    /// empty, only the rounds count.
    fn add_iterations(&mut self, iterations: Raw<'_>) {
        let empty = self.numbers() == [0; Self::NUMBERS];
        for iteration in iterations.items() {
            let compaction = iteration.get("type").is_some_and(|kind| kind.as_str() == "\"compaction\"");
            if empty || compaction {
                // Rounds do not contain rounds, so this is one level deep.
                let mut round = Usage::default();
                for (key, value) in iteration.members() {
                    let number = || value.u64().unwrap_or(0);
                    match &*key.get() {
                        "input_tokens" => round.tokens.input = number(),
                        "output_tokens" => round.tokens.output = number(),
                        "cache_creation_input_tokens" => round.written = number(),
                        "cache_read_input_tokens" => round.tokens.cache_read = number(),
                        "cache_creation" => round.read_writes(value),
                        _ => {}
                    }
                }
                self.tokens.add(&round.tokens);
                self.written = self.written.saturating_add(round.written);
            }
        }
    }

    /// Takes the larger value of each number: early lines of a response hold placeholders, and some proxies
    /// write zeros first.
    ///
    /// A placeholder of output may be larger than the final value; then the final value counts.
    pub(super) fn take_larger(&mut self, other: &Usage) {
        let output = match (self.ended, other.ended) {
            (true, false) if self.tokens.output > 0 => self.tokens.output,
            (false, true) if other.tokens.output > 0 => other.tokens.output,
            _ => self.tokens.output.max(other.tokens.output),
        };
        for (mine, theirs) in self.tokens.fields_mut().into_iter().zip(other.tokens.fields()) {
            *mine = theirs.max(*mine);
        }
        self.tokens.output = output;
        self.ended |= other.ended;
        self.written = self.written.max(other.written);
        self.fast |= other.fast;
    }

    /// The tokens to count: writes of unknown kind count as five-minute writes, the API's default.
    pub(super) fn tokens(&self) -> Tokens {
        let unknown = self.written.saturating_sub(self.tokens.cache_write_1h);
        Tokens { cache_write_5m: self.tokens.cache_write_5m.max(unknown), ..self.tokens }
    }

    /// All numbers, for storage; the flags are stored separately.
    pub(super) fn numbers(&self) -> [u64; Self::NUMBERS] {
        let [input, output, five, hour, read, searches] = self.tokens.fields();
        [input, output, five, hour, read, searches, self.written]
    }

    /// Rebuilds the usage from [`Usage::numbers`].
    pub(super) fn from_numbers(numbers: [u64; Self::NUMBERS]) -> Self {
        let [fields @ .., written] = numbers;
        let mut tokens = Tokens::default();
        for (field, number) in tokens.fields_mut().into_iter().zip::<[u64; 6]>(fields) {
            *field = number;
        }
        Usage { tokens, written, ..Usage::default() }
    }
}

fn member(object: Raw<'_>, key: &str) -> u64 {
    object.get(key).and_then(Raw::u64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_read_in_every_shape_that_was_seen() {
        // usage, then input, output, five minutes, an hour, read, searches
        let cases: [(&str, [u64; 6]); 9] = [
            (r#"{"input_tokens":3,"output_tokens":4}"#, [3, 4, 0, 0, 0, 0]),
            // Only the sum: five minutes.
            (r#"{"cache_creation_input_tokens":9,"cache_read_input_tokens":2}"#, [0, 0, 9, 0, 2, 0]),
            (
                r#"{"cache_creation_input_tokens":9,"cache_creation":{"ephemeral_1h_input_tokens":9}}"#,
                [0, 0, 0, 9, 0, 0],
            ),
            (
                r#"{"cache_creation":{"ephemeral_5m_input_tokens":4,"ephemeral_1h_input_tokens":5}}"#,
                [0, 0, 4, 5, 0, 0],
            ),
            // The sum is larger than its parts.
            (
                r#"{"cache_creation_input_tokens":10,"cache_creation":{"ephemeral_1h_input_tokens":4}}"#,
                [0, 0, 6, 4, 0, 0],
            ),
            (
                r#"{ "input_tokens" : 1e2, "server_tool_use" : {"web_search_requests": 2} }"#,
                [100, 0, 0, 0, 0, 2],
            ),
            // Rounds that are part of the outer numbers.
            (
                r#"{"input_tokens":3,"output_tokens":4,"iterations":[{"input_tokens":3,"output_tokens":4}]}"#,
                [3, 4, 0, 0, 0, 0],
            ),
            // Rounds without outer numbers.
            (
                r#"{"input_tokens":0,"iterations":[{"input_tokens":3,"output_tokens":4},{"input_tokens":1,"cache_creation_input_tokens":7}]}"#,
                [4, 4, 7, 0, 0, 0],
            ),
            // A compaction, which is not part of the outer numbers.
            (
                r#"{"input_tokens":3,"output_tokens":4,"iterations":[{"type":"compaction","input_tokens":50,"output_tokens":5},{"type":"message","input_tokens":3,"output_tokens":4}]}"#,
                [53, 9, 0, 0, 0, 0],
            ),
        ];
        for (usage, expected) in cases {
            let read = Usage::read(Raw::parse(usage).unwrap());
            assert_eq!(read.tokens().fields(), expected, "{usage}");
        }
    }

    #[test]
    fn odd_numbers_are_no_error() {
        for odd in ["null", "\"7\"", "-3", "1e400", "{}", "99999999999999999999999"] {
            let usage = format!(
                "{{\"input_tokens\":{odd},\"output_tokens\":5,\"cache_creation\":{odd},\"iterations\":{odd}}}"
            );
            let read = Usage::read(Raw::parse(&usage).unwrap()).tokens();
            assert_eq!(read.output, 5, "{usage}");
        }
    }
}
