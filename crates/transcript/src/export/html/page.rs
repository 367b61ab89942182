//! The page around the conversation.

use std::fmt::Write as _;

use super::HtmlSink;
use super::escape::{escaped, text};
use crate::export::entry_part::duration;
use crate::export::metadata::SessionMetadata;
use crate::export::text::{counts, period, time};

/// Forbids scripts and fetches, in case that some text escapes its container.
pub(super) const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

impl HtmlSink<'_> {
    /// Writes everything before the conversation, except for the timeline and the table of contents.
    pub(super) fn begin(&mut self, facts: &SessionMetadata) {
        let title = escaped(&facts.title);
        let _ = write!(
            self.out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{}</style>\n</head>\n<body>\n<div class=\"page\">\n<header>\n<h1>{title}</h1>\n<dl class=\"facts\">\n",
            include_str!("style.css")
        );
        self.fact("Project", facts.project.as_deref().unwrap_or_default(), "mono");
        self.fact("Branch", facts.git_branch.as_deref().unwrap_or_default(), "mono");
        self.fact("Model", &facts.models.join(", "), "");
        if let (Some(first), Some(last)) = (facts.first, facts.last) {
            let zone = &self.options.zone;
            let name = zone.iana_name().unwrap_or("local time").to_owned();
            let took = duration(last.duration_since(first));
            self.fact("Time", &format!("{} {name} ({took})", period(first, last, zone)), "");
        }
        self.fact("Contents", &counts(facts), "");
        self.fact("Session", &facts.id, "mono");
        self.out.push_str("</dl>\n</header>\n");
    }

    fn fact(&mut self, name: &str, value: &str, class: &str) {
        if !value.is_empty() {
            let _ = write!(self.out, "<div><dt>{name}</dt><dd class=\"{class}\">");
            text(value, &mut self.out);
            self.out.push_str("</dd></div>\n");
        }
    }

    /// Writes the table of contents: one line per prompt.
    pub(super) fn contents(&mut self, facts: &SessionMetadata) {
        if facts.contents.len() > 1 {
            let open = if facts.contents.len() <= 12 { " open" } else { "" };
            let _ = write!(
                self.out,
                "<nav class=\"toc\"><details{open}><summary>{} prompts</summary><ol>",
                facts.contents.len()
            );
            for (index, prompt) in facts.contents.iter().enumerate() {
                let _ = write!(self.out, "<li><a href=\"#p{0}\"><span class=\"no\">{0}</span><b>", index + 1);
                text(&prompt.text, &mut self.out);
                self.out.push_str("</b>");
                if let Some(at) = prompt.at {
                    let _ = write!(self.out, "<time>{}</time>", &time(at, &self.options.zone)[..5]);
                }
                self.out.push_str("</a></li>\n");
            }
            self.out.push_str("</ol></details></nav>\n");
        }
        self.out.push_str("<main>\n");
    }

    /// Writes everything after the conversation.
    pub(super) fn end(&mut self, is_redacted: bool) {
        self.close_speaker();
        self.close_turn();
        let note = if is_redacted {
            " Secrets were redacted in the text; images were left as they are."
        } else {
            ""
        };
        let _ = write!(
            self.out,
            "</main>\n<footer>Written by Tidings.{note}</footer>\n</div>\n</body>\n</html>\n"
        );
    }
}
