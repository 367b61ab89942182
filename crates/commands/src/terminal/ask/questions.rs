//! Questions of the agent in the terminal, answered one after the other.

use std::collections::BTreeSet;

use super::super::keys::Key;
use super::super::line::Line;
use super::super::style::Style;
use super::entry::{EntryResult, TextEntry};
use super::{Reply, key_line};

/// Questions of the agent, which are answered one after the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct QuestionsAsk {
    pub(crate) questions: Vec<QuestionAsk>,
    /// Text above the questions.
    pub(crate) message: Option<String>,
    pub(crate) answers: Vec<Vec<String>>,
    pub(crate) chosen: BTreeSet<usize>,
    pub(crate) typing: Option<AnswerField>,
}

/// Text field for an answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct AnswerField(TextEntry);

/// One question.
#[derive(Debug, Clone, Default)]
pub(crate) struct QuestionAsk {
    pub(crate) text: String,
    /// Options to choose from; if empty, the answer is typed.
    pub(crate) options: Vec<Choice>,
    pub(crate) selection: Selection,
    pub(crate) required: bool,
}

/// Number of options that can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Selection {
    #[default]
    One,
    Any,
}

/// An option of a question.
#[derive(Debug, Clone, Default)]
pub(crate) struct Choice {
    pub(crate) label: String,
    pub(crate) description: Option<String>,
    /// Preview of the result.
    pub(crate) preview: Option<String>,
}

/// Maximum number of lines of a preview.
const PREVIEW_LINES_MAX: usize = 8;

impl QuestionsAsk {
    pub(super) fn key(&mut self, key: &Key) -> Option<Reply> {
        let Some(question) = self.questions.get(self.answers.len()) else {
            return Some(Reply::Answers(self.answers.clone()));
        };
        let (count, selection, required) = (question.options.len(), question.selection, question.required);
        if count == 0 && self.typing.is_none() {
            self.typing = Some(AnswerField::default());
        }
        if let Some(AnswerField(entry)) = &mut self.typing {
            return match entry.key(key) {
                EntryResult::Pending => None,
                EntryResult::Cancelled if count == 0 => Some(Reply::Declined),
                EntryResult::Cancelled => {
                    self.typing = None;
                    None
                }
                EntryResult::Text(text) => {
                    let mut answer = self.take_chosen();
                    answer.push(text);
                    self.answered(answer)
                }
            };
        }
        match key {
            Key::Char(digit @ '1'..='9') => {
                let at = usize::try_from(u32::from(*digit) - u32::from('1')).unwrap_or(usize::MAX);
                if at >= count {
                    return None;
                }
                if selection == Selection::Any {
                    if !self.chosen.remove(&at) {
                        self.chosen.insert(at);
                    }
                    return None;
                }
                self.chosen.insert(at);
                let answer = self.take_chosen();
                self.answered(answer)
            }
            Key::Enter if selection == Selection::Any && (!self.chosen.is_empty() || !required) => {
                let answer = self.take_chosen();
                self.answered(answer)
            }
            Key::Char('o') => {
                self.typing = Some(AnswerField::default());
                None
            }
            Key::Char('x') => Some(Reply::Declined),
            _ => None,
        }
    }

    pub(super) fn lines(&self, columns: usize) -> Vec<Line> {
        let Some(question) = self.questions.get(self.answers.len()) else { return Vec::new() };
        let mut lines = Vec::new();
        if let Some(message) = &self.message {
            lines.extend(Line::plain(message).wrap(columns.saturating_sub(1), 2));
        }
        let mut head = Line::styled("? ", Style::YELLOW.and(Style::BOLD));
        if self.questions.len() > 1 {
            head.push(&format!("{}/{} ", self.answers.len() + 1, self.questions.len()), Style::DIM);
        }
        head.push(&question.text, Style::BOLD);
        lines.extend(head.wrap(columns.saturating_sub(1), 2));
        for (at, option) in question.options.iter().enumerate() {
            lines.extend(self.option_lines(question, at, option, columns));
        }
        if let Some(AnswerField(entry)) = &self.typing {
            lines.extend(entry.lines("Answer", columns));
        } else if question.options.is_empty() {
            lines.extend(TextEntry::default().lines("Answer", columns));
        } else {
            let mut keys = vec![("o", "something else"), ("x", "no answer")];
            if question.selection == Selection::Any {
                keys.insert(0, ("Enter", "done"));
            }
            lines.extend(key_line(&keys, columns));
        }
        lines
    }

    /// Formats the questions with their answers; these lines stay on the screen.
    pub(crate) fn settled(&self, reply: &Reply) -> Vec<Line> {
        let Reply::Answers(answers) = reply else {
            return vec![Line::styled("? no answer", Style::DIM)];
        };
        let pairs = self.questions.iter().zip(answers);
        pairs
            .map(|(question, answer)| {
                let line = Line::styled("? ", Style::YELLOW).with(&question.text, Style::PLAIN);
                line.with(&format!(" → {}", answer.join(", ")), Style::BOLD)
            })
            .collect()
    }

    fn option_lines(&self, question: &QuestionAsk, at: usize, option: &Choice, columns: usize) -> Vec<Line> {
        let mark = match question.selection {
            Selection::One => "",
            Selection::Any if self.chosen.contains(&at) => "☑ ",
            Selection::Any => "☐ ",
        };
        let mut line =
            Line::styled(&format!("  [{}] {mark}", at + 1), Style::BOLD).with(&option.label, Style::PLAIN);
        if let Some(description) = &option.description {
            line.push(&format!("  {description}"), Style::DIM);
        }
        let mut lines = line.wrap(columns.saturating_sub(1), 6);
        for text in option.preview.iter().flat_map(|preview| preview.lines()).take(PREVIEW_LINES_MAX) {
            lines.push(Line::styled(text, Style::DIM).indented(8));
        }
        lines
    }

    fn take_chosen(&mut self) -> Vec<String> {
        let chosen = std::mem::take(&mut self.chosen);
        let question = self.questions.get(self.answers.len());
        let label = |at: usize| question.and_then(|question| Some(question.options.get(at)?.label.clone()));
        chosen.into_iter().filter_map(label).collect()
    }

    fn answered(&mut self, answer: Vec<String>) -> Option<Reply> {
        self.answers.push(answer);
        self.typing = None;
        (self.answers.len() == self.questions.len()).then(|| Reply::Answers(self.answers.clone()))
    }
}
