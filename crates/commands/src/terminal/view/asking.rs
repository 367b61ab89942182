//! Requests in the view: opened, decided here, or answered elsewhere.

use std::io;

use serde_json::Value;
use tidings_protocol::ui::{
    AskUserQuestionsRequest, PermissionDetails, PermissionRequest, QuestionDetails, QuestionKind,
    QuestionType, Resolution, UiMessage,
};

use super::super::ask::{Choice, PendingRequest, PermissionAsk, QuestionAsk, QuestionsAsk, Reply, Selection};
use super::super::line::Line;
use super::super::style::Style;
use super::View;

impl View {
    /// Handles events that open or close requests.
    pub(super) fn question(&mut self, event: &UiMessage) -> io::Result<()> {
        match event {
            UiMessage::PermissionDetails(details) => self.permissions.push(details.clone()),
            UiMessage::PermissionRequired { tool_use_id, request, .. } => {
                let at = self.permissions.iter().position(|details| details.tool_use_id == *tool_use_id);
                let details = at.map(|at| self.permissions.remove(at));
                self.permission(tool_use_id, request, details.as_ref())?;
            }
            UiMessage::BatchPermissionRequired { batch_id, requests, .. } => {
                let batch =
                    self.permissions.iter().filter(|details| details.batch_id.as_ref() == Some(batch_id));
                let batch: Vec<PermissionDetails> = batch.cloned().collect();
                self.permissions.clear();
                for (details, request) in batch.iter().zip(requests) {
                    self.permission(&details.tool_use_id, request, Some(details))?;
                }
            }
            UiMessage::QuestionDetails(details) => self.questions.push(details.clone()),
            UiMessage::UserInteractionRequired { tool_use_id, request, .. } => {
                let at = self.questions.iter().position(|details| details.tool_use_id == *tool_use_id);
                let details = at.map(|at| self.questions.remove(at));
                self.interaction(tool_use_id, request, details.as_ref())?;
            }
            UiMessage::PermissionResolved(resolved) => {
                self.answered_elsewhere(&resolved.tool_use_id, resolved.outcome, resolved.rule.as_deref())?;
                if let Some(input) = &resolved.updated_input {
                    self.changed_input(input)?;
                }
            }
            UiMessage::InteractionResolved(resolved) => {
                self.answered_elsewhere(&resolved.tool_use_id, resolved.outcome, None)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Shows a decision, which stays on the screen.
    pub(super) fn settled(&mut self, ask: &PendingRequest, reply: &Reply) -> io::Result<()> {
        let lines = match ask {
            PendingRequest::Permission(ask) => vec![ask.settled(reply)],
            PendingRequest::Questions(ask) => ask.settled(reply),
        };
        let columns = self.card_columns();
        self.cards(&lines.iter().flat_map(|line| line.wrap(columns, 4)).collect::<Vec<_>>())
    }

    fn permission(
        &mut self,
        id: &str,
        request: &PermissionRequest,
        details: Option<&PermissionDetails>,
    ) -> io::Result<()> {
        let ask = PermissionAsk::new(Some(request), details);
        let lines = ask.introduction(self.card_columns());
        if self.open_ask(id, PendingRequest::Permission(ask)) { self.introduce(&lines) } else { Ok(()) }
    }

    /// Adds a request. While a prompt is typed, the next keys are still part of it.
    fn open_ask(&mut self, id: &str, ask: PendingRequest) -> bool {
        if self.asks.is_empty() {
            self.defers_requests = self.input.as_ref().is_some_and(|input| !input.is_empty());
        }
        self.asks.open(id, ask)
    }

    /// Shows lines after an empty line.
    fn introduce(&mut self, lines: &[Line]) -> io::Result<()> {
        self.end_text()?;
        if self.spacing.ends_with_cards() {
            self.cards(&[Line::new()])?;
        }
        self.cards(lines)
    }

    fn interaction(
        &mut self,
        id: &str,
        request: &AskUserQuestionsRequest,
        details: Option<&QuestionDetails>,
    ) -> io::Result<()> {
        self.end_text()?;
        if details.is_some_and(|details| details.kind == QuestionKind::Plan) {
            let ask = PermissionAsk { tool: "ExitPlanMode".to_owned(), ..PermissionAsk::default() };
            let lines = ask.introduction(self.card_columns());
            self.open_ask(id, PendingRequest::Permission(ask));
            return self.introduce(&lines);
        }
        let questions = request.questions.iter().enumerate().map(|(at, question)| {
            let note = details.and_then(|details| details.questions.get(at));
            let labels = question.options.clone().unwrap_or_default();
            let choice = |(at, label): (usize, String)| {
                let option =
                    note.and_then(|note| note.options.get(at)).filter(|option| option.label == label);
                Choice {
                    label,
                    description: option.and_then(|option| option.description.clone()),
                    preview: option.and_then(|option| option.preview.clone()),
                }
            };
            QuestionAsk {
                text: question.text.clone(),
                options: labels.into_iter().enumerate().map(choice).collect(),
                selection: if question.question_type == QuestionType::MultiChoice {
                    Selection::Any
                } else {
                    Selection::One
                },
                required: question.required,
            }
        });
        let ask = QuestionsAsk {
            questions: questions.collect(),
            message: details.and_then(|details| details.message.clone()),
            ..QuestionsAsk::default()
        };
        self.open_ask(id, PendingRequest::Questions(ask));
        Ok(())
    }

    /// Shows that the call runs with another input than the one that was shown.
    fn changed_input(&mut self, input: &Value) -> io::Result<()> {
        let command = input.get("command").and_then(Value::as_str);
        let input = command.map_or_else(|| input.to_string(), str::to_owned);
        let line = Line::styled(&format!("  • runs with a changed input: {input}"), Style::DIM);
        self.cards(&line.wrap(self.card_columns(), 4))
    }

    fn answered_elsewhere(&mut self, id: &str, outcome: Resolution, rule: Option<&str>) -> io::Result<()> {
        if self.asks.close(id).is_none() {
            return Ok(());
        }
        let text = match outcome {
            Resolution::Allowed => "allowed".to_owned(),
            Resolution::Denied => {
                rule.map_or("denied".to_owned(), |rule| format!("denied by the rule {rule}"))
            }
            Resolution::Answered => "answered".to_owned(),
            Resolution::TimedOut => "timed out without an answer".to_owned(),
            _ => "withdrawn".to_owned(),
        };
        self.cards(&[Line::styled(&format!("  • {text}"), Style::DIM)])
    }
}
