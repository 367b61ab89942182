//! `initialize`: what Tidings tells an agent about itself, and the version that both speak.

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1 as acp;
use serde::Serialize;
use serde_json::Value;

/// Version of the protocol that this adapter speaks.
const PROTOCOL: ProtocolVersion = ProtocolVersion::V1;

/// The parameters of `initialize`. The protocol's own type also writes capabilities that we do not have.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InitializeParams {
    protocol_version: ProtocolVersion,
    client_capabilities: ClientCapabilities,
    client_info: acp::Implementation,
}

#[derive(Debug, Serialize)]
struct ClientCapabilities {
    fs: acp::FileSystemCapabilities,
    terminal: bool,
    session: acp::ClientSessionCapabilities,
    elicitation: acp::ElicitationCapabilities,
}

impl InitializeParams {
    pub(super) fn new(version: &str) -> Self {
        let options =
            acp::SessionConfigOptionsCapabilities::new().boolean(acp::BooleanConfigOptionCapabilities::new());
        InitializeParams {
            protocol_version: PROTOCOL,
            client_capabilities: ClientCapabilities {
                fs: acp::FileSystemCapabilities::new().read_text_file(true).write_text_file(true),
                terminal: true,
                session: acp::ClientSessionCapabilities::new()
                    .compaction(acp::CompactionCapabilities::new())
                    .config_options(options)
                    .notices(acp::NoticeCapabilities::new()),
                elicitation: acp::ElicitationCapabilities::new()
                    .form(acp::ElicitationFormCapabilities::new())
                    .url(acp::ElicitationUrlCapabilities::new()),
            },
            client_info: acp::Implementation::new("tidings", version).title("Tidings".to_owned()),
        }
    }
}

/// The reason why an agent cannot be talked to, from its answer to `initialize`.
pub(super) fn version_problem(answer: &Value) -> Option<String> {
    let version = &answer["protocolVersion"];
    (version.as_u64() != Some(PROTOCOL.as_u16().into()))
        .then(|| format!("It speaks version {version} of the protocol, and Tidings version {PROTOCOL}"))
}
