//! Refuses unknown keys in request bodies, so that a misspelt key is not silently ignored.
//!
//! The known keys are taken from the `OpenAPI` document, so the two cannot differ.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;
use tidings_api::Code;
use tidings_sessions::Error;

/// The schemas of the document by name. Read once, when the first body arrives.
static SHAPES: LazyLock<Option<Shapes>> = LazyLock::new(|| {
    let read = super::openapi::openapi().map_err(serde_json::Error::io);
    match read.and_then(|text| serde_json::from_str::<Document>(&text)) {
        Ok(document) => Some(document.components.schemas),
        Err(error) => {
            tracing::error!(%error, "the embedded description of the API cannot be read");
            None
        }
    }
});

/// Refuses a value with a key that the schema of its type does not have, at any depth.
pub(crate) fn check<T>(body: &Value) -> Result<(), Error> {
    let name = name::<T>();
    let known = SHAPES.as_ref().and_then(|shapes| Some((shapes, shapes.0.get(name)?)));
    let Some((shapes, shape)) = known else {
        let message = format!("The keys of `{name}` are not known");
        return Err(Error::new(Code::Internal, message, "this is a bug: please report it"));
    };
    shapes.check(shape, body, "")
}

/// The name of a type in the document.
fn name<T>() -> &'static str {
    std::any::type_name::<T>().rsplit("::").next().unwrap_or_default()
}

#[derive(Deserialize)]
struct Document {
    components: Components,
}

#[derive(Deserialize)]
struct Components {
    schemas: Shapes,
}

/// What of a schema says which keys a value has.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Shape {
    #[serde(rename = "$ref")]
    named: Option<String>,
    properties: BTreeMap<String, Shape>,
    items: Option<Items>,
    all_of: Vec<Shape>,
    one_of: Vec<Shape>,
    any_of: Vec<Shape>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Items {
    Shape(Box<Shape>),
    /// `false`: there are none.
    Other(#[expect(dead_code, reason = "read to be skipped")] bool),
}

type Fields<'a> = BTreeMap<&'a str, &'a Shape>;

/// Schemas by name.
#[derive(Deserialize)]
#[serde(transparent)]
struct Shapes(HashMap<String, Shape>);

impl Shapes {
    fn check(&self, shape: &Shape, value: &Value, path: &str) -> Result<(), Error> {
        match value {
            Value::Object(object) => {
                let fields = self.fields(shape);
                // The keys of some objects, such as labels, are chosen by the client.
                if fields.is_empty() {
                    return Ok(());
                }
                object.iter().try_for_each(|(key, value)| match fields.get(key.as_str()) {
                    Some(field) => self.check(field, value, &format!("{path}{key}.")),
                    None => Err(self.unknown(&format!("{path}{key}"), key, &fields)),
                })
            }
            Value::Array(items) => match self.items(shape) {
                Some(item) => items.iter().try_for_each(|value| self.check(item, value, path)),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn unknown(&self, path: &str, key: &str, fields: &Fields<'_>) -> Error {
        let inside = fields.iter().find(|(_, field)| self.fields(field).contains_key(key));
        let hint = match inside {
            Some((name, _)) => format!("send it inside of `{name}`"),
            None => format!("known keys are `{}`", fields.keys().copied().collect::<Vec<_>>().join("`, `")),
        };
        Error::new(Code::Invalid, format!("Unknown key `{path}`"), hint)
    }

    /// The keys of an object; empty if it may have any.
    fn fields<'a>(&'a self, shape: &'a Shape) -> Fields<'a> {
        if let Some(named) = self.named(shape) {
            return self.fields(named);
        }
        let parts = shape.all_of.iter().chain(&shape.one_of).chain(&shape.any_of);
        let own = shape.properties.iter().map(|(key, shape)| (key.as_str(), shape));
        parts.flat_map(|part| self.fields(part)).chain(own).collect()
    }

    fn items<'a>(&'a self, shape: &'a Shape) -> Option<&'a Shape> {
        if let Some(named) = self.named(shape) {
            return self.items(named);
        }
        match shape.items.as_ref()? {
            Items::Shape(item) => Some(item),
            Items::Other(_) => None,
        }
    }

    fn named(&self, shape: &Shape) -> Option<&Shape> {
        self.0.get(shape.named.as_deref()?.rsplit('/').next()?)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tidings_api::{BatchAnswer, CreateSession, FleetContinue, Input, PatchSession};

    use super::*;

    fn refused<T>(body: &Value) -> Option<(String, String)> {
        let error = check::<T>(body).err()?;
        Some((error.message().to_owned(), error.hint().to_owned()))
    }

    #[test]
    fn an_unknown_key_is_named_with_the_known_ones() {
        let (message, hint) = refused::<CreateSession>(&json!({"cwd":"/","promt":"x"})).unwrap();
        assert_eq!(message, "Unknown key `promt`");
        assert!(hint.starts_with("known keys are `add_dirs`, ") && hint.contains("`prompt`"), "{hint}");
        let (message, hint) = refused::<PatchSession>(&json!({"budget_usd":10})).unwrap();
        assert_eq!(
            (message.as_str(), hint.as_str()),
            ("Unknown key `budget_usd`", "send it inside of `budget`")
        );
        for (path, body) in
            [("budget.dollars", json!({"budget":{"dollars":1}})), ("titel", json!({"title":"a","titel":"b"}))]
        {
            let message = refused::<PatchSession>(&body).unwrap().0;
            assert_eq!(message, format!("Unknown key `{path}`"));
        }
        let file = json!({"content":"","attachments":[{"media_type":"text/plain","data":"","path":"a"}]});
        assert_eq!(refused::<Input>(&file).unwrap().0, "Unknown key `attachments.path`");
    }

    #[test]
    fn r13_a_session_is_continued_with_an_idempotency_key() {
        assert_eq!(refused::<FleetContinue>(&json!({"client_id":"once"})), None);
    }

    #[test]
    fn objects_of_the_client_may_have_any_key() {
        let own = json!({"cwd":"/","labels":{"a":"b"},"mcp_config":{"mcpServers":{"x":{}}}});
        assert_eq!(refused::<CreateSession>(&own), None);
        assert_eq!(refused::<Input>(&json!({"content":"a","metadata":{"b":{"c":1}}})), None);
        let batch =
            |more: &str| json!({"answers":[{"index":0,"decision":"allow","updated_input":{"a":1},more:"x"}]});
        assert_eq!(refused::<BatchAnswer>(&batch("digest")), None, "flattened fields");
        assert_eq!(refused::<BatchAnswer>(&batch("digst")).unwrap().0, "Unknown key `answers.digst`");
    }
}
