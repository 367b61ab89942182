//! Refuses unknown keys in request bodies, so that a misspelt key is not silently ignored.
//!
//! The known keys are taken from the `OpenAPI` schemas, so the two cannot differ.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::{ArrayItems, Schema};
use utoipa::openapi::{Ref, RefOr};

use crate::error::{Code, Error};

/// Refuses a value with a key that its schema does not have, at any depth.
pub(crate) fn check<T: ToSchema>(body: &Value) -> Result<(), Error> {
    let mut named = Vec::new();
    T::schemas(&mut named);
    Shapes(named.into_iter().collect()).check(&T::schema(), body, "")
}

type Shape = RefOr<Schema>;
type Fields<'a> = BTreeMap<&'a str, &'a Shape>;

/// Schemas by name.
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
        match shape {
            RefOr::Ref(named) => self.named(named).map(|shape| self.fields(shape)).unwrap_or_default(),
            RefOr::T(Schema::Object(object)) => {
                object.properties.iter().map(|(key, shape)| (key.as_str(), shape)).collect()
            }
            RefOr::T(Schema::AllOf(all)) => self.all_fields(&all.items),
            RefOr::T(Schema::OneOf(one)) => self.all_fields(&one.items),
            RefOr::T(Schema::AnyOf(any)) => self.all_fields(&any.items),
            RefOr::T(_) => Fields::new(),
        }
    }

    fn all_fields<'a>(&'a self, shapes: &'a [Shape]) -> Fields<'a> {
        shapes.iter().flat_map(|shape| self.fields(shape)).collect()
    }

    fn items<'a>(&'a self, shape: &'a Shape) -> Option<&'a Shape> {
        match shape {
            RefOr::Ref(named) => self.items(self.named(named)?),
            RefOr::T(Schema::Array(array)) => match &array.items {
                ArrayItems::RefOrSchema(item) => Some(item),
                ArrayItems::False => None,
            },
            RefOr::T(_) => None,
        }
    }

    fn named(&self, named: &Ref) -> Option<&Shape> {
        self.0.get(named.ref_location.rsplit('/').next()?)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tidings_protocol::api::{BatchAnswer, CreateSession, FleetContinue, Input, PatchSession};

    use super::*;

    fn refused<T: ToSchema>(body: &Value) -> Option<(String, String)> {
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
