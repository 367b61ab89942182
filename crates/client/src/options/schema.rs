//! The schema of structured output, in the dialect of the CLI.
//!
//! The CLI compiles schemas with a strict validator of draft 7. It refuses a bad `--json-schema` at the
//! start, but silently drops a bad schema of the handshake, and the turn then ends without an output. So
//! schemas are checked here first.
//!
//! The model returns the output as the input of a tool, which the API requires to be an object: it refuses
//! every request with a tool whose schema has another type, or alternatives, at its root.

use tidings_protocol::json::{Json, Raw, write_string};

use crate::error::Error;

/// The deepest nesting of a schema. Generated schemas have a dozen levels.
const DEPTH_MAX: usize = 128;

/// The type of a keyword's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Anything,
    Text,
    Texts,
    Number,
    Count,
    Flag,
    List,
    Type,
    Schema,
    /// A schema, or a list of schemas.
    Items,
    Schemas,
    /// An object whose values are schemas.
    Named,
    /// An object whose values are schemas or lists of names.
    Dependencies,
}

/// The keywords that the CLI's validator supports.
fn takes(keyword: &str) -> Option<Takes> {
    Some(match keyword {
        "$id" | "$ref" | "$comment" | "title" | "description" | "format" | "pattern" | "contentMediaType"
        | "contentEncoding" => Takes::Text,
        "default" | "const" => Takes::Anything,
        "examples" | "enum" => Takes::List,
        "required" => Takes::Texts,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => Takes::Number,
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            Takes::Count
        }
        "uniqueItems" | "nullable" | "deprecated" | "readOnly" | "writeOnly" => Takes::Flag,
        "type" => Takes::Type,
        "items" => Takes::Items,
        "not"
        | "if"
        | "then"
        | "else"
        | "additionalItems"
        | "contains"
        | "propertyNames"
        | "additionalProperties"
        | "contentSchema" => Takes::Schema,
        "anyOf" | "oneOf" | "allOf" => Takes::Schemas,
        "properties" | "patternProperties" | "$defs" | "definitions" => Takes::Named,
        "dependencies" => Takes::Dependencies,
        _ => return None,
    })
}

const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// Checks the schema of an output and writes it in the dialect of the CLI, with the type `object` at its
/// root.
pub(super) fn of_output(schema: &Json) -> Result<Json, Error> {
    let written = normalise(schema)?;
    let root = written.raw();
    check_root(root, root, 0).map_err(|reason| {
        Error::invalid(
            format!("The result must be an object, and its schema has {reason} at the root"),
            "make it a field of a struct: the API refuses other schemas with every request",
        )
    })?;
    if root.get("type").is_some() {
        return Ok(written);
    }
    let rest = root.as_str().trim_start().trim_start_matches('{').trim_start();
    let comma = if rest == "}" { "" } else { "," };
    Json::parse(&format!(r#"{{"type":"object"{comma}{rest}"#)).map_err(|error| {
        Error::invalid("The schema of the result cannot be written", "see json-schema.org").caused_by(error)
    })
}

/// Refuses a schema that describes something other than an object, with the reason.
fn check_root(schema: Raw<'_>, root: Raw<'_>, depth: usize) -> Result<(), String> {
    if let Some(keyword) = ["anyOf", "oneOf", "allOf"].into_iter().find(|key| schema.get(key).is_some()) {
        return Err(format!("alternatives (`{keyword}`)"));
    }
    if let Some(kind) = schema.get("type") {
        let is_object = kind.text().is_some_and(|name| &*name.get() == "object");
        return if is_object { Ok(()) } else { Err(format!("the type `{}`", kind.as_str())) };
    }
    if let Some(keyword) = ["enum", "const"].into_iter().find(|key| schema.get(key).is_some()) {
        return Err(format!("fixed values (`{keyword}`)"));
    }
    let target = schema.get("$ref").and_then(Raw::text).map(|target| target.get().into_owned());
    match target.as_deref().and_then(|target| resolve(root, target)) {
        Some(_) if depth > DEPTH_MAX => Err("a reference to itself".to_owned()),
        Some(target) => check_root(target, root, depth + 1),
        None => Ok(()),
    }
}

/// The target of a reference into the schema.
fn resolve<'a>(root: Raw<'a>, target: &str) -> Option<Raw<'a>> {
    let mut found = root;
    for part in target.strip_prefix('#')?.split('/').skip(1) {
        let key = part.replace("~1", "/").replace("~0", "~").replace("%24", "$");
        found = match key.parse::<usize>() {
            Ok(index) if found.is_array() => found.items().nth(index)?,
            _ => found.get(&key)?,
        };
    }
    Some(found)
}

