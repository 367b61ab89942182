//! One method per request that a host may send: named, typed, and nothing more.

mod files;
mod mcp;
mod model;
mod permissions;
mod reload;
mod session;
mod settings;
mod tasks;
mod usage;
