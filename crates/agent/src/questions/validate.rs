//! Validation of answers.

use regex::RegexBuilder;
use serde::Serialize;
use tidings_protocol::ui::{AskUserQuestionsRequest, QuestionType};

use super::form::{AnswerFormat, Bounds, flag};
use super::inquiry::{Field, Inquiry, Reply};
use crate::limits::ANSWER_BYTES_MAX;

/// An error in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Invalid {
    /// The question, as named in the answer.
    pub question: String,
    /// The error code, for programs.
    pub code: InvalidCode,
    /// The message, for the user.
    pub message: String,
}

/// Error codes for invalid answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InvalidCode {
    /// A required question has no answer.
    RequiredFieldEmpty,
    /// Too many choices were selected.
    TooManySelections,
    /// Too few choices were selected.
    TooFewSelections,
    /// A choice question has no choices.
    EmptyChoices,
    /// The question does not exist.
    UnknownQuestion,
    /// The choice does not exist, and free text is not accepted.
    UnknownChoice,
    /// The answer is not a number.
    NotANumber,
    /// The answer is not an integer.
    NotAnInteger,
    /// The answer is neither yes nor no.
    NotAFlag,
    /// The number is too small or too large.
    OutOfRange,
    /// The text is too short or too long.
    WrongLength,
    /// The text does not have the required format.
    WrongFormat,
}

/// Validates questions before they are shown: a choice question needs choices.
pub fn check_questions(request: &AskUserQuestionsRequest) -> Vec<Invalid> {
    let is_empty = |options: &Option<Vec<String>>| options.as_ref().is_none_or(Vec::is_empty);
    request
        .questions
        .iter()
        .filter(|question| question.question_type != QuestionType::FreeText && is_empty(&question.options))
        .map(|question| invalid(&question.id, InvalidCode::EmptyChoices, "This question has no choices"))
        .collect()
}

pub(super) fn answers(inquiry: &Inquiry, answers: &[Reply]) -> Vec<Invalid> {
    let is_unknown = |reply: &&Reply| !inquiry.fields.iter().any(|field| inquiry.is_for(reply, field));
    let unknown = answers
        .iter()
        .filter(is_unknown)
        .map(|reply| invalid(&reply.question, InvalidCode::UnknownQuestion, "This question does not exist"));
    let wrong = inquiry.fields.iter().filter_map(|field| {
        let (code, message) = check(field, &inquiry.answered(field, answers))?;
        Some(invalid(&field.question.id, code, &message))
    });
    unknown.chain(wrong).collect()
}

fn invalid(question: &str, code: InvalidCode, message: &str) -> Invalid {
    Invalid { question: question.to_owned(), code, message: message.to_owned() }
}

/// Validates the answer to one question.
fn check(field: &Field, texts: &[&str]) -> Option<(InvalidCode, String)> {
    let wrong = |code: InvalidCode, message: &str| Some((code, message.to_owned()));
    let Some(first) = texts.first() else {
        return if field.question.required {
            wrong(InvalidCode::RequiredFieldEmpty, "This question needs an answer")
        } else {
            None
        };
    };
    if texts.iter().any(|text| text.len() > ANSWER_BYTES_MAX) {
        return wrong(InvalidCode::WrongLength, "The answer is too long");
    }
    if texts.len() > 1 && field.question.question_type != QuestionType::MultiChoice {
        return wrong(InvalidCode::TooManySelections, "Only one choice is allowed");
    }
    let is_choice = |text: &&str| field.choices.iter().any(|choice| choice.label == *text);
    match &field.format {
        AnswerFormat::Text => {
            if field.takes_other || texts.iter().all(is_choice) {
                None
            } else {
                wrong(InvalidCode::UnknownChoice, "This is not one of the choices")
            }
        }
        AnswerFormat::OneOf { values, count } => {
            let is_value = |text: &&str| is_choice(text) || values.iter().any(|value| value == *text);
            if !texts.iter().all(is_value) {
                return wrong(InvalidCode::UnknownChoice, "This is not one of the choices");
            }
            let chosen = texts.len() as u64;
            if count.max.is_some_and(|max| chosen > max) {
                return wrong(InvalidCode::TooManySelections, "Too many choices are selected");
            }
            count
                .min
                .filter(|min| chosen < *min)
                .and_then(|_| wrong(InvalidCode::TooFewSelections, "Too few choices are selected"))
        }
        AnswerFormat::Flag => {
            flag(first).is_none().then(|| (InvalidCode::NotAFlag, "Answer yes or no".to_owned()))
        }
        AnswerFormat::Number(range) => check_number(first, range),
        AnswerFormat::Integer(range) => match check_number(first, range) {
            None if first.parse::<f64>().is_ok_and(|number| number.fract() != 0.0) => {
                wrong(InvalidCode::NotAnInteger, "Enter a whole number")
            }
            other => other,
        },
        AnswerFormat::String { length, format, pattern } => {
            let chars = first.chars().count() as u64;
            if !is_within(length, &chars) {
                return Some((InvalidCode::WrongLength, within("number of characters", length)));
            }
            let fits = format.as_deref().is_none_or(|format| has_format(first, format))
                && pattern.as_deref().is_none_or(|pattern| has_pattern(first, pattern));
            if fits {
                None
            } else {
                wrong(InvalidCode::WrongFormat, "The text does not have the required format")
            }
        }
    }
}

fn check_number(text: &str, range: &Bounds<f64>) -> Option<(InvalidCode, String)> {
    match text.parse::<f64>() {
        Ok(number) if !number.is_finite() => Some((InvalidCode::NotANumber, "Enter a number".to_owned())),
        Ok(number) if is_within(range, &number) => None,
        Ok(_) => Some((InvalidCode::OutOfRange, within("number", range))),
        Err(_) => Some((InvalidCode::NotANumber, "Enter a number".to_owned())),
    }
}

fn is_within<T: PartialOrd>(bounds: &Bounds<T>, value: &T) -> bool {
    bounds.min.as_ref().is_none_or(|min| value >= min) && bounds.max.as_ref().is_none_or(|max| value <= max)
}

fn within<T: std::fmt::Display>(what: &str, bounds: &Bounds<T>) -> String {
    match (&bounds.min, &bounds.max) {
        (Some(min), Some(max)) => format!("The {what} must be between {min} and {max}"),
        (Some(min), None) => format!("The {what} must be at least {min}"),
        (None, Some(max)) => format!("The {what} must be at most {max}"),
        (None, None) => format!("The {what} is not allowed"),
    }
}

/// True if a text has a format of the protocol. Unknown formats accept every text.
fn has_format(text: &str, format: &str) -> bool {
    match format {
        "email" => text.split_once('@').is_some_and(|(name, host)| {
            !name.is_empty()
                && host.contains('.')
                && !host.contains('@')
                && !text.contains(char::is_whitespace)
        }),
        "uri" => text.split_once(':').is_some_and(|(scheme, rest)| {
            !rest.is_empty()
                && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
                && !text.contains(char::is_whitespace)
        }),
        "date" => text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok(),
        "date-time" => text.parse::<jiff::Timestamp>().is_ok(),
        _ => true,
    }
}

/// True if a text matches a pattern of the server. Patterns of other regex dialects are not checked here; the
/// server validates the answer again.
fn has_pattern(text: &str, pattern: &str) -> bool {
    RegexBuilder::new(pattern).size_limit(1 << 20).build().map_or(true, |regex| regex.is_match(text))
}
