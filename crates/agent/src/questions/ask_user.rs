//! Questions of the model: the tool `AskUserQuestion`.

use tidings_protocol::json::{Json, Raw, write_strict, write_string};
use tidings_protocol::tools::{AskUserQuestionInput, ToolInput};
use tidings_protocol::ui::QuestionType;

use super::inquiry::{Choice, Field, Inquiry, Reply};
use crate::limits::{CHOICES_MAX, FORM_FIELDS_MAX};

/// The questions of an input; nothing if it has none that can be read.
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
        // Without anything to choose it can still be answered in words.
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

/// The input with the answers by the text of their questions; several chosen are joined by commas, as the CLI does it.
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
        // A lone surrogate would make the API refuse the conversation for ever.
        member(&key.get(), &|out| write_strict(value, out));
    }
    member("answers", &|out| write_answers(inquiry, answers, out));
    out.push('}');
    Raw::parse(&out).map_or_else(|_| input.clone(), Raw::to_json)
}

fn write_answers(inquiry: &Inquiry, answers: &[Reply], out: &mut String) {
    // Two questions of the same words share a place.
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
