//! Requests that wait for a person, and their answers.

pub(super) mod abandoned;
pub(super) mod answers;
pub(super) mod asks;
pub(super) mod policy;
