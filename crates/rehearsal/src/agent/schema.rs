//! Validation of structured output against its schema, with the CLI's own error messages.

use regex::Regex;
use serde_json::Value;

/// Maximum length of a chain of references; a schema may refer to itself.
const DEPTH_MAX: usize = 64;

/// Failed attempts after which the CLI ends the turn.
pub(super) const ATTEMPTS_MAX: usize = 5;

/// Error message for the model about output that does not match; `None` if it matches.
pub(super) fn mismatch(schema: &Value, output: &Value) -> Option<String> {
    let mut errors = Vec::new();
    Check { root: schema, errors: &mut errors }.check(schema, output, "", 0);
    (!errors.is_empty()).then(|| format!("Output does not match required schema: {}", errors.join(", ")))
}

struct Check<'a> {
    root: &'a Value,
    errors: &'a mut Vec<String>,
}

impl Check<'_> {
    fn check(&mut self, schema: &Value, value: &Value, at: &str, depth: usize) {
        if depth > DEPTH_MAX {
            return;
        }
        if schema == &Value::Bool(false) {
            return self.fail(at, "boolean schema is false");
        }
        if let Some(target) = schema.get("$ref").and_then(Value::as_str).and_then(|at| at.strip_prefix('#'))
            && let Some(target) = self.root.pointer(target)
        {
            self.check(target, value, at, depth + 1);
        }
        let before = self.errors.len();
        self.kind(schema, value, at);
        if self.errors.len() > before {
            // The other keywords apply to values of the right type.
            return;
        }
        match value {
            Value::Object(_) => self.object(schema, value, at, depth),
            Value::Array(items) => self.array(schema, items, at, depth),
            Value::String(text) => {
                let length = text.chars().count() as u64;
                self.least(schema, "minLength", length, at, "characters");
                self.most(schema, "maxLength", length, at, "characters");
                self.pattern(schema, text, at);
            }
            Value::Number(number) => self.number(schema, number.as_f64().unwrap_or_default(), at),
            _ => {}
        }
        self.combined(schema, value, at, depth);
    }

    fn kind(&mut self, schema: &Value, value: &Value, at: &str) {
        let types: Vec<&str> = match schema.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let is_null = value.is_null() && schema.get("nullable") == Some(&Value::Bool(true));
        if !types.is_empty() && !is_null && !types.iter().any(|name| is_a(value, name)) {
            self.fail(at, &format!("must be {}", types.join(",")));
        }
        if let Some(Value::Array(allowed)) = schema.get("enum")
            && !allowed.iter().any(|other| is_same(other, value))
        {
            self.fail(at, "must be equal to one of the allowed values");
        }
        if schema.get("const").is_some_and(|other| !is_same(other, value)) {
            self.fail(at, "must be equal to constant");
        }
    }

    fn object(&mut self, schema: &Value, value: &Value, at: &str, depth: usize) {
        let Some(members) = value.as_object() else { return };
        for key in
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
        {
            if !members.contains_key(key) {
                self.fail(at, &format!("must have required property '{key}'"));
            }
        }
        let known = schema.get("properties").and_then(Value::as_object);
        if let Some(more) = schema.get("additionalProperties")
            && schema.get("patternProperties").is_none()
        {
            for (key, value) in
                members.iter().filter(|(key, _)| known.is_none_or(|known| !known.contains_key(*key)))
            {
                if more == &Value::Bool(false) {
                    self.fail(at, &format!("must NOT have additional properties ('{key}' is not allowed)"));
                } else {
                    self.check(more, value, &format!("{at}/{key}"), depth + 1);
                }
            }
        }
        for (key, schema) in known.into_iter().flatten() {
            if let Some(value) = members.get(key) {
                self.check(schema, value, &format!("{at}/{key}"), depth + 1);
            }
        }
    }

    fn array(&mut self, schema: &Value, items: &[Value], at: &str, depth: usize) {
        let length = items.len() as u64;
        self.least(schema, "minItems", length, at, "items");
        self.most(schema, "maxItems", length, at, "items");
        for (index, item) in items.iter().enumerate() {
            let schema = match schema.get("items") {
                Some(Value::Array(schemas)) => schemas.get(index).or_else(|| schema.get("additionalItems")),
                one => one,
            };
            if let Some(schema) = schema {
                self.check(schema, item, &format!("{at}/{index}"), depth + 1);
            }
        }
    }

    /// A pattern that only JavaScript understands matches everything.
    fn pattern(&mut self, schema: &Value, text: &str, at: &str) {
        let Some(pattern) = schema.get("pattern").and_then(Value::as_str) else { return };
        if Regex::new(pattern).is_ok_and(|regex| !regex.is_match(text)) {
            self.fail(at, &format!("must match pattern \"{pattern}\""));
        }
    }

    fn number(&mut self, schema: &Value, number: f64, at: &str) {
        let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
        let broken = [
            (">=", limit("minimum").filter(|limit| number < *limit)),
            ("<=", limit("maximum").filter(|limit| number > *limit)),
            (">", limit("exclusiveMinimum").filter(|limit| number <= *limit)),
            ("<", limit("exclusiveMaximum").filter(|limit| number >= *limit)),
        ];
        for (sign, limit) in broken {
            if let Some(limit) = limit {
                self.fail(at, &format!("must be {sign} {limit}"));
            }
        }
    }

    fn combined(&mut self, schema: &Value, value: &Value, at: &str, depth: usize) {
        let list = |key: &str| schema.get(key).and_then(Value::as_array);
        for schema in list("allOf").into_iter().flatten() {
            self.check(schema, value, at, depth + 1);
        }
        if let Some(schemas) = list("anyOf")
            && !schemas.iter().any(|schema| self.fits(schema, value, depth))
        {
            self.fail(at, "must match a schema in anyOf");
        }
        if let Some(schemas) = list("oneOf")
            && schemas.iter().filter(|schema| self.fits(schema, value, depth)).count() != 1
        {
            self.fail(at, "must match exactly one schema in oneOf");
        }
        if schema.get("not").is_some_and(|schema| self.fits(schema, value, depth)) {
            self.fail(at, "must NOT be valid");
        }
    }

    fn fits(&self, schema: &Value, value: &Value, depth: usize) -> bool {
        let mut errors = Vec::new();
        Check { root: self.root, errors: &mut errors }.check(schema, value, "", depth + 1);
        errors.is_empty()
    }

    fn least(&mut self, schema: &Value, key: &str, length: u64, at: &str, of: &str) {
        if let Some(limit) = schema.get(key).and_then(Value::as_u64).filter(|limit| length < *limit) {
            self.fail(at, &format!("must NOT have fewer than {limit} {of}"));
        }
    }

    fn most(&mut self, schema: &Value, key: &str, length: u64, at: &str, of: &str) {
        if let Some(limit) = schema.get(key).and_then(Value::as_u64).filter(|limit| length > *limit) {
            self.fail(at, &format!("must NOT have more than {limit} {of}"));
        }
    }

    fn fail(&mut self, at: &str, message: &str) {
        let at = if at.is_empty() { "root" } else { at };
        self.errors.push(format!("{at}: {message}"));
    }
}