/// Checks a schema and writes it in the dialect of the CLI: without `$schema`, and with the keywords of draft
/// 7 in place of equivalent ones of later drafts. The order of members stays.
fn normalise(schema: &Json) -> Result<Json, Error> {
    let root = schema.raw();
    if !root.is_object() {
        return Err(Error::invalid("The schema of the result is not a JSON object", "see json-schema.org"));
    }
    let mut text = String::new();
    SchemaWriter { root, out: &mut text }.schema(root, "#", 0).map_err(|reason| {
        Error::invalid(
            format!("The schema of the result is not valid at {reason}"),
            "the CLI supports JSON Schema draft 7; see json-schema.org",
        )
    })?;
    Json::parse(&text).map_err(|error| {
        Error::invalid("The schema of the result cannot be written", "see json-schema.org").caused_by(error)
    })
}

struct SchemaWriter<'a> {
    root: Raw<'a>,
    out: &'a mut String,
}

impl SchemaWriter<'_> {
    fn schema(&mut self, schema: Raw<'_>, at: &str, depth: usize) -> Result<(), String> {
        if depth > DEPTH_MAX {
            return Err(format!("`{at}`: nested too deep"));
        }
        if schema.bool().is_some() {
            self.out.push_str(schema.as_str());
            return Ok(());
        }
        if !schema.is_object() {
            return Err(format!("`{at}`: a schema is an object, `true` or `false`"));
        }
        let is_tuple = schema.get("prefixItems").is_some();
        self.out.push('{');
        let mut is_first = true;
        for (key, value) in schema.members() {
            let key = key.get();
            let place = format!("{at}/{key}");
            let name = match &*key {
                "$schema" => continue,
                "prefixItems" => "items",
                "items" if is_tuple => "additionalItems",
                "dependentRequired" | "dependentSchemas" => "dependencies",
                other => other,
            };
            if !is_first {
                self.out.push(',');
            }
            is_first = false;
            write_string(name, self.out);
            self.out.push(':');
            let Some(kind) = takes(name) else {
                return Err(format!("`{place}`: unknown keyword"));
            };
            self.value(kind, value, &place, depth)?;
            if name == "$ref" {
                self.reference(value, &place)?;
            }
        }
        self.out.push('}');
        Ok(())
    }

    fn value(&mut self, kind: Takes, value: Raw<'_>, at: &str, depth: usize) -> Result<(), String> {
        match kind {
            Takes::Schema => return self.schema(value, at, depth + 1),
            Takes::Items if !value.is_array() => return self.schema(value, at, depth + 1),
            Takes::Items | Takes::Schemas => return self.list(value, at, depth),
            Takes::Named | Takes::Dependencies => return self.named(kind, value, at, depth),
            _ => {}
        }
        let fits = match kind {
            Takes::Text => value.text().is_some(),
            Takes::Texts => value.is_array() && value.items().all(|item| item.text().is_some()),
            Takes::Number => value.f64().is_some(),
            Takes::Count => {
                value.u64().is_some() || value.f64().is_some_and(|count| count >= 0.0 && count.fract() == 0.0)
            }
            Takes::Flag => value.bool().is_some(),
            Takes::List => value.is_array(),
            Takes::Type if value.is_array() => value.items().count() > 0 && value.items().all(is_type),
            Takes::Type => is_type(value),
            _ => true,
        };
        if !fits {
            let shown: String = value.as_str().chars().take(60).collect();
            return Err(format!("`{at}`: {} and not `{shown}`", wanted(kind)));
        }
        self.out.push_str(value.as_str());
        Ok(())
    }

    fn list(&mut self, value: Raw<'_>, at: &str, depth: usize) -> Result<(), String> {
        if !value.is_array() || value.items().next().is_none() {
            return Err(format!("`{at}`: must be a list of schemas"));
        }
        self.out.push('[');
        for (index, item) in value.items().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            self.schema(item, &format!("{at}/{index}"), depth + 1)?;
        }
        self.out.push(']');
        Ok(())
    }

    fn named(&mut self, kind: Takes, value: Raw<'_>, at: &str, depth: usize) -> Result<(), String> {
        if !value.is_object() {
            return Err(format!("`{at}`: must be an object of schemas"));
        }
        self.out.push('{');
        for (index, (key, value)) in value.members().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            write_string(&key.get(), self.out);
            self.out.push(':');
            let place = format!("{at}/{}", key.get());
            if kind == Takes::Dependencies && value.is_array() {
                self.value(Takes::Texts, value, &place, depth)?;
            } else {
                self.schema(value, &place, depth + 1)?;
            }
        }
        self.out.push('}');
        Ok(())
    }

    /// Checks that a reference into the schema has a target.
    fn reference(&self, value: Raw<'_>, at: &str) -> Result<(), String> {
        let target = value.text().map(|target| target.get().into_owned()).unwrap_or_default();
        if !target.starts_with('#') || resolve(self.root, &target).is_some() {
            return Ok(());
        }
        Err(format!("`{at}`: the schema has no `{target}`"))
    }
}

fn is_type(value: Raw<'_>) -> bool {
    value.text().is_some_and(|name| TYPES.contains(&&*name.get()))
}

