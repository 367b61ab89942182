//! Sessions of the SDK over hosts.

use std::time::Duration;

use tidings::host::Record;
use tidings::transport::{Claim, NewHost};

use crate::stage::example;

pub(crate) fn new_host(id: &str, lease: Duration) -> NewHost {
    let record = Record {
        program: "0".to_owned(),
        id: id.to_owned(),
        session: "k1".to_owned(),
        secret: "s3cret".to_owned(),
        started: "then".to_owned(),
    };
    NewHost { program: example("agent_host"), args: Vec::new(), record, lease, spool_bytes_max: None }
}

pub(crate) fn claim(fence: u64) -> Claim {
    Claim { owner: format!("bridge {fence}"), fence }
}
