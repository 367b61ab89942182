//! Token counts of Codex.

use jiff::Timestamp;
use tidings_protocol::json::Raw;

use super::records::RolloutRecord;
use crate::agents::tree::string;
use crate::cost::{ResponseUsage, Tokens};

/// Collects the usage of responses.
///
/// Current versions write a record per response, with the id of the API. Older ones only write an event with
/// the sum of the session and the usage of the last response, sometimes several times.
#[derive(Debug, Default)]
pub(super) struct UsageCollector {
    records: Vec<ResponseUsage>,
    counts: Vec<ResponseUsage>,
    /// The sum of the session in the last event.
    total: Option<String>,
    is_sub_agent: bool,
}

impl UsageCollector {
    /// Usage of a session, or of a sub-agent.
    pub(super) fn new(is_sub_agent: bool) -> Self {
        UsageCollector { is_sub_agent, ..UsageCollector::default() }
    }

    pub(super) fn record(&mut self, line: u64, record: &RolloutRecord<'_>, model: Option<&str>) {
        let is_sub_agent = self.is_sub_agent;
        let new = |id: String, is_global: bool, tokens: Tokens, at: Option<Timestamp>| ResponseUsage {
            id,
            is_global,
            time: at,
            model: model.unwrap_or_default().to_owned(),
            tokens,
            cost: None,
            writes_costs: false,
            sub_agent: is_sub_agent,
        };
        match (record.kind.as_str(), record.subkind.as_str()) {
            ("token_usage_record", _) => {
                let Some(tokens) = record.payload.get("usage").and_then(tokens) else { return };
                let id = string(record.payload, "response_id");
                let is_global = id.is_some();
                let id = id.unwrap_or_else(|| format!("line-{line}"));
                self.records.push(new(id, is_global, tokens, record.at));
            }
            ("event_msg", "token_count") => {
                let Some(info) = record.payload.get("info").filter(|info| info.is_object()) else { return };
                let total = info.get("total_token_usage").map(|total| total.as_str().to_owned());
                // The same sum again: only the rate limits changed.
                if total.is_some() && total == self.total {
                    return;
                }
                self.total = total;
                let Some(tokens) = info.get("last_token_usage").and_then(tokens) else { return };
                self.counts.push(new(format!("line-{line}"), false, tokens, record.at));
            }
            _ => {}
        }
    }

    pub(super) fn finish(self) -> Vec<ResponseUsage> {
        if self.records.is_empty() { self.counts } else { self.records }
    }
}

/// Tokens of a response; `None` if there are none. Cached input is part of `input_tokens`, and reasoning of
/// `output_tokens`.
fn tokens(usage: Raw<'_>) -> Option<Tokens> {
    let number = |key: &str| usage.get(key).and_then(Raw::u64).unwrap_or(0);
    let (read, written) = (number("cached_input_tokens"), number("cache_write_input_tokens"));
    let tokens = Tokens {
        input: number("input_tokens").saturating_sub(read.saturating_add(written)),
        output: number("output_tokens"),
        cache_write_5m: written,
        cache_read: read,
        ..Tokens::default()
    };
    (tokens != Tokens::default()).then_some(tokens)
}
