#![doc = include_str!("../README.md")]

pub mod adapter;
pub mod agent;
pub mod limits;
pub mod lines;
pub mod relay;
pub mod rpc;

mod meta;
mod text;

pub use meta::{META, meta_of};
