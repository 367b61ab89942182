//! The requirement of the API for tools: their input is an object.

use tidings_protocol::json::Raw;

/// The API's error message for the first tool of a request whose input is not an object; `None` if all are.
///
/// Tools that the API runs itself have no schema.
pub(crate) fn refusal_of_tools<'a>(tools: impl Iterator<Item = Raw<'a>>) -> Option<String> {
    let mut schemas = tools.enumerate().filter_map(|(index, tool)| Some((index, tool.get("input_schema")?)));
    schemas.find_map(|(index, schema)| refusal(index, schema))
}

/// The API's error message for the schema of the tool at this position.
pub(crate) fn refusal(index: usize, schema: Raw<'_>) -> Option<String> {
    let at = format!("tools.{index}.custom.input_schema");
    match schema.get("type").map(|kind| kind.text().map(|kind| kind.get().into_owned())) {
        None => Some(format!("{at}.type: Field required")),
        Some(Some(kind)) if kind == "object" => {
            let has = |key: &&str| schema.get(key).is_some();
            ["oneOf", "allOf", "anyOf"].iter().any(has).then(|| {
                format!("{at}: input_schema does not support oneOf, allOf, or anyOf at the top level")
            })
        }
        Some(_) => Some(format!("{at}.type: Input should be 'object'")),
    }
}
