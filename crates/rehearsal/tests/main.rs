//! The integration tests of the crate, as one program.

mod agent;
mod api;
mod script_errors;
