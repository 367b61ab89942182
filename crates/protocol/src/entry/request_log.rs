//! Entries about requests to the API, with the parts that they share.

use crate::json::{Json, object};

object! {
    /// A request to the API. Its messages are those of `base` up to `keep`, then the blobs named in `tail`.
    pub struct ApiRequest {
        opt session_id: String as "sessionId",
        opt agent_id: String as "agentId",
        /// Referenced by an assistant entry's `requestRef`.
        opt id: String,
        opt timestamp: String,
        opt version: String,
        opt query_source: String as "querySource",
        opt shape_hash: String as "shapeHash",
        opt params: Json,
        opt base: String,
        opt keep: u64,
        opt tail: Vec<String>,
        opt cache_control: Json as "cacheControl",
        opt request_digest: String as "requestDigest",
    }

    /// System prompt and tools that requests share, under their hash.
    pub struct ApiRequestShape {
        opt session_id: String as "sessionId",
        opt agent_id: String as "agentId",
        opt shape_hash: String as "shapeHash",
        opt timestamp: String,
        opt version: String,
        opt shape: Json,
    }

    /// A message of requests, under its hash. It is not a message of the conversation.
    pub struct ApiRequestBlob {
        opt session_id: String as "sessionId",
        opt agent_id: String as "agentId",
        opt hash: String,
        opt message: Json,
    }
}
