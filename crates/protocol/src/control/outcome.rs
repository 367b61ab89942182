//! Outcome of a control request.

use super::call::Request;
use super::parts::{object_of, rest, string};
use super::request::ControlRequest;
use crate::json::wire::{ObjectOut, WireObject};
use crate::json::{Cursor, Json, Misfit, Raw, Reading, Wire, object, open_string};

open_string! {
    /// Reason why the CLI refused a request, as a code for programs.
    pub struct ErrorCode {
        UNSUPPORTED_REQUEST = "unsupported_request",
        INVALID_REQUEST = "invalid_request",
        CATALOG_UNKNOWN = "catalog_unknown",
        NOT_FOUND = "not_found",
        RESTRICTED_BY_ORG = "restricted_by_org",
        UNAVAILABLE_FOR_ACCOUNT = "unavailable_for_account",
        NOT_OFFERED = "not_offered",
        ALIAS_1M_DISABLED = "alias_1m_disabled",
        ALIAS_1M_UNSUPPORTED = "alias_1m_unsupported",
        BLOCKED_BY_HOOK = "blocked_by_hook",
        HOOKS_UNCHECKED = "hooks_unchecked",
        CHECK_FAILED = "check_failed",
        CHECK_UNREACHABLE = "check_unreachable",
        CHECK_SERVER_ERROR = "check_server_error",
        CHECK_REJECTED = "check_rejected",
        CREDITS_REQUIRED = "credits_required",
        RATE_LIMIT = "rate_limit",
        AUTH_FAILED = "auth_failed",
        OAUTH_ORG_NOT_ALLOWED = "oauth_org_not_allowed",
        MODEL_NOT_CURRENT = "model_not_current",
        VERDICT_PENDING = "verdict_pending",
        INTERNAL_ERROR = "internal_error",
        INVALID_MODE = "invalid_mode",
        BYPASS_RESTRICTED = "bypass_restricted",
        BYPASS_DISABLED = "bypass_disabled",
        BYPASS_NOT_LAUNCHED = "bypass_not_launched",
        AUTO_MODE_SETTINGS = "auto_mode_settings",
        AUTO_MODE_CIRCUIT_BREAKER = "auto_mode_circuit_breaker",
        AUTO_MODE_FAST_MODE = "auto_mode_fast_mode",
        AUTO_MODE_MODEL = "auto_mode_model",
        AUTO_MODE_UNAVAILABLE = "auto_mode_unavailable",
        RELOAD_PLUGINS_BUSY = "reload_plugins_busy",
        READ_DENIED = "read_denied",
        CREDENTIAL_NAME = "credential_name",
        MCP_POLICY_BLOCKED = "mcp_policy_blocked",
        SIDE_QUESTION_BUSY = "side_question_busy",
    }
}

object! {
    /// Body of an acknowledgement without data.
    pub struct Ack {}

    /// The request succeeded.
    pub struct Success {
        /// The body; see [`Success::reply`]. Absent from many acknowledgements.
        opt response: Json,
        /// Pending `can_use_tool` requests, as whole frames. Only in the handshake's reply.
        opt pending_permission_requests: Vec<Json>,
        /// Pending `request_user_dialog` requests, as whole frames.
        opt pending_user_dialog_requests: Vec<Json>,
        /// Pending `elicitation` requests, as whole frames.
        opt pending_elicitation_requests: Vec<Json>,
    }

    /// The request failed.
    pub struct Failure {
        /// Reason, as text for the user.
        req error: String,
        /// Reason, as a code for programs.
        opt error_code: ErrorCode,
    }
}

/// Outcome of a request, distinguished by `subtype`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ControlOutcome {
    /// `success`
    Success(Success),
    /// `error`
    Error(Failure),
    /// An outcome without a type in this crate.
    Unknown(UnknownOutcome),
}

/// An outcome without a type in this crate.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct UnknownOutcome {
    /// The `subtype` on the wire, if present.
    pub subtype: Option<String>,
    /// Object of all members except the subtype and the id of the request.
    pub body: Json,
}

impl Success {
    /// A success with a body.
    pub fn new<T: Wire>(reply: &T) -> Self {
        let mut body = String::new();
        reply.write(&mut body);
        Success { response: Some(Raw::new(&body).to_json()), ..Success::default() }
    }

