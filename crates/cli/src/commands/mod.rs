//! One module per command, laid out as the command line is.

pub(crate) mod acp;
pub(crate) mod attach;
pub(crate) mod audit;
pub(crate) mod backup;
#[cfg(unix)]
pub(crate) mod claude;
pub(crate) mod completions;
pub(crate) mod decide;
pub(crate) mod doctor;
#[cfg_attr(not(feature = "fleet"), path = "no_fleet.rs")]
pub(crate) mod fleet;
#[cfg(unix)]
pub(crate) mod hook;
#[cfg(unix)]
pub(crate) mod host;
pub(crate) mod inbox;
pub(crate) mod installation;
pub(crate) mod pair;
pub(crate) mod ps;
pub(crate) mod remote;
#[cfg(unix)]
pub(crate) mod resume;
pub(crate) mod schema;
pub(crate) mod send;
pub(crate) mod serve;
mod session_lookup;
pub(crate) mod set;
pub(crate) mod start;
pub(crate) mod stop;
pub(crate) mod summary;
pub(crate) mod take_over;
pub(crate) mod token;
