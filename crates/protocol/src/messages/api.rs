//! A message of the Messages API, and its token counts.

use super::content::Content;
use crate::json::wire::{FieldRule, MemberReader, ObjectOut, WireFields, WireObject};
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

    /// A part of a response of the model, in the form of the API: the reason why it stopped comes later.
    pub fn response(id: impl Into<String>, model: impl Into<String>, content: impl Into<Content>) -> Self {
        let mut message = ApiMessage::new("assistant", content);
        message.id = Some(id.into());
        message.model = Some(model.into());
        message.extra.keep("\"type\":\"message\",\"stop_reason\":null,\"stop_sequence\":null");
        message
    }
}

impl WireObject for ApiMessage {
    fn read_members(cursor: &mut Cursor<'_>, reading: &mut Reading, _: &[&str]) -> Result<Self, Misfit> {
        const RULES: &[FieldRule] = &[("content", true)];
        let mut message = ApiMessage::default();
        let mut role = None;
        let mut members = MemberReader::new(cursor, reading, &[]);
        while let Some(key) = members.next_key() {
            match &*key.get() {
                "role" => members.optional("role", &mut role),
                "content" => members.required(RULES, "content", &mut message.content),
                "id" => members.optional("id", &mut message.id),
                "model" => members.optional("model", &mut message.model),
                "stop_reason" => members.optional("stop_reason", &mut message.stop_reason),
                "stop_sequence" => members.optional("stop_sequence", &mut message.stop_sequence),
                "usage" => members.optional("usage", &mut message.usage),
                _ => members.unknown(),
            }
        }
        message.extra = members.finish(RULES)?;
        message.role_implied = role.is_none();
        message.role = role.unwrap_or_default();
        Ok(message)
    }

    fn write_members(&self, out: &mut ObjectOut<'_>) {
        out.fields_and_extra(&[self], &self.extra);
    }
}

impl WireFields for ApiMessage {
    fn write_fields(&self, out: &mut ObjectOut<'_>) {
        out.optional("id", self.id.as_ref());
        out.optional("model", self.model.as_ref());
        if !self.role_implied {
            out.field("role", &self.role);
        }
        out.field("content", &self.content);
        out.optional("stop_reason", self.stop_reason.as_ref());
        out.optional("stop_sequence", self.stop_sequence.as_ref());
        out.optional("usage", self.usage.as_ref());
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

impl UsageInfo {
    /// Token counts without cached input, in the form of the API, which writes counts of zero too.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        let mut usage = UsageInfo { input_tokens, output_tokens, ..UsageInfo::default() };
        usage.extra.keep("\"input_tokens\":0,\"output_tokens\":0");
        usage
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
