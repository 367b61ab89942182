//! Questions of MCP servers: a form to fill in, or a URL to open.

use std::collections::BTreeSet;

use tidings_protocol::control::{Elicitation, ElicitationAnswer, ElicitationMode};
use tidings_protocol::json::{Json, Raw, write_string};
use tidings_protocol::ui::QuestionType;

use super::inquiry::{Choice, Field, Inquiry, Origin, Reply};
use crate::limits::{CHOICES_MAX, FORM_FIELDS_MAX};
use crate::permissions::visible;

/// The format of a valid answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum AnswerFormat {
    /// Any text.
    #[default]
    Text,
    /// Text with a length, format or pattern.
    String { length: Bounds<u64>, format: Option<String>, pattern: Option<String> },
    /// A number.
    Number(Bounds<f64>),
    /// An integer.
    Integer(Bounds<f64>),
    /// Yes or no.
    Flag,
    /// One or several of these values, in the order of the choices, with limits for their number.
    OneOf { values: Vec<String>, count: Bounds<u64> },
}

/// Lower and upper limit, where given.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Bounds<T> {
    pub(super) min: Option<T>,
    pub(super) max: Option<T>,
}

const YES: &str = "Yes";
const NO: &str = "No";
const OPENED: &str = "I have opened it";
const ACCEPT: &str = "Accept";
const DECLINE: &str = "Decline";
/// Id of the question of a form without fields, and of a URL.
const CONFIRM: &str = "confirm";

pub(super) fn fields(call: &Elicitation) -> (Origin, Vec<Field>) {
    let is_address = call.mode == Some(ElicitationMode::URL) || (call.mode.is_none() && call.url.is_some());
    if is_address {
        return (Origin::Address(Box::new(call.clone())), vec![address(call)]);
    }
    let mut fields =
        call.requested_schema.as_ref().map(|schema| properties(call, schema.raw())).unwrap_or_default();
    match fields.first_mut() {
        // The events have no other field for the message.
        Some(first) => first.question.text = format!("{}\n{}", call.message, first.question.text),
        None => fields.push(confirm(call.message.clone(), ACCEPT)),
    }
    (Origin::Form(Box::new(call.clone())), fields)
}

fn address(call: &Elicitation) -> Field {
    let url = call.url.as_deref().unwrap_or_default();
    let is_web = ["https://", "http://"]
        .iter()
        .any(|scheme| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    // Other schemes start programs: the URL is shown, and opening it is not offered.
    let text = format!("{}\n{}", call.message, visible(url, usize::MAX));
    let mut field = confirm(text, OPENED);
    if !is_web {
        field.choices.remove(0);
        field.question.options = Some(vec![DECLINE.to_owned()]);
    }
    field
}

fn confirm(text: String, yes: &str) -> Field {
    let choices = vec![Choice::new(yes), Choice::new(DECLINE)];
    let mut field = Field::choice(CONFIRM, text, QuestionType::SingleChoice, choices);
    field.takes_other = false;
    field
}

/// Creates a question for each property, in the order given by the CLI.
fn properties(call: &Elicitation, schema: Raw<'_>) -> Vec<Field> {
    let Some(properties) = schema.get("properties") else {
        return Vec::new();
    };
    let required: BTreeSet<String> =
        schema.get("required").into_iter().flat_map(Raw::items).filter_map(text_of).collect();
    let order = call.property_order.clone().unwrap_or_default();
    let rest =
        properties.members().map(|(key, _)| key.get().into_owned()).filter(|name| !order.contains(name));
    let names: Vec<String> = order.iter().cloned().chain(rest).take(FORM_FIELDS_MAX).collect();
    let mut fields: Vec<Field> = Vec::new();
    for name in names {
        let Some(property) = properties.get(&name) else {
            continue;
        };
        if fields.iter().any(|field| field.question.id == name) {
            continue;
        }
        let mut field = property_field(&name, property);
        field.question.required = required.contains(&name);
        field.default = property.get("default").and_then(default_text);
        fields.push(field);
    }
    fields
}

fn property_field(name: &str, property: Raw<'_>) -> Field {
    let get = |key: &str| property.get(key).and_then(text_of);
    let mut text = get("title").unwrap_or_else(|| name.to_owned());
    if let Some(description) = get("description") {
        text.push_str(": ");
        text.push_str(&description);
    }
    let kind = get("type").unwrap_or_default();
    if kind == "array" {
        let items = property.get("items").map(options).unwrap_or_default();
        let count = Bounds {
            min: property.get("minItems").and_then(Raw::u64),
            max: property.get("maxItems").and_then(Raw::u64),
        };
        return chosen(name, text, QuestionType::MultiChoice, items, count);
    }
    let single = options(property);
    if !single.is_empty() {
        return chosen(name, text, QuestionType::SingleChoice, single, Bounds::default());
    }
    let range = Bounds {
        min: property.get("minimum").and_then(Raw::f64),
        max: property.get("maximum").and_then(Raw::f64),
    };
    let mut field = match kind.as_str() {
        "boolean" => {
            let choices = vec![Choice::new(YES), Choice::new(NO)];
            Field::choice(name, text, QuestionType::SingleChoice, choices)
        }
        _ => Field::text(name, text),
    };
    field.takes_other = kind != "boolean";
    field.format = match kind.as_str() {
        "boolean" => AnswerFormat::Flag,
        "number" => AnswerFormat::Number(range),
        "integer" => AnswerFormat::Integer(range),
        _ => AnswerFormat::String {
            length: Bounds {
                min: property.get("minLength").and_then(Raw::u64),
                max: property.get("maxLength").and_then(Raw::u64),
            },
            format: get("format"),
            pattern: get("pattern"),
        },
    };
    field
}

fn chosen(
    name: &str,
    text: String,
    kind: QuestionType,
    items: Vec<(String, String)>,
    count: Bounds<u64>,
) -> Field {
    let (values, labels): (Vec<String>, Vec<String>) = items.into_iter().unzip();
    let mut field = Field::choice(name, text, kind, labels.into_iter().map(Choice::new).collect());
    field.takes_other = false;
    field.format = AnswerFormat::OneOf { values, count };
    field
}

/// The values of an enumeration with their titles, in all notations of the protocol.
fn options(schema: Raw<'_>) -> Vec<(String, String)> {
    let titled = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(key)).map(|list| {
        let pair = |item: Raw<'_>| {
            let value = item.get("const").and_then(text_of)?;
            let title = item.get("title").and_then(text_of).unwrap_or_else(|| value.clone());
            Some((value, title))
        };
        list.items().filter_map(pair).take(CHOICES_MAX).collect()
    });
    if let Some(titled) = titled {
        return titled;
    }
    let values: Vec<String> =
        schema.get("enum").into_iter().flat_map(Raw::items).filter_map(text_of).take(CHOICES_MAX).collect();
    let names: Vec<String> =
        schema.get("enumNames").into_iter().flat_map(Raw::items).filter_map(text_of).collect();
    let name = |at: usize, value: &String| names.get(at).unwrap_or(value).clone();
    values.iter().enumerate().map(|(at, value)| (value.clone(), name(at, value))).collect()
}

