//! Comparison of two values as JSON.

use std::collections::HashMap;

use super::{Raw, number};

/// Compares two values as JSON: ignores key order and the spelling of escapes and numbers. Of duplicate keys
/// the last counts, and a lone surrogate equals U+FFFD.
///
/// Works on the text without recursion, so depth and size of numbers do not matter.
pub fn same_json(left: Raw<'_>, right: Raw<'_>) -> bool {
    let mut pending = vec![(left, right)];
    while let Some((left, right)) = pending.pop() {
        if left == right {
            continue;
        }
        if left.is_object() && right.is_object() {
            let mut wanted: HashMap<_, _> = left.members().map(|(key, value)| (key.get(), value)).collect();
            let given: HashMap<_, _> = right.members().map(|(key, value)| (key.get(), value)).collect();
            for (key, right) in given {
                let Some(left) = wanted.remove(&key) else {
                    return false;
                };
                pending.push((left, right));
            }
            if !wanted.is_empty() {
                return false;
            }
        } else if left.is_array() && right.is_array() {
            let mut rights = right.items();
            for left in left.items() {
                let Some(right) = rights.next() else { return false };
                pending.push((left, right));
            }
            if rights.next().is_some() {
                return false;
            }
        } else if !same_scalar(left, right) {
            return false;
        }
    }
    true
}

fn same_scalar(left: Raw<'_>, right: Raw<'_>) -> bool {
    if let (Some(left), Some(right)) = (left.text(), right.text()) {
        return left.get() == right.get();
    }
    if number::is_integer(left.as_str()) && number::is_integer(right.as_str()) {
        // Equal integers have equal spellings, but for the sign of zero.
        return matches!((left.as_str(), right.as_str()), ("0" | "-0", "0" | "-0"));
    }
    let (Some(left), Some(right)) = (left.f64(), right.f64()) else {
        return false;
    };
    left.partial_cmp(&right).is_some_and(std::cmp::Ordering::is_eq)
}