fn is_a(value: &Value, name: &str) -> bool {
    match name {
        "array" => value.is_array(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "object" => value.is_object(),
        "string" => value.is_string(),
        _ => false,
    }
}

/// Compares numbers as JSON Schema does: `1` equals `1.0`.
fn is_same(left: &Value, right: &Value) -> bool {
    match (left.as_f64(), right.as_f64()) {
        (Some(left), Some(right)) => left.total_cmp(&right).is_eq(),
        _ => left == right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// D8: output is validated, and a mismatch is reported with the messages of the CLI.
    #[test]
    fn d8_an_output_that_does_not_fit_is_told_as_the_cli_tells_it() {
        let schema = json!({
            "type": "object",
            "properties": {
                "count": {"type": "integer", "minimum": 1},
                "name": {"type": "string", "minLength": 1},
                "kind": {"enum": ["a", "b"]},
                "code": {"type": "string", "pattern": "^[a-z]{2}$"},
                "other": {"type": "string", "pattern": "(?=x)"},
                "list": {"type": "array", "items": {"$ref": "#/$defs/Item"}, "maxItems": 2},
                "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            },
            "required": ["name", "count"],
            "additionalProperties": false,
            "$defs": {"Item": {"type": ["number", "null"]}},
        });
        let cases = [
            (json!({"name": "x", "count": 1, "kind": "a", "list": [1.5, null], "either": null}), None),
            (json!({"name": "x", "count": 2.0, "code": "de", "other": "y"}), None),
            (
                json!({"name": "x", "count": 2, "code": "deu"}),
                Some("/code: must match pattern \"^[a-z]{2}$\""),
            ),
            (
                json!({"name": 3, "count": 0, "more": "x"}),
                Some(
                    "root: must NOT have additional properties ('more' is not allowed), /count: must be >= 1, /name: must be string",
                ),
            ),
            (json!({"name": "x"}), Some("root: must have required property 'count'")),
            (json!("text"), Some("root: must be object")),
            (json!({"name": "", "count": 1}), Some("/name: must NOT have fewer than 1 characters")),
            (json!({"name": "x", "count": 1.5}), Some("/count: must be integer")),
            (
                json!({"name": "x", "count": 1, "kind": "c"}),
                Some("/kind: must be equal to one of the allowed values"),
            ),
            (json!({"name": "x", "count": 1, "list": ["y"]}), Some("/list/0: must be number,null")),
            (
                json!({"name": "x", "count": 1, "list": [1, 2, 3]}),
                Some("/list: must NOT have more than 2 items"),
            ),
            (json!({"name": "x", "count": 1, "either": 1}), Some("/either: must match a schema in anyOf")),
        ];
        for (output, expected) in cases {
            let expected = expected.map(|words| format!("Output does not match required schema: {words}"));
            assert_eq!(mismatch(&schema, &output), expected, "{output}");
        }
        // A schema that refers to itself terminates.
        assert_eq!(mismatch(&json!({"$ref": "#"}), &json!(1)), None);
    }
}
