//! The web page: files that were built from `web/` and are embedded in the program.
//!
//! Every URL in the page is relative, so it can be served below any path.

use std::sync::OnceLock;

use axum::Router;
use axum::extract::Path;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, VARY, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use ring::digest::{SHA256, digest};
use tidings_base::hex::hex;

/// The content security policy: only files from this server, nothing inline, and no text that becomes code.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; \
     connect-src 'self'; manifest-src 'self'; worker-src 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; \
     form-action 'none'; require-trusted-types-for 'script'; trusted-types tidings";

/// The policy of the frame in which Mermaid draws. Its document has one script, whose checksum it names
/// itself; it has no origin, so that it reaches neither the page nor the server, and it loads nothing.
const FRAME_POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
     frame-ancestors 'self'; base-uri 'none'; form-action 'none'; sandbox allow-scripts";

/// Shown by a program that was built without the page.
const NO_PAGE: &str = include_str!("no_page.html");

/// A file of the page.
struct PageFile {
    name: &'static str,
    content: &'static [u8],
    /// The checksum of the content, as an entity tag.
    tag: OnceLock<String>,
}

impl PageFile {
    const fn new(name: &'static str, content: &'static [u8]) -> Self {
        PageFile { name, content, tag: OnceLock::new() }
    }

    fn get(name: &str) -> Option<&'static PageFile> {
        FILES.iter().find(|file| file.name == name)
    }

    fn tag(&self) -> &str {
        self.tag.get_or_init(|| format!("\"{}\"", hex(&digest(&SHA256, self.content).as_ref()[..16])))
    }
}

include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// The page at `/` and the files that it loads. They are public, since they contain nothing about sessions.
pub fn page() -> Router {
    Router::new().route("/", get(|headers: HeaderMap| async move { answer("index.html", &headers) })).route(
        "/{name}",
        get(|Path(name): Path<String>, headers: HeaderMap| async move { answer(&name, &headers) }),
    )
}

