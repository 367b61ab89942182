//! The integration tests of the crate, as one program.

mod doctor;
mod frames;
mod hook;
mod installation;
mod rehearse;
mod run;
mod schema;
mod serve;
mod sessions_check;
mod sessions_cost;
mod sessions_export;
mod sessions_follow;
mod sessions_keep;
mod sessions_manage;
mod sessions_others;
mod sessions_search;
mod sessions_tree;
mod sessions_unreadable;
mod terminal_host;
mod test_root;
mod usage;
