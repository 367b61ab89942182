//! The strings of any JSON text.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use tidings_protocol::json::Raw;

fn strings(text: &str) -> Vec<String> {
    let strings = Raw::parse(text).unwrap().strings();
    let shown = strings.map(|(key, text)| match key {
        Some(key) => format!("{key}={text}"),
        None => text.to_string(),
    });
    shown.collect()
}

#[test]
fn strings_are_found_at_any_depth_with_their_keys() {
    assert_eq!(strings(r#""plain""#), ["plain"]);
    assert_eq!(strings("[1, true, null, {}]"), Vec::<String>::new());
    assert_eq!(
        strings(r#"{"a" : "x", "b":[ "y","z\"\\"],"c":{"d":1,"e":"w"},"f":["v"], "":"" }"#),
        ["a=x", "y", "z\"\\", "e=w", "v", "="]
    );
}

#[test]
fn deep_nesting_costs_neither_stack_nor_time() {
    let deep = format!("{}\"x\"{}", "[".repeat(1 << 20), "]".repeat(1 << 20));
    assert_eq!(strings(&deep), ["x"]);
}
