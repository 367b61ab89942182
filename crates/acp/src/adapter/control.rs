//! Control requests of the host.

use serde_json::{Value, json};

use super::effect::Effect;
use super::frames::text;
use super::modes::mode_for;
use super::options::OPTIONS_SETTING;
use super::state::{Adapter, OutgoingCall};
use crate::rpc::{self, RpcError};

impl Adapter {
    pub(super) fn control(&mut self, id: &Value, request: &Value) {
        match text(request, "subtype") {
            "initialize" => {
                self.handshake = Some(id.clone());
                if let Some(text) = request["appendSystemPrompt"].as_str().filter(|_| self.session.is_none())
                {
                    self.settings.append_system_prompt = Some(text.to_owned());
                }
                self.answer_handshake();
            }
            "interrupt" => {
                self.succeed(id, &json!({"still_queued": []}));
                self.cancel_turn();
            }
            "set_permission_mode" => self.set_mode(id, text(request, "mode")),
            "set_model" => self.set_model(id, request["model"].as_str()),
            "apply_flag_settings" => self.apply_settings(id, &request["settings"]),
            "list_models" => {
                let choices = &self.choices;
                let all = json!({
                    "models": choices.models(), "modes": choices.modes(), "options": choices.options(),
                });
                self.succeed(id, &all);
            }
            "mcp_status" => self.succeed(id, &json!({"mcpServers": []})),
            "cancel_async_message" => {
                let uuid = text(request, "message_uuid");
                let before = self.queue.len();
                self.queue.retain(|prompt| prompt.uuid.as_deref() != Some(uuid));
                let is_cancelled = self.queue.len() < before;
                if is_cancelled {
                    self.lifecycle(Some(uuid), "cancelled");
                }
                self.succeed(id, &json!({"cancelled": is_cancelled}));
            }
            "end_session" => {
                self.succeed(id, &json!({}));
                self.out.push(Effect::Exit(0));
            }
            other => {
                let error = format!("This agent does not support the request `{other}`");
                self.refuse(id, &error, "unsupported_request");
            }
        }
    }

    fn set_mode(&mut self, id: &Value, mode: &str) {
        let Some(own) = mode_for(&self.choices, mode) else {
            return self.refuse(id, &self.choices.no_mode(mode), "invalid_mode");
        };
        let (method, params) = self.choices.set_mode(&own, self.session.as_deref());
        let response = json!({"mode": mode, "own": own});
        self.call(method, &params, OutgoingCall::Setting { request: id.clone(), response });
    }

    fn set_model(&mut self, id: &Value, model: Option<&str>) {
        let Some(model) = model.filter(|model| *model != "default") else {
            return self.refuse(id, "This agent has no default model to return to", "invalid_request");
        };
        let Some((method, params)) = self.choices.set_model(model, self.session.as_deref()) else {
            return self.refuse(id, &self.choices.no_model(model), "invalid_request");
        };
        let response = json!({"model": model});
        self.call(method, &params, OutgoingCall::Setting { request: id.clone(), response });
    }

    /// The agent has answered a change of the host.
    pub(super) fn setting_made(
        &mut self,
        request: &Value,
        response: &Value,
        result: Result<Value, RpcError>,
    ) {
        match result {
            Ok(answer) => {
                if let Some(own) = response["own"].as_str() {
                    self.choices.note_mode(own);
                    text(response, "mode").clone_into(&mut self.host_mode);
                }
                if let Some(model) = response["model"].as_str() {
                    self.choices.note_model(model);
                }
                if let (Some(id), Some(value)) = (response["option"].as_str(), response["value"].as_str()) {
                    self.choices.note_option(id, value);
                }
                let before = self.choices.options();
                self.choices.read(&answer);
                self.succeed(request, response);
                self.report_settings(before != self.choices.options());
            }
            Err(error) => self.refuse(request, &error.message, "refused"),
        }
    }

    /// Reports the mode to the host, and the options if they changed. The model is part of the next turn's
    /// first message.
    pub(super) fn report_settings(&mut self, have_options_changed: bool) {
        let mode = self.choices.mode().to_owned();
        let mut status =
            json!({"type": "system", "subtype": "status", "status": null, "permissionMode": mode});
        if have_options_changed {
            status[OPTIONS_SETTING] = json!(self.choices.option_values());
        }
        self.emit(status);
    }

    /// Cancels the running turn.
    pub(super) fn cancel_turn(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        if std::mem::replace(&mut turn.is_cancelled, true) {
            return;
        }
        let number = turn.number;
        let params = json!({"sessionId": self.session});
        self.out.push(Effect::ToAgent(rpc::notification("session/cancel", &params)));
        self.cancel_asks();
        self.out.push(Effect::CancelDeadline(number));
    }

    /// The time for a cancelled turn to end is over.
    pub fn cancel_overdue(&mut self, number: u64) {
        if self.turn.as_ref().is_some_and(|turn| turn.number == number && turn.is_cancelled) {
            self.inform(
                "The agent did not confirm that it stopped; what it still sends is shown as it comes",
            );
            self.end_interrupted_turn();
        }
    }

    pub(super) fn succeed(&mut self, id: &Value, response: &Value) {
        let response = json!({"subtype": "success", "request_id": id, "response": response});
        self.out.push(Effect::ToHost(json!({"type": "control_response", "response": response}).to_string()));
    }

    pub(super) fn refuse(&mut self, id: &Value, error: &str, code: &str) {
        let response = json!({"subtype": "error", "request_id": id, "error": error, "error_code": code});
        self.out.push(Effect::ToHost(json!({"type": "control_response", "response": response}).to_string()));
    }
}
