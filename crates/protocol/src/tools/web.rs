use crate::json::{Cursor, Json, Misfit, Reading, Wire, object};

object! {
    /// A page to read.
    pub struct WebFetchInput {
        /// Its address.
        req url: String,
        /// What to find out from it.
        opt prompt: String,
        /// Where in the page to begin.
        opt offset: u64,
    }

    /// What a page said.
    pub struct WebFetchOutput {
        /// The address that was read.
        opt url: String,
        /// The answer found in it.
        opt result: String,
        /// The status of the HTTP response.
        opt code: u64,
        /// The same in words.
        opt code_text: String as "codeText",
        /// The bytes of the page.
        opt bytes: u64,
        /// How long it took.
        opt duration_ms: u64 as "durationMs",
    }

    /// A search of the web.
    pub struct WebSearchInput {
        /// What to look for.
        req query: String,
        /// Only on these hosts.
        opt allowed_domains: Vec<String>,
        /// Not on these hosts.
        opt blocked_domains: Vec<String>,
    }

    /// What a search of the web found.
    pub struct WebSearchOutput {
        /// What was looked for.
        opt query: String,
        /// What was found, and what the searching model said about it.
        opt results: Vec<WebSearchPart>,
        /// How long it took.
        opt duration_seconds: f64 as "durationSeconds",
        /// How many searches were made.
        opt search_count: u64 as "searchCount",
    }

    /// What one search found.
    pub struct WebHits {
        /// The search among the blocks of the searching model.
        opt tool_use_id: String,
        /// The pages.
        opt content: Vec<WebLink>,
    }

    /// A page that was found.
    pub struct WebLink {
        /// Its title.
        opt title: String,
        /// Its address.
        opt url: String,
        /// Some of its text.
        opt snippet: String,
    }
}

/// A part of what a search of the web gave.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum WebSearchPart {
    /// What the searching model said.
    Text(String),
    /// What one search found.
    Hits(WebHits),
    /// A shape that was not known when this was written, as it came.
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
