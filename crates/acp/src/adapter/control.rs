//! Control requests of the host.

use agent_client_protocol_schema::v1 as acp;
use serde::Serialize;
use serde_json::Value;
use tidings_protocol::control::{
    Ack, Call, CancelAsyncMessageReply, ControlOutcome, ControlResponse, ErrorCode, Failure,
    InterruptReceipt, McpStatusReply, Success,
};
use tidings_protocol::json::{Raw, Text};
use tidings_protocol::messages::{Message, Status, SystemMessage, Unknown};

use super::effect::Effect;
use super::modes::mode_for;
use super::options::OPTIONS_SETTING;
use super::state::{Adapter, OutgoingCall, SettingChange};
use crate::rpc::{self, RpcError};

/// The request that ends a session, which the vendor does not publish.
const END_SESSION: &str = "end_session";

impl Adapter {
    pub(super) fn control(&mut self, id: &str, call: Call) {
        match call {
            Call::Initialize(given) => {
                self.handshake = Some(id.to_owned());
                if given.append_system_prompt.is_some() && self.session.is_none() {
                    self.settings.append_system_prompt = given.append_system_prompt;
                }
                self.answer_handshake();
            }
            Call::Interrupt(_) => {
                let mut receipt = InterruptReceipt::default();
                receipt.still_queued = Some(Vec::new());
                self.succeed(id, &receipt);
                self.cancel_turn();
            }
            Call::SetPermissionMode(set) => self.set_mode(id, set.mode.as_str()),
            Call::SetModel(set) => self.set_model(id, set.model),
            Call::ApplyFlagSettings(apply) => self.apply_settings(id, apply.settings.raw()),
            Call::ListModels(_) => {
                let offer = self.choices.offer();
                self.succeed(id, &offer);
            }
            Call::McpStatus(_) => {
                let mut status = McpStatusReply::default();
                // The empty list is written, too.
                status.extra.insert("mcpServers", &status.mcp_servers);
                self.succeed(id, &status);
            }
            Call::CancelAsyncMessage(cancel) => {
                let uuid = &*cancel.message_uuid;
                let before = self.queue.len();
                self.queue.retain(|prompt| prompt.uuid.as_deref() != Some(uuid));
                let mut reply = CancelAsyncMessageReply::default();
                reply.cancelled = self.queue.len() < before;
                if reply.cancelled {
                    self.lifecycle(Some(uuid), "cancelled");
                }
                // "No" is written, too.
                reply.extra.insert("cancelled", &reply.cancelled);
                self.succeed(id, &reply);
            }
            Call::Unknown(unknown) if unknown.subtype == END_SESSION => {
                self.succeed(id, &Ack::default());
                self.out.push(Effect::Exit(0));
            }
            other => {
                let error = format!("This agent does not support the request `{}`", other.subtype());
                self.refuse(id, &error, ErrorCode::UNSUPPORTED_REQUEST);
            }
        }
    }

    /// Refuses a request whose members do not fit. Other messages of an unknown kind are ignored.
    pub(super) fn refuse_unreadable(&mut self, message: &Unknown) {
        let id = message.raw.raw().get("request_id").and_then(Raw::text).map(Text::get);
        if let (Some("control_request"), Some(id), Some(reason)) =
            (message.kind.as_deref(), id, &message.reason)
        {
            self.refuse(&id, &format!("The request cannot be read: {reason}"), ErrorCode::INVALID_REQUEST);
        }
    }

    fn set_mode(&mut self, id: &str, mode: &str) {
        let Some(own) = mode_for(&self.choices, mode) else {
            return self.refuse(id, &self.choices.no_mode(mode), ErrorCode::INVALID_MODE);
        };
        let setting = self.choices.set_mode(&own, self.session_id());
        let change = SettingChange::Mode { mode: mode.to_owned(), own };
        self.call(setting.method(), &setting, OutgoingCall::Setting { request: id.to_owned(), change });
    }

    fn set_model(&mut self, id: &str, model: Option<String>) {
        let Some(model) = model.filter(|model| *model != "default") else {
            let error = "This agent has no default model to return to";
            return self.refuse(id, error, ErrorCode::INVALID_REQUEST);
        };
        let Some(setting) = self.choices.set_model(&model, self.session_id()) else {
            return self.refuse(id, &self.choices.no_model(&model), ErrorCode::INVALID_REQUEST);
        };
        let change = SettingChange::Model { model };
        self.call(setting.method(), &setting, OutgoingCall::Setting { request: id.to_owned(), change });
    }

    /// The agent has answered a change of the host.
    pub(super) fn setting_made(
        &mut self,
        request: &str,
        change: &SettingChange,
        result: Result<Value, RpcError>,
    ) {
        match result {
            Ok(answer) => {
                match change {
                    SettingChange::Mode { mode, own } => {
                        self.choices.note_mode(own);
                        self.host_mode.clone_from(mode);
                    }
                    SettingChange::Model { model } => self.choices.note_model(model),
                    SettingChange::Option { option, value } => self.choices.note_option(option, value),
                }
                let before = self.choices.options();
                self.choices.read(&answer);
                self.succeed(request, change);
                self.report_settings(before != self.choices.options());
            }
            Err(error) => self.refuse(request, &error.message, "refused".into()),
        }
    }

    /// Reports the mode to the host, and the options if they changed. The model is part of the next turn's
    /// first message.
    pub(super) fn report_settings(&mut self, have_options_changed: bool) {
        let mut status = Status::of(None);
        status.permission_mode = Some(self.choices.mode().into());
        if have_options_changed {
            status.extra.insert(OPTIONS_SETTING, &self.choices.option_values());
        }
        self.emit_system(SystemMessage::Status(status));
    }

    /// Cancels the running turn.
    pub(super) fn cancel_turn(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        if std::mem::replace(&mut turn.is_cancelled, true) {
            return;
        }
        let number = turn.number;
        let params = acp::CancelNotification::new(self.session_id());
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

    pub(super) fn succeed(&mut self, id: &str, reply: &impl Serialize) {
        let reply = rpc::to_value(reply);
        self.answer_host(id, ControlOutcome::Success(Success::new(&reply)));
    }

    pub(super) fn refuse(&mut self, id: &str, error: &str, code: ErrorCode) {
        let mut failure = Failure::new(error);
        failure.error_code = Some(code);
        self.answer_host(id, ControlOutcome::Error(failure));
    }

    fn answer_host(&mut self, id: &str, outcome: ControlOutcome) {
        let response = ControlResponse::new(outcome);
        self.send(&Message::ControlResponse { request_id: id.to_owned(), response });
    }
}
