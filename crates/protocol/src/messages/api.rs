use super::content::Content;
use crate::json::wire::{ObjectOut, Slot, WireObject};
use crate::json::{Cursor, Extra, Json, Misfit, Reading, object, open_string};

/// A message of the Messages API, as carried by `assistant` and `user` frames.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ApiMessage {
    /// `assistant` or `user`; derived from the frame's type when the wire omits it.
    pub role: String,
    /// Ordered blocks; a plain string reads as one text block.
    pub content: Content,
    /// Id of the API response. Several frames share it: one frame per block.
    pub id: Option<String>,
    /// The model; `<synthetic>` if the client wrote the message.
    pub model: Option<String>,
    /// Reason why the model stopped; `null` on the wire until the turn's result.
    pub stop_reason: Option<ApiStopReason>,
    /// The sequence that stopped the model.
    pub stop_sequence: Option<String>,
    /// Token counts. Repeated on every frame of one response: count once per `id`.
    pub usage: Option<UsageInfo>,
    /// Members that the typed fields would not write back identically.
    pub extra: Extra,
    /// True if the wire had no role.
    pub(crate) role_implied: bool,
}

impl ApiMessage {
    /// A message with a role and content.
    pub fn new(role: impl Into<String>, content: impl Into<Content>) -> Self {
        ApiMessage { role: role.into(), content: content.into(), ..ApiMessage::default() }
    }
}

impl WireObject for ApiMessage {
    fn read_members(cursor: &mut Cursor<'_>, reading: &mut Reading, _: &[&str]) -> Result<Self, Misfit> {
        let mut extra = Extra::default();
        let (mut role, mut content, mut id, mut model) =
            (Slot::Absent, Slot::Absent, Slot::Absent, Slot::Absent);
        let (mut stop_reason, mut stop_sequence, mut usage) = (Slot::Absent, Slot::Absent, Slot::Absent);
        while let Some(key) = cursor.next_key() {
            let at = cursor.key_at();
            match &*key.get() {
                "role" => role = Slot::take(cursor, reading, "role", at),
                "content" => content = Slot::take(cursor, reading, "content", at),
                "id" => id = Slot::take(cursor, reading, "id", at),
                "model" => model = Slot::take(cursor, reading, "model", at),
                "stop_reason" => stop_reason = Slot::take(cursor, reading, "stop_reason", at),
                "stop_sequence" => stop_sequence = Slot::take(cursor, reading, "stop_sequence", at),
                "usage" => usage = Slot::take(cursor, reading, "usage", at),
                _ => {
                    cursor.skip();
                    extra.keep(cursor.since(at));
                }
            }
        }
        let role = role.optional(reading, &mut extra);
        Ok(ApiMessage {
            role_implied: role.is_none(),
            role: role.unwrap_or_default(),
            content: content.required("content")?,
            id: id.optional(reading, &mut extra),
            model: model.optional(reading, &mut extra),
            stop_reason: stop_reason.optional(reading, &mut extra),
            stop_sequence: stop_sequence.optional(reading, &mut extra),
            usage: usage.optional(reading, &mut extra),
            extra,
        })
    }

    fn write_members(&self, out: &mut ObjectOut<'_>) {
        let ApiMessage { role, content, id, model, stop_reason, stop_sequence, usage, extra, role_implied } =
            self;
        for (key, value) in [("id", id), ("model", model)] {
            if let Some(value) = value {
                out.field(key, value);
            }
        }
        if !role_implied {
            out.field("role", role);
        }
        out.field("content", content);
        if let Some(reason) = stop_reason {
            out.field("stop_reason", reason);
        }
        if let Some(sequence) = stop_sequence {
            out.field("stop_sequence", sequence);
        }
        if let Some(usage) = usage {
            out.field("usage", usage);
        }
        out.extra(extra, |key| match key {
            "role" => !role_implied,
            "content" => true,
            "id" => id.is_some(),
            "model" => model.is_some(),
            "stop_reason" => stop_reason.is_some(),
            "stop_sequence" => stop_sequence.is_some(),
            "usage" => usage.is_some(),
            _ => false,
        });
    }
}

object!(@serde ApiMessage);

object! {
    /// Token counts of one API response or one turn. Cached input is counted separately from `input_tokens`.
    pub struct UsageInfo {
        def input_tokens: u64,
        def output_tokens: u64,
        opt cache_creation_input_tokens: u64,
        opt cache_read_input_tokens: u64,
        opt cache_creation: CacheCreation,
        opt server_tool_use: ServerToolUsage,
        opt service_tier: String,
        opt inference_geo: String,
        opt speed: String,
        opt iterations: Vec<Json>,
        opt output_tokens_details: OutputTokensDetails,
    }

    /// Cache writes by lifetime.
    pub struct CacheCreation {
        def ephemeral_5m_input_tokens: u64,
        def ephemeral_1h_input_tokens: u64,
    }

    /// Number of calls of tools that run inside the API.
    pub struct ServerToolUsage {
        def web_search_requests: u64,
        def web_fetch_requests: u64,
    }

    /// Breakdown of the output tokens.
    pub struct OutputTokensDetails {
        opt thinking_tokens: u64,
    }

    /// Totals of one model over a session.
    pub struct ModelUsage {
        def input_tokens: u64 as "inputTokens",
        def output_tokens: u64 as "outputTokens",
        opt thinking_tokens: u64 as "thinkingTokens",
        def cache_read_input_tokens: u64 as "cacheReadInputTokens",
        def cache_creation_input_tokens: u64 as "cacheCreationInputTokens",
        opt cache_creation_5m_input_tokens: u64 as "cacheCreationEphemeral5mInputTokens",
        opt cache_creation_1h_input_tokens: u64 as "cacheCreationEphemeral1hInputTokens",
        def web_search_requests: u64 as "webSearchRequests",
        opt cost_usd: f64 as "costUSD",
        opt context_window: u64 as "contextWindow",
        opt max_output_tokens: u64 as "maxOutputTokens",
        opt canonical_model: String as "canonicalModel",
        opt provider: String,
        opt cost_basis: String as "costBasis",
    }
}

open_string! {
    /// Reason why the model stopped.
    pub struct ApiStopReason {
        END_TURN = "end_turn",
        MAX_TOKENS = "max_tokens",
        STOP_SEQUENCE = "stop_sequence",
        TOOL_USE = "tool_use",
        PAUSE_TURN = "pause_turn",
        REFUSAL = "refusal",
        TOOL_DEFERRED = "tool_deferred",
        MODEL_CONTEXT_WINDOW_EXCEEDED = "model_context_window_exceeded",
    }
}
