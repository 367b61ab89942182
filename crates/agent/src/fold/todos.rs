//! The agent's to-do lists, from the calls that change them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidings_protocol::ui::{Progress, ProgressSource, TodoItem, TodoList, TodoStatus};

use super::calls::Call;
use super::limits::TODOS_MAX;
use super::out::Out;

/// The lists: one of the session, and one for each sub-agent that has its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Todos(BTreeMap<String, Vec<TodoItem>>);

impl Todos {
    /// Updates a list after a successful call.
    pub(super) fn update(&mut self, call: &Call, details: Option<&Value>, out: &mut Out<'_>) {
        let input = call.input.as_ref().unwrap_or(&Value::Null);
        let details = details.unwrap_or(&Value::Null);
        // `TodoWrite` changes the list of its caller; tasks belong to the session.
        let owner = if call.name == "TodoWrite" { call.agent.clone() } else { None };
        let list = self.0.entry(owner.clone().unwrap_or_default()).or_default();
        let before = list.clone();
        match call.name.as_str() {
            "TodoWrite" => *list = items(&input["todos"], "content"),
            "TaskCreate" => created(list, input, details),
            "TaskUpdate" => updated(list, input),
            "TaskList" => listed(list, details),
            _ => return,
        }
        list.truncate(TODOS_MAX);
        if *list != before {
            report(list, owner, &mut out.unwrapped());
        }
    }
}

fn report(list: &[TodoItem], owner: Option<String>, out: &mut Out<'_>) {
    let mut event = TodoList::new(out.handle);
    event.agent_id.clone_from(&owner);
    event.items = list.to_vec();
    out.push(event);

    let wanted = list.iter().filter(|item| item.status != TodoStatus::Cancelled).count() as u64;
    let completed = list.iter().filter(|item| item.status == TodoStatus::Completed).count() as u64;
    let mut progress = Progress::new(out.handle, ProgressSource::Todo);
    let running = list.iter().find(|item| item.status == TodoStatus::InProgress);
    progress.step = running.map(|item| item.active_form.clone().unwrap_or_else(|| item.content.clone()));
    progress.completed = Some(completed);
    progress.total = Some(wanted);
    progress.percentage = percentage(completed, wanted);
    progress.agent_id = owner;
    out.push(progress);
}

fn created(list: &mut Vec<TodoItem>, input: &Value, details: &Value) {
    let Some(content) = text(input, "subject").or_else(|| text(&details["task"], "subject")) else { return };
    let mut item = TodoItem::new(content, TodoStatus::Pending);
    item.active_form = text(input, "activeForm");
    item.id = text(&details["task"], "id");
    list.push(item);
}

fn updated(list: &mut Vec<TodoItem>, input: &Value) {
    let Some(id) = text(input, "taskId") else { return };
    let Some(at) = list.iter().position(|item| item.id.as_ref() == Some(&id)) else { return };
    if text(input, "status").as_deref() == Some("deleted") {
        list.remove(at);
        return;
    }
    let item = &mut list[at];
    if let Some(status) = text(input, "status") {
        item.status = status_of(&status);
    }
    if let Some(subject) = text(input, "subject") {
        item.content = subject;
    }
    if let Some(form) = text(input, "activeForm") {
        item.active_form = Some(form);
    }
}

fn listed(list: &mut Vec<TodoItem>, details: &Value) {
    if !details["tasks"].is_array() {
        return;
    }
    let mut now = items(&details["tasks"], "subject");
    for item in &mut now {
        let known = list.iter().find(|known| known.id.is_some() && known.id == item.id);
        item.active_form = item.active_form.take().or_else(|| known?.active_form.clone());
    }
    *list = now;
}

fn items(list: &Value, content: &str) -> Vec<TodoItem> {
    let read = |item: &Value| {
        let status = text(item, "status").unwrap_or_default();
        let mut todo = TodoItem::new(text(item, content)?, status_of(&status));
        todo.active_form = text(item, "activeForm");
        todo.id = text(item, "id");
        Some(todo)
    };
    list.as_array().into_iter().flatten().take(TODOS_MAX).filter_map(read).collect()
}

fn status_of(word: &str) -> TodoStatus {
    match word {
        "in_progress" => TodoStatus::InProgress,
        "completed" => TodoStatus::Completed,
        "cancelled" => TodoStatus::Cancelled,
        _ => TodoStatus::Pending,
    }
}

fn text(value: &Value, key: &str) -> Option<String> {
    match value.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "lists are short")]
fn percentage(completed: u64, total: u64) -> Option<f64> {
    (total > 0).then(|| completed as f64 * 100.0 / total as f64)
}
