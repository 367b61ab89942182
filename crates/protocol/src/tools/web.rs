//! Tools that read web pages and search the web.

use super::ArtifactVersion;
use crate::json::{Cursor, Json, Misfit, Reading, Wire, object};

object! {
    /// A web page to read.
    pub struct WebFetchInput {
        /// URL of the page.
        req url: String,
        /// Question about the page.
        opt prompt: String,
        /// Offset in the page.
        opt offset: u64,
    }

    /// Result of reading a web page.
    pub struct WebFetchOutput {
        /// URL that was read.
        opt url: String,
        /// Answer to the question.
        opt result: String,
        /// HTTP status code.
        opt code: u64,
        /// HTTP status text.
        opt code_text: String as "codeText",
        /// Size of the page in bytes.
        opt bytes: u64,
        /// Duration in milliseconds.
        opt duration_ms: u64 as "durationMs",
        /// The page on claude.ai that was read, and its version.
        opt artifact_read: Box<ArtifactVersion> as "artifactRead",
    }

    /// A web search.
    pub struct WebSearchInput {
        /// Search query.
        req query: String,
        /// Hosts to search exclusively.
        opt allowed_domains: Vec<String>,
        /// Hosts to exclude.
        opt blocked_domains: Vec<String>,
    }

    /// Result of a web search.
    pub struct WebSearchOutput {
        /// Search query.
        opt query: String,
        /// Search results, and text of the searching model.
        opt results: Vec<WebSearchPart>,
        /// Duration in seconds.
        opt duration_seconds: f64 as "durationSeconds",
        /// Number of searches made.
        opt search_count: u64 as "searchCount",
    }

    /// Results of one search.
    pub struct WebHits {
        /// Id of the search among the blocks of the searching model.
        opt tool_use_id: String,
        /// The pages.
        opt content: Vec<WebLink>,
    }

    /// A web page that was found.
    pub struct WebLink {
        /// Its title.
        opt title: String,
        /// URL of the page.
        opt url: String,
        /// Excerpt of its text.
        opt snippet: String,
    }
}

/// One part of the result of a web search.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum WebSearchPart {
    /// Text of the searching model.
    Text(String),
    /// Results of one search.
    Hits(WebHits),
    /// A shape unknown to this version, unchanged.
    Unknown(Json),
}

impl Wire for WebSearchPart {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        match cursor.peek() {
            b'"' => String::read(cursor, reading).map(WebSearchPart::Text),
            b'{' => WebHits::read(cursor, reading).map(WebSearchPart::Hits),
            _ => Json::read(cursor, reading).map(WebSearchPart::Unknown),
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            WebSearchPart::Text(text) => text.write(out),
            WebSearchPart::Hits(hits) => hits.write(out),
            WebSearchPart::Unknown(json) => json.write(out),
        }
    }
}

object!(@through_wire WebSearchPart);