    /// The body as the reply to the request `R`.
    ///
    /// An absent body counts as an empty one; in the flat style the body is next to the subtype.
    pub fn reply<R: Request>(&self) -> Result<R::Reply, Misfit> {
        self.reply_noting::<R>(&mut Reading::default())
    }

    /// Same as [`Success::reply`], and records refused fields in `reading`.
    pub fn reply_noting<R: Request>(&self, reading: &mut Reading) -> Result<R::Reply, Misfit> {
        match self.response.as_ref().map(Json::raw).filter(|body| !body.is_null()) {
            Some(body) => R::Reply::read(&mut body.cursor(), reading),
            None => R::Reply::read(&mut object_of(&self.extra).raw().cursor(), reading),
        }
    }

    /// Pending requests of the CLI at the time of a repeated handshake, each with its id.
    pub fn pending_requests(&self) -> Vec<(String, ControlRequest)> {
        [
            &self.pending_permission_requests,
            &self.pending_user_dialog_requests,
            &self.pending_elicitation_requests,
        ]
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|frame| ControlRequest::read_frame(frame.raw(), &mut Reading::default()).ok())
        .collect()
    }
}

impl Success {
    /// Moves the members of the body next to it. A body that is not an object stays.
    pub(super) fn spread_body(&mut self) {
        let Some(body) = self.response.take_if(|body| body.raw().is_object()) else {
            return;
        };
        let mut cursor = body.raw().cursor();
        cursor.enter_object();
        while let Some((_, member)) = cursor.next_member() {
            self.extra.keep(member);
        }
    }
}

impl Failure {
    /// A failure with its reason.
    pub fn new(error: impl Into<String>) -> Self {
        Failure { error: error.into(), ..Failure::default() }
    }
}

impl ControlOutcome {
    /// The `subtype` on the wire, if present.
    pub fn subtype(&self) -> Option<&str> {
        match self {
            ControlOutcome::Success(_) => Some("success"),
            ControlOutcome::Error(_) => Some("error"),
            ControlOutcome::Unknown(unknown) => unknown.subtype.as_deref(),
        }
    }

    /// Reads the members of `object`, except `consumed`.
    pub(super) fn read_members(
        object: Raw<'_>,
        reading: &mut Reading,
        consumed: &[&str],
    ) -> Result<Self, Misfit> {
        let subtype = object.get("subtype").map(|_| string(object, "subtype")).transpose()?;
        let mut cursor = object.cursor();
        if !cursor.enter_object() {
            return Err(Misfit::here(&mut cursor, "an object"));
        }
        Ok(match subtype.as_deref() {
            Some("success") => {
                ControlOutcome::Success(Success::read_members(&mut cursor, reading, consumed)?)
            }
            Some("error") => ControlOutcome::Error(Failure::read_members(&mut cursor, reading, consumed)?),
            _ => ControlOutcome::Unknown(UnknownOutcome { subtype, body: rest(&mut cursor, consumed) }),
        })
    }

    /// Writes the members; `request_id` is among them when the payload is a separate object.
    pub(super) fn write_members(&self, object: &mut ObjectOut<'_>, request_id: Option<&str>) {
        if let Some(subtype) = self.subtype() {
            object.string("subtype", subtype);
        }
        if let Some(request_id) = request_id {
            object.string("request_id", request_id);
        }
        match self {
            ControlOutcome::Success(success) => success.write_members(object),
            ControlOutcome::Error(failure) => failure.write_members(object),
            ControlOutcome::Unknown(unknown) => {
                let taken = |key: &str| matches!(key, "subtype" | "request_id");
                for (key, value) in unknown.body.raw().members().filter(|(key, _)| !taken(&key.get())) {
                    object.key(&key.get()).push_str(value.as_str());
                }
            }
        }
    }
}

impl Wire for ControlOutcome {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        ControlOutcome::read_members(cursor.raw(), reading, &["subtype"])
    }

    fn write(&self, out: &mut String) {
        let mut object = ObjectOut::open(out);
        self.write_members(&mut object, None);
        object.close();
    }
}

object!(@through_wire ControlOutcome);
