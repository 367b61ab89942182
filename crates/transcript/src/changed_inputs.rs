//! Inputs of tool calls that people changed before the calls ran.

use std::collections::HashMap;

use tidings_protocol::json::Json;
use tidings_protocol::ui::PermissionResolved;

/// The inputs that ran instead of those that the model asked for, by the ids of their calls.
///
/// A session's files have only what the model asked for; the journal of a server has the others. A fork of a
/// session keeps the ids of its calls, so one set serves the session and its copies.
#[derive(Debug, Clone, Default)]
pub struct ChangedInputs(HashMap<String, Json>);

impl ChangedInputs {
    /// The input that ran in place of the model's; `None` if the call ran as the model asked.
    pub fn get(&self, call: &str) -> Option<&Json> {
        self.0.get(call)
    }

    /// The ids of the calls and their inputs, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(call, input)| (call.as_str(), input))
    }

    /// Returns true if no input was changed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(String, Json)> for ChangedInputs {
    fn from_iter<T: IntoIterator<Item = (String, Json)>>(inputs: T) -> Self {
        ChangedInputs(inputs.into_iter().collect())
    }
}

impl FromIterator<PermissionResolved> for ChangedInputs {
    fn from_iter<T: IntoIterator<Item = PermissionResolved>>(answers: T) -> Self {
        let changed =
            |answer: PermissionResolved| Some((answer.tool_use_id, Json::from(answer.updated_input?)));
        answers.into_iter().filter_map(changed).collect()
    }
}
