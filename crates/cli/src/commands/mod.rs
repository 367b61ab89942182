//! One module per command, laid out as the command line is.

pub(crate) mod doctor;
pub(crate) mod frames;
pub(crate) mod pair;
#[cfg(unix)]
pub(crate) mod host;
pub(crate) mod rehearse;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod sessions;
pub(crate) mod token;
