//! A small HTML checker: every tag is one that we write, and every element is closed in order.

/// The errors of a page; empty if there are none.
pub(crate) fn complaints(page: &str) -> Vec<String> {
    const ALONE: &[&str] = &["meta", "img", "br", "hr", "input"];
    const KNOWN: &[&str] = &[
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "div",
        "header",
        "h1",
        "h3",
        "h4",
        "h5",
        "h6",
        "dl",
        "dt",
        "dd",
        "figure",
        "figcaption",
        "svg",
        "path",
        "circle",
        "rect",
        "text",
        "a",
        "span",
        "i",
        "nav",
        "details",
        "summary",
        "ol",
        "ul",
        "li",
        "b",
        "time",
        "main",
        "section",
        "p",
        "pre",
        "code",
        "ins",
        "del",
        "img",
        "footer",
        "br",
        "hr",
        "em",
        "strong",
        "blockquote",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "input",
    ];
    const ATTRIBUTES: &[&str] = &[
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "class",
        "id",
        "href",
        "rel",
        "title",
        "datetime",
        "open",
        "alt",
        "src",
        "viewBox",
        "role",
        "aria-label",
        "d",
        "x",
        "y",
        "cx",
        "cy",
        "r",
        "rx",
        "width",
        "height",
        "text-anchor",
        "start",
        "type",
        "checked",
        "disabled",
        "style",
    ];
    let mut found = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page.strip_prefix("<!doctype html>").unwrap_or(page);
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let Some(end) = rest.find('>') else {
            found.push("a tag does not end".to_owned());
            break;
        };
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                found.push(format!("</{name}> closes nothing"));
            }
            continue;
        }
        let (inside, closes_itself) = tag.strip_suffix('/').map_or((tag, false), |inside| (inside, true));
        let (name, mut attributes) = inside.split_once([' ', '\n']).unwrap_or((inside, ""));
        if !KNOWN.contains(&name) {
            found.push(format!("<{name}>"));
        }
        while !attributes.trim().is_empty() {
            attributes = attributes.trim_start();
            let word = attributes.find(['=', ' ']).unwrap_or(attributes.len());
            let attribute = &attributes[..word];
            if !ATTRIBUTES.contains(&attribute) {
                found.push(format!("<{name} {attribute}>"));
            }
            attributes = &attributes[word..];
            if let Some(value) = attributes.strip_prefix("=\"") {
                let Some(end) = value.find('"') else {
                    found.push(format!("<{name} {attribute}> has no end"));
                    break;
                };
                let value = &value[..end];
                let is_link = attribute == "href" || attribute == "src";
                let is_safe = ["#", "https://", "http://", "mailto:", "data:image/png;base64,"]
                    .iter()
                    .any(|begin| value.starts_with(begin));
                if is_link && !is_safe {
                    found.push(format!("{attribute} leads to {value}"));
                }
                attributes = &attributes[end + 3..];
            }
        }
        if name == "style" {
            rest = rest.find("</style>").map_or("", |at| &rest[at..]);
        }
        if !closes_itself && !ALONE.contains(&name) {
            open.push(name);
        }
    }
    found.extend(open.into_iter().map(|name| format!("<{name}> does not close")));
    found
}

#[test]
fn the_reader_of_pages_sees_what_is_wrong() {
    for (page, expected) in [
        ("<p>a<b>b</b></p>", ""),
        ("<p>a<b>b</p></b>", "</p> closes nothing, </b> closes nothing"),
        ("<p><script>x</script></p>", "<script>"),
        ("<p onclick=\"x\">a</p>", "<p onclick>"),
        ("<a href=\"javascript:x\">a</a>", "href leads to javascript:x"),
        ("<div>", "<div> does not close"),
    ] {
        assert_eq!(complaints(page).join(", "), expected, "{page}");
    }
}
