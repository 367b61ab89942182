//! The kinds of targets of notifications, as the page offers them, written from their declarations.

use std::fmt::Write as _;

use tidings_api::NotifyKind;
use tidings_bridge::notify::{Credential, url_kind};

use crate::generated::is_current;

/// The beginning of the file: its types.
const HEAD: &str = r#"// @generated from `crates/bridge/src/notify/kinds` by `make generate`.

import type { NotifyKind } from "../wire.ts";

/** A kind of target with a URL. */
export interface UrlKind {
  title: string;
  /** The form of a URL. */
  example: string;
  /** The credential that a target may have, with its label. */
  credential?: { field: "secret" | "token"; label: string };
  /** True if notifications can have buttons. */
  buttons: boolean;
}

export const URL_KINDS: Record<Exclude<NotifyKind, "web_push">, UrlKind> = {
"#;

#[test]
fn the_kinds_that_the_page_offers_are_current() {
    let mut text = HEAD.to_owned();
    for kind in NotifyKind::ALL {
        let Some(declared) = url_kind(kind) else { continue };
        let credential = match declared.credential {
            Some(Credential::Secret(label)) => {
                format!(" credential: {{ field: \"secret\", label: {label:?} }},")
            }
            Some(Credential::Token(label)) => {
                format!(" credential: {{ field: \"token\", label: {label:?} }},")
            }
            None => String::new(),
        };
        let (name, title, example) = (kind.as_str(), declared.title, declared.example);
        let buttons = declared.has_buttons();
        writeln!(
            text,
            "  {name}: {{ title: {title:?}, example: {example:?},{credential} buttons: {buttons} }},"
        )
        .unwrap();
    }
    text.push_str("};\n");
    is_current("web/src/model/notify-kinds.ts", &text);
}
