#![doc = include_str!("../README.md")]

pub mod agent;
pub mod limits;
pub mod relay;
pub mod rpc;

mod meta;

pub use meta::{META, meta_of};
