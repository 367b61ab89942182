//! Numbers as written. Integers are never converted through a double; doubles are the nearest ones (std's
//! parser, so that no serde feature of another crate changes the last digit of a cost).

/// Limit above which an integral double no longer identifies one integer.
const EXACT: f64 = 9_007_199_254_740_992.0;

pub(super) fn is_integer(text: &str) -> bool {
    !text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
}

fn is_number(text: &str) -> bool {
    matches!(text.as_bytes().first(), Some(b'-' | b'0'..=b'9'))
}

pub(super) fn u64(text: &str) -> Option<u64> {
    match text.parse() {
        Ok(number) => Some(number),
        Err(_) => u64::try_from(integral(text)?).ok(),
    }
}

pub(super) fn i64(text: &str) -> Option<i64> {
    match text.parse() {
        Ok(number) => Some(number),
        Err(_) => integral(text),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "checked to be integral and exact just before")]
fn integral(text: &str) -> Option<i64> {
    if is_integer(text) && text != "-0" {
        return None;
    }
    let number = f64(text)?;
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

pub(super) fn f64(text: &str) -> Option<f64> {
    if !is_number(text) {
        return None;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}
