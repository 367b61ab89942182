//! The integration tests of the crate, as one program.

mod agents;
mod check;
mod export;
mod follow;
mod harm;
mod index;
mod linked_files;
mod manage;
mod reader;
mod repair;
mod roots;
mod search;
mod seed_001;
mod session;
mod storage;
mod test_root;