fn answer(name: &str, headers: &HeaderMap) -> Response {
    match find(name, headers) {
        Some(found) => found.respond(name, headers),
        None if name == "index.html" => {
            let kind = [(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"))];
            with_policy((StatusCode::OK, kind, NO_PAGE).into_response())
        }
        None => with_policy(StatusCode::NOT_FOUND.into_response()),
    }
}

/// The form of a file that is sent.
struct Sent {
    file: &'static PageFile,
    encoding: Option<&'static str>,
}

/// The smallest form of a file that the browser accepts. Compressed forms have no URL of their own. A large
/// file exists compressed only, and is sent so to a client that does not say that it accepts that.
fn find(name: &str, headers: &HeaderMap) -> Option<Sent> {
    kind_of(name)?;
    let accepted = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let takes =
        |encoding: &str| accepted.split(',').any(|one| one.trim().split(';').next() == Some(encoding));
    let compressed = |encoding, extension| {
        let file = PageFile::get(&format!("{name}.{extension}"))?;
        Some(Sent { file, encoding: Some(encoding) })
    };
    let whole = || Some(Sent { file: PageFile::get(name)?, encoding: None });
    let brotli = takes("br").then(|| compressed("br", "br")).flatten();
    let gzip = || takes("gzip").then(|| compressed("gzip", "gz")).flatten();
    brotli.or_else(gzip).or_else(whole).or_else(|| compressed("gzip", "gz"))
}

impl Sent {
    fn respond(self, name: &str, headers: &HeaderMap) -> Response {
        let tag = self.file.tag();
        // The content behind a name with a checksum never changes; all other files are revalidated each time.
        let keep = if name.starts_with("page-") { "public, max-age=31536000, immutable" } else { "no-cache" };
        let unchanged = headers.get(IF_NONE_MATCH).is_some_and(|value| value.as_bytes() == tag.as_bytes());
        let mut response = if unchanged {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            let kind = kind_of(name).unwrap_or("application/octet-stream");
            ([(CONTENT_TYPE, HeaderValue::from_static(kind))], self.file.content).into_response()
        };
        let fields = response.headers_mut();
        fields.insert(CACHE_CONTROL, HeaderValue::from_static(keep));
        fields.insert(VARY, HeaderValue::from_static("accept-encoding"));
        if let Ok(tag) = HeaderValue::from_str(tag) {
            fields.insert(ETAG, tag);
        }
        if let (Some(encoding), false) = (self.encoding, unchanged) {
            fields.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
        if is_frame(name) { with_frame_policy(response) } else { with_policy(response) }
    }
}

/// True for the document of the frame in which diagrams are drawn.
fn is_frame(name: &str) -> bool {
    name.strip_suffix(".html").is_some_and(|name| name.starts_with("page-diagram-"))
}

/// The content type of a file by its extension; files with other extensions are not served.
fn kind_of(name: &str) -> Option<&'static str> {
    match name.rsplit_once('.')?.1 {
        "html" => Some("text/html; charset=utf-8"),
        "js" => Some("text/javascript; charset=utf-8"),
        "css" => Some("text/css; charset=utf-8"),
        "svg" => Some("image/svg+xml"),
        "png" => Some("image/png"),
        "webmanifest" => Some("application/manifest+json"),
        _ => None,
    }
}

/// Sets the policy of the frame, and lets the page show it.
fn with_frame_policy(mut response: Response) -> Response {
    let fields = response.headers_mut();
    fields.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(FRAME_POLICY));
    fields.insert(X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN"));
    response
}

/// Replaces the policy that [`crate::auth`] sets for every response by a stricter one.
fn with_policy(mut response: Response) -> Response {
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    response
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::{HeaderName, Request};
    use tower::ServiceExt as _;

    use super::*;

    async fn get_page(path: &str, fields: &[(HeaderName, &str)]) -> Response {
        let mut request = Request::get(path);
        for (name, value) in fields {
            request = request.header(name, *value);
        }
        page().oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
    }

    #[tokio::test]
    async fn t7_every_answer_forbids_what_the_page_does_not_need() {
        for path in ["/", "/sw.js", "/nothing.js"] {
            let answer = get_page(path, &[]).await;
            let policy = answer.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap();
            assert!(policy.starts_with("default-src 'none'"), "{path}");
            assert!(!policy.contains("unsafe"), "{path}");
        }
    }

    #[tokio::test]
    async fn t7_only_the_frame_of_diagrams_allows_inline_code_and_it_has_no_origin() {
        assert!(FRAME_POLICY.starts_with("default-src 'none'"));
        assert!(FRAME_POLICY.ends_with("sandbox allow-scripts"));
        assert!(!FRAME_POLICY.contains("allow-same-origin"));
        // A program that was built without the page has no files but the one that says so.
        let mut names: Vec<String> = FILES
            .iter()
            .map(|file| file.name.trim_end_matches(".br").trim_end_matches(".gz").to_owned())
            .filter(|name| kind_of(name).is_some())
            .collect();
        let is_built = !names.is_empty();
        names.push("index.html".to_owned());
        let mut frames = 0;
        for name in names {
            let answer = get_page(&format!("/{name}"), &[(ACCEPT_ENCODING, "gzip, br")]).await;
            assert_eq!(answer.status(), StatusCode::OK, "{name}");
            let policy = answer.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
            if policy == FRAME_POLICY {
                assert!(name.starts_with("page-diagram-"), "{name}");
                frames += 1;
            } else {
                assert_eq!(policy, POLICY, "{name}");
            }
        }
        assert_eq!(frames > 0, is_built);
        assert!(!POLICY.contains("unsafe"));
        let frame = with_frame_policy(Response::default());
        assert_eq!(frame.headers()[CONTENT_SECURITY_POLICY], FRAME_POLICY);
        assert_eq!(frame.headers()[X_FRAME_OPTIONS], "SAMEORIGIN");
        let other = ["page-diagram-1.js", "page-1.html", "diagram.html", "page-diagram-1.html.js"];
        assert!(is_frame("page-diagram-1.html") && !other.into_iter().any(is_frame));
    }

    #[tokio::test]
    async fn the_first_page_is_there_whether_or_not_it_was_built() {
        let answer = get_page("/", &[]).await;
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!(answer.headers()[CONTENT_TYPE], "text/html; charset=utf-8");
    }

    #[tokio::test]
    async fn what_is_no_file_of_the_page_is_not_found() {
        for path in ["/.gitignore", "/index.html.br", "/x", "/..%2fCargo.toml", "/a.toml"] {
            assert_eq!(get_page(path, &[]).await.status(), StatusCode::NOT_FOUND, "{path}");
        }
    }

    #[tokio::test]
    async fn a_file_that_exists_compressed_only_is_sent_so_to_everyone() {
        let whole = |name: &str| PageFile::get(name.trim_end_matches(".gz")).is_some();
        let compressed = |name: &&str| name.strip_suffix(".gz").is_some() && !whole(name);
        for name in FILES.iter().map(|file| file.name).filter(compressed) {
            let path = format!("/{}", name.trim_end_matches(".gz"));
            for accepted in ["identity", "gzip, deflate"] {
                let sent = get_page(&path, &[(ACCEPT_ENCODING, accepted)]).await;
                assert_eq!(sent.status(), StatusCode::OK, "{path}");
                assert_eq!(sent.headers()[CONTENT_ENCODING], "gzip", "{path}");
            }
        }
    }

    #[tokio::test]
    async fn a_file_that_the_browser_has_is_not_sent_again() {
        for name in FILES.iter().map(|file| file.name).filter(|name| kind_of(name).is_some()) {
            let path = format!("/{name}");
            for accepted in ["identity", "gzip, br"] {
                let first = get_page(&path, &[(ACCEPT_ENCODING, accepted)]).await;
                assert_eq!(first.status(), StatusCode::OK, "{path}");
                let tag = first.headers()[ETAG].to_str().unwrap();
                let again = get_page(&path, &[(ACCEPT_ENCODING, accepted), (IF_NONE_MATCH, tag)]).await;
                assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{path}");
            }
        }
    }
}