fn wanted(kind: Takes) -> &'static str {
    match kind {
        Takes::Text => "must be a string",
        Takes::Texts => "must be a list of strings",
        Takes::Number => "must be a number",
        Takes::Count => "must be a non-negative integer",
        Takes::Flag => "must be `true` or `false`",
        Takes::List => "must be a list",
        Takes::Type => "must be a type of JSON Schema, such as `object` or `string`,",
        _ => "must be another value",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<String, String> {
        let json = Json::parse(text).expect("JSON");
        normalise(&json).map(|json| json.raw().as_str().to_owned()).map_err(|error| error.to_string())
    }

    /// D2: schemas of a later draft, as schemars writes them, are rewritten for the CLI; the order of members
    /// stays.
    #[test]
    fn d2_later_drafts_are_written_as_the_cli_takes_them() {
        for (given, expected) in [
            (
                r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Z","type":"object","properties":{"b":{"$ref":"#/$defs/B"},"a":{"type":["integer","null"],"format":"uint32","minimum":0}},"$defs":{"B":{"enum":[1,"x"]}}}"##,
                r##"{"title":"Z","type":"object","properties":{"b":{"$ref":"#/$defs/B"},"a":{"type":["integer","null"],"format":"uint32","minimum":0}},"$defs":{"B":{"enum":[1,"x"]}}}"##,
            ),
            (
                r#"{"type":"array","prefixItems":[{"type":"string"},true],"items":false,"minItems":2}"#,
                r#"{"type":"array","items":[{"type":"string"},true],"additionalItems":false,"minItems":2}"#,
            ),
            (r#"{"dependentRequired":{"a":["b"]}}"#, r#"{"dependencies":{"a":["b"]}}"#),
            (
                r#"{"properties":{"$schema":{"type":"string"}}}"#,
                r#"{"properties":{"$schema":{"type":"string"}}}"#,
            ),
            ("{}", "{}"),
        ] {
            assert_eq!(checked(given).as_deref(), Ok(expected));
        }
    }

    /// The API takes objects only as the input of a tool, and the output is one.
    #[test]
    fn d22_the_root_of_a_schema_is_an_object() {
        let written = |text: &str| {
            let schema = Json::parse(text).expect("JSON");
            of_output(&schema).map(|json| json.raw().as_str().to_owned()).map_err(|error| error.to_string())
        };
        for (given, expected) in [
            (r#"{"title":"A","type":"object"}"#, r#"{"title":"A","type":"object"}"#),
            ("{}", r#"{"type":"object"}"#),
            (r#"{"required":["a"]}"#, r#"{"type":"object","required":["a"]}"#),
            (
                r##"{"$ref":"#/$defs/A","$defs":{"A":{"type":"object"}}}"##,
                r##"{"type":"object","$ref":"#/$defs/A","$defs":{"A":{"type":"object"}}}"##,
            ),
        ] {
            assert_eq!(written(given).as_deref(), Ok(expected));
        }
        for (given, reason) in [
            (r#"{"type":"array","items":{"type":"string"}}"#, "the type `\"array\"`"),
            (r#"{"type":["object","null"]}"#, "the type `[\"object\",\"null\"]`"),
            (r#"{"enum":["a","b"]}"#, "fixed values (`enum`)"),
            (r#"{"oneOf":[{"type":"object"},{"const":"a"}]}"#, "alternatives (`oneOf`)"),
            (r#"{"type":"object","anyOf":[{"required":["a"]}]}"#, "alternatives (`anyOf`)"),
            (r##"{"$ref":"#/$defs/A","$defs":{"A":{"type":"array"}}}"##, "the type `\"array\"`"),
            (r##"{"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/A"}}}"##, "a reference to itself"),
        ] {
            let error = written(given).expect_err(given);
            assert!(error.contains(reason), "{error}");
        }
    }

    /// D2: a schema that the CLI would silently drop is refused, with the path of the mistake.
    #[test]
    fn d2_a_nonsense_schema_is_refused() {
        for (given, place) in [
            ("[]", "not a JSON object"),
            (r#"{"type":"strng"}"#, "#/type"),
            (r#"{"foo":1}"#, "#/foo"),
            (r#"{"properties":{"a":{"type":"object","properties":[]}}}"#, "#/properties/a/properties"),
            (r#"{"properties":{"a":"string"}}"#, "#/properties/a"),
            (r#"{"required":"a"}"#, "#/required"),
            (r#"{"anyOf":[]}"#, "#/anyOf"),
            (r#"{"items":[{"minimum":"0"}]}"#, "#/items/0/minimum"),
            (r##"{"properties":{"a":{"$ref":"#/$defs/B"}}}"##, "#/$defs/B"),
            (r#"{"minLength":-1}"#, "#/minLength"),
        ] {
            let error = checked(given).expect_err(given);
            assert!(error.contains(place), "{error}");
        }
        let deep = format!("{}true{}", r#"{"not":"#.repeat(200), "}".repeat(200));
        assert!(checked(&deep).expect_err("deep").contains("nested too deep"));
    }
}
