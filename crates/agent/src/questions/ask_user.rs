//! Questions of the model: the tool `AskUserQuestion`.

use tidings_protocol::json::{Json, Raw, write_strict, write_string};
use tidings_protocol::tools::{AskUserQuestionInput, ToolInput};
use tidings_protocol::ui::QuestionType;

use super::inquiry::{Choice, Field, Inquiry, Reply};
use crate::limits::{CHOICES_MAX, FORM_FIELDS_MAX};

/// Reads the questions of an input; `None` if it has none that can be read.
pub(super) fn fields(input: &Json) -> Option<Vec<Field>> {
    let Ok(ToolInput::AskUserQuestion(AskUserQuestionInput { questions, .. })) =
        ToolInput::read("AskUserQuestion", input.raw())
    else {
        return None;
    };
    let mut fields = Vec::new();
    for (at, question) in questions.into_iter().take(FORM_FIELDS_MAX).enumerate() {
        let id = format!("q{}", at + 1);
        let choices: Vec<Choice> = question
            .options
            .unwrap_or_default()
            .into_iter()
            .take(CHOICES_MAX)
            .map(|option| Choice {
                label: option.label,
                description: option.description,
                preview: option.preview,
            })
            .collect();
        let kind = match question.multi_select {
            Some(true) => QuestionType::MultiChoice,
            _ => QuestionType::SingleChoice,
        };
        // A question without choices is answered with free text.
        let mut field = if choices.is_empty() {
            Field::text(id, question.question)
        } else {
            Field::choice(id, question.question, kind, choices)
        };
        field.header = question.header;
        fields.push(field);
    }
    (!fields.is_empty()).then_some(fields)
}

/// Adds the answers to the input, by the text of their questions. Several choices are joined by commas, as in
/// the CLI.
pub(super) fn with_answers(inquiry: &Inquiry, input: &Json, answers: &[Reply]) -> Json {
    let mut out = String::from("{");
    let mut separator = "";
    let mut member = |key: &str, value: &dyn Fn(&mut String)| {
        out.push_str(separator);
        separator = ",";
        write_string(key, &mut out);
        out.push(':');
        value(&mut out);
    };
    for (key, value) in input.raw().members().filter(|(key, _)| *key != "answers") {
        // The API would reject the conversation from then on because of a lone surrogate.
        member(&key.get(), &|out| write_strict(value, out));
    }
    member("answers", &|out| write_answers(inquiry, answers, out));
    out.push('}');
    Raw::parse(&out).map_or_else(|_| input.clone(), Raw::to_json)
}

fn write_answers(inquiry: &Inquiry, answers: &[Reply], out: &mut String) {
    // Questions with the same text share a member.
    let mut by_text: Vec<(&str, Vec<&str>)> = Vec::new();
    for field in &inquiry.fields {
        let texts = inquiry.answered(field, answers);
        let text = field.question.text.as_str();
        match by_text.iter_mut().find(|(other, _)| *other == text) {
            Some((_, all)) => all.extend(texts),
            None if texts.is_empty() => {}
            None => by_text.push((text, texts)),
        }
    }
    out.push('{');
    for (at, (text, answers)) in by_text.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_string(text, out);
        out.push(':');
        write_string(&answers.join(", "), out);
    }
    out.push('}');
}
