//! `tidings run --backend`: another agent in place of Claude Code.

use std::env;
use std::path::PathBuf;

use futures_util::future::BoxFuture;
use tidings::options::{Arg, Launch};
use tidings::transport::{Link, Process, Transport};

use crate::agents;

/// The transport of a session: a process of Claude Code, or the adapter of another agent.
pub(super) fn transport(backend: Option<&str>) -> anyhow::Result<Box<dyn Transport>> {
    let Some(name) = backend else { return Ok(Box::new(Process::new())) };
    let agent = agents::named(name)?;
    let (program, args) = (env::current_exe()?, agent.adapter_args()?);
    Ok(Box::new(Adapted { program, args, env: agent.env }))
}

/// Starts this program with the arguments that make it an agent.
#[derive(Debug)]
struct Adapted {
    program: PathBuf,
    args: Vec<String>,
    env: Vec<(String, String)>,
}

impl Transport for Adapted {
    fn open(self: Box<Self>, mut launch: Launch) -> BoxFuture<'static, Result<Link, tidings::Error>> {
        launch.program = Some(self.program);
        let usual = std::mem::take(&mut launch.args);
        launch.args = self.args.into_iter().map(Arg::Text).chain(usual).collect();
        launch.environment.set.extend(self.env);
        Box::new(Process::new()).open(launch)
    }
}
