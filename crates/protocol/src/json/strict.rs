//! Writes a value so that every JSON parser accepts it.

use std::collections::HashMap;

use super::{BODY_DEPTH_MAX, Raw, write_string};

/// Writes the value so that every JSON parser accepts it: lone surrogates become U+FFFD, and of duplicate
/// keys only the last remains. Numbers and the order of keys stay. Parts nested too deep are copied
/// unchanged.
pub fn write_strict(raw: Raw<'_>, out: &mut String) {
    write(raw, out, BODY_DEPTH_MAX);
}

fn write(raw: Raw<'_>, out: &mut String, depth_left: usize) {
    if let Some(text) = raw.text() {
        return write_string(&text.get(), out);
    }
    if depth_left == 0 {
        return out.push_str(raw.as_str());
    }
    if raw.is_object() {
        let members: Vec<_> = raw.members().map(|(key, value)| (key.get(), value)).collect();
        let last: HashMap<_, _> =
            members.iter().enumerate().map(|(at, (key, _))| (key.clone(), at)).collect();
        out.push('{');
        let mut first = true;
        for (at, (key, value)) in members.iter().enumerate() {
            if last.get(key) != Some(&at) {
                continue;
            }
            if !std::mem::take(&mut first) {
                out.push(',');
            }
            write_string(key, out);
            out.push(':');
            write(*value, out, depth_left - 1);
        }
        out.push('}');
    } else if raw.is_array() {
        out.push('[');
        for (at, item) in raw.items().enumerate() {
            if at > 0 {
                out.push(',');
            }
            write(item, out, depth_left - 1);
        }
        out.push(']');
    } else {
        out.push_str(raw.as_str());
    }
}
