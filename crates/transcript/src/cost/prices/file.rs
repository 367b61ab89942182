//! Price files.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{Price, Rates, model, table};
use crate::{Error, ErrorKind};

/// Units per token of one dollar per million tokens.
const PER_MILLION: u128 = 1_000_000;
/// Units per item of one dollar per thousand.
const PER_THOUSAND: u128 = 1_000_000_000;

/// The prices in a file, by the plain name of the model.
pub(super) fn parse(text: &str) -> Result<HashMap<String, Price>, Error> {
    let file: Value =
        serde_json::from_str(text).map_err(|error| invalid(&format!("it is not JSON: {error}")))?;
    let Value::Object(models) = file else {
        return Err(invalid("it is not an object with models as keys"));
    };
    models.iter().map(|(name, price)| Ok((model::plain(name).into_owned(), read(name, price)?))).collect()
}

fn read(name: &str, price: &Value) -> Result<Price, Error> {
    const KEYS: [&str; 6] =
        ["input", "output", "cache_write_5m", "cache_write_1h", "cache_read", "web_search"];
    let Value::Object(price) = price else {
        return Err(invalid(&format!("the price of `{name}` is not an object")));
    };
    if let Some(key) = price.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(invalid(&format!("`{name}` has an unknown key: `{key}`")));
    }
    let needed = |key| {
        let missing = || invalid(&format!("`{name}` has no `{key}`"));
        amount(name, price, key, PER_MILLION)?.ok_or_else(missing)
    };
    let (input, output) = (needed("input")?, needed("output")?);
    let or = |key, unit, usual| Ok::<u128, Error>(amount(name, price, key, unit)?.unwrap_or(usual));
    let rates = Rates {
        input,
        output,
        cache_write_5m: or("cache_write_5m", PER_MILLION, input * 5 / 4)?,
        cache_write_1h: or("cache_write_1h", PER_MILLION, input * 2)?,
        cache_read: or("cache_read", PER_MILLION, input / 10)?,
        web_search: or("web_search", PER_THOUSAND, 10 * PER_THOUSAND)?,
    };
    // A price file has no key for the faster mode; it costs the usual multiple.
    let fast = table::find(&model::plain(name)).and_then(|known| known.fast).unwrap_or(1);
    Ok(Price { rates, long: None, fast: Some(fast) })
}

fn amount(name: &str, price: &Map<String, Value>, key: &str, unit: u128) -> Result<Option<u128>, Error> {
    let Some(value) = price.get(key) else { return Ok(None) };
    let wrong = || invalid(&format!("`{key}` of `{name}` is not an amount of dollars: `{value}`"));
    let Value::Number(number) = value else { return Err(wrong()) };
    parts(&number.to_string(), unit).map(Some).ok_or_else(wrong)
}

/// A decimal number times `unit`, exactly; smaller digits are cut off.
fn parts(text: &str, unit: u128) -> Option<u128> {
    /// Above any real price, so that sums stay in range.
    const MAX: f64 = 1e9;
    let value: f64 = text.parse().ok()?;
    if !(0.0..=MAX).contains(&value) {
        return None;
    }
    // Exponents (`1e-7`) are rare and small; a decimal with enough digits is the same number.
    let decimal = if text.contains(['e', 'E']) { format!("{value:.12}") } else { text.to_owned() };
    let (whole, rest) = decimal.split_once('.').unwrap_or((&decimal, ""));
    let mut sum = whole.parse::<u128>().ok()?.checked_mul(unit)?;
    let mut place = unit;
    for digit in rest.chars() {
        place /= 10;
        sum += u128::from(digit.to_digit(10)?) * place;
    }
    Some(sum)
}

fn invalid(why: &str) -> Error {
    let message = format!("The price file cannot be used: {why}");
    Error::new(
        ErrorKind::Invalid,
        message,
        r#"it should look like {"model-id":{"input":3,"output":15}}, in dollars per million tokens"#,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_prices_are_exact() {
        for (text, expected) in [
            ("3", 3_000_000),
            ("0.1", 100_000),
            ("0.0375", 37_500),
            ("6.25", 6_250_000),
            ("1e-1", 100_000),
            ("0", 0),
            ("0.0000001", 0),
        ] {
            assert_eq!(parts(text, PER_MILLION), Some(expected), "{text}");
        }
        for text in ["-1", "1e12", "x"] {
            assert_eq!(parts(text, PER_MILLION), None, "{text}");
        }
    }

    #[test]
    fn a_bad_price_file_says_what_is_wrong_with_it() {
        let cases = [
            ("{", "it is not JSON: EOF while parsing an object at line 1 column 1"),
            ("[]", "it is not an object with models as keys"),
            (r#"{"m":3}"#, "the price of `m` is not an object"),
            (r#"{"m":{"output":3}}"#, "`m` has no `input`"),
            (r#"{"m":{"input":"3","output":3}}"#, "`input` of `m` is not an amount of dollars: `\"3\"`"),
            (r#"{"m":{"input":-3,"output":3}}"#, "`input` of `m` is not an amount of dollars: `-3`"),
            (r#"{"m":{"input":3,"output":3,"cache_reed":1}}"#, "`m` has an unknown key: `cache_reed`"),
        ];
        for (text, why) in cases {
            let error = parse(text).unwrap_err();
            assert_eq!(error.to_string(), format!("The price file cannot be used: {why}"));
            assert_eq!(error.kind(), ErrorKind::Invalid);
        }
    }
}
