//! One typed method per control request of a host.

mod files;
mod mcp;
mod model;
mod permissions;
mod reload;
mod session;
mod settings;
mod tasks;
mod usage;
