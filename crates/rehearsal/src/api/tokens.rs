//! Token counts of an answer, given by the script or estimated.

use super::json::{Object, json};
use crate::script::{Block, Turn, Usage};

/// Token counts of one answer: given by the script, or estimated from lengths.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnswerTokens {
    usage: Usage,
    thinking: u64,
}

impl AnswerTokens {
    /// Counts for an answer to a request of `input_chars` characters.
    pub(super) fn of(turn: &Turn, input_chars: usize) -> Self {
        let blocks = turn.content();
        let usage = turn.usage.unwrap_or_else(|| Usage {
            input: estimate(input_chars),
            output: estimate(blocks.iter().map(block_chars).sum()),
            ..Usage::default()
        });
        let thought: usize = blocks.iter().filter_map(|block| block.thinking.as_deref()).map(str::len).sum();
        AnswerTokens { usage, thinking: if thought == 0 { 0 } else { estimate(thought).min(usage.output) } }
    }

    /// `usage` of `message_start`: all input tokens, and the first output token.
    pub(super) fn at_start(&self) -> Object {
        self.input()
            .with("output_tokens", self.usage.output.min(1))
            .with("service_tier", "standard")
            .with("inference_geo", "not_available")
    }

    /// `usage` of `message_delta`.
    pub(super) fn at_end(&self) -> Object {
        let object = Object::default()
            .with("input_tokens", self.usage.input)
            .with("cache_creation_input_tokens", self.usage.cache_write_5m + self.usage.cache_write_1h)
            .with("cache_read_input_tokens", self.usage.cache_read)
            .with("output_tokens", self.usage.output);
        self.details(object)
    }

    /// `usage` of a message that is not streamed.
    pub(super) fn whole(&self) -> Object {
        let object = self
            .input()
            .with("output_tokens", self.usage.output)
            .with("service_tier", "standard")
            .with("inference_geo", "not_available");
        self.details(object)
    }

    fn input(&self) -> Object {
        let usage = &self.usage;
        let written = Object::default()
            .with("ephemeral_5m_input_tokens", usage.cache_write_5m)
            .with("ephemeral_1h_input_tokens", usage.cache_write_1h);
        Object::default()
            .with("input_tokens", usage.input)
            .with("cache_creation_input_tokens", usage.cache_write_5m + usage.cache_write_1h)
            .with("cache_read_input_tokens", usage.cache_read)
            .with_object("cache_creation", written)
    }

    /// Adds members that the API writes only if they are not zero.
    fn details(&self, mut object: Object) -> Object {
        if self.thinking > 0 {
            let details = Object::default().with("thinking_tokens", self.thinking);
            object = object.with_object("output_tokens_details", details);
        }
        if self.usage.web_searches > 0 {
            let searches = Object::default().with("web_search_requests", self.usage.web_searches);
            object = object.with_object("server_tool_use", searches);
        }
        object
    }
}

/// Estimated number of tokens for a number of characters; at least one.
pub(super) fn estimate(chars: usize) -> u64 {
    u64::try_from(chars.div_ceil(4)).unwrap_or(u64::MAX).max(1)
}

fn block_chars(block: &Block) -> usize {
    let texts = [&block.text, &block.raw_text, &block.thinking, &block.redacted_thinking, &block.tool];
    let tables = [Some(&block.input), block.raw.as_ref()];
    let texts = texts.into_iter().flatten().map(|text| text.chars().count()).sum::<usize>();
    let tables = tables.into_iter().flatten().filter(|table| !table.is_empty());
    texts + tables.map(|table| json(table).chars().count()).sum::<usize>()
}