/// Converts validated answers into the reply to the server.
pub(super) fn answer(inquiry: &Inquiry, answers: &[Reply]) -> ElicitationAnswer {
    let first = inquiry.fields.first();
    if let Some(field) =
        first.filter(|field| field.question.id == CONFIRM && field.format == AnswerFormat::Text)
    {
        return match inquiry.answered(field, answers).first().copied() {
            Some(OPENED) => ElicitationAnswer::accept(None),
            Some(ACCEPT) => ElicitationAnswer::accept(Json::parse("{}").ok()),
            _ => ElicitationAnswer::decline(),
        };
    }
    let mut content = String::from("{");
    for field in &inquiry.fields {
        let texts = inquiry.answered(field, answers);
        if texts.is_empty() {
            continue;
        }
        if content.len() > 1 {
            content.push(',');
        }
        write_string(&field.question.id, &mut content);
        content.push(':');
        write_value(field, &texts, &mut content);
    }
    content.push('}');
    ElicitationAnswer::accept(Json::parse(&content).ok())
}

fn write_value(field: &Field, texts: &[&str], out: &mut String) {
    let first = texts.first().copied().unwrap_or_default();
    match &field.format {
        AnswerFormat::Text | AnswerFormat::String { .. } => write_string(first, out),
        AnswerFormat::Flag => out.push_str(if flag(first) == Some(true) { "true" } else { "false" }),
        AnswerFormat::Number(_) | AnswerFormat::Integer(_) => {
            // Leading zeros and the like are not valid JSON.
            match Raw::parse(first) {
                Ok(raw) if raw.f64().is_some() => out.push_str(raw.as_str()),
                _ => out.push_str(&first.parse::<f64>().unwrap_or_default().to_string()),
            }
        }
        AnswerFormat::OneOf { values, .. } => {
            let value = |text: &str| {
                let at = field.choices.iter().position(|choice| choice.label == text);
                at.and_then(|at| values.get(at)).map_or(text, String::as_str).to_owned()
            };
            if field.question.question_type != QuestionType::MultiChoice {
                return write_string(&value(first), out);
            }
            out.push('[');
            for (at, text) in texts.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_string(&value(text), out);
            }
            out.push(']');
        }
    }
}

/// Parses yes and no as written by a user or a program.
pub(super) fn flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "true" | "y" | "1" => Some(true),
        "no" | "false" | "n" | "0" => Some(false),
        _ => None,
    }
}

fn text_of(raw: Raw<'_>) -> Option<String> {
    Some(raw.text()?.get().into_owned())
}

fn default_text(raw: Raw<'_>) -> Option<String> {
    match (raw.text(), raw.bool()) {
        (Some(text), _) => Some(text.get().into_owned()),
        (None, Some(flag)) => Some(if flag { YES } else { NO }.to_owned()),
        (None, None) => raw.f64().map(|_| raw.as_str().to_owned()),
    }
}
