//! `tidings hook policy`: policies for the sessions that people start themselves, per folder.

use std::path::PathBuf;

use tidings_api::{FolderPolicy, FolderPolicyList, SetFolderPolicy};
use tidings_commands::error::{CannotRun, Exit};
use tidings_commands::output::{Output, printable};
use tidings_remote::RemoteServer;

use super::HookPolicyArgs;

const PATH: &str = "/v1/policies";

impl HookPolicyArgs {
    pub(super) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let remote = self.remote.remote()?;
        let Some(folder) = &self.folder else {
            let list: FolderPolicyList = runtime.block_on(remote.get(PATH))?;
            return self.print(&list, out);
        };
        if self.policy.is_none() && !self.remove {
            let message = "Neither a policy nor `--remove` was given".to_owned();
            return Err(CannotRun { code: "usage", message, hint: "see `tidings hook policy --help`" }.into());
        }
        // A folder that is gone can still be removed.
        let folder = std::fs::canonicalize(folder).or_else(|_| std::path::absolute(folder))?;
        let set = runtime.block_on(self.set(&remote, folder))?;
        if self.remote.json {
            out.json(&set)?;
            return Ok(Exit::Success);
        }
        out.note(&format!(
            "Sessions that you start in `{}` from now on have the policy `{}`.",
            printable(&set.folder),
            name(&set)
        ))?;
        Ok(Exit::Success)
    }

    async fn set(&self, remote: &RemoteServer, folder: PathBuf) -> anyhow::Result<FolderPolicy> {
        let folder = folder.display().to_string();
        let change = SetFolderPolicy { folder, policy: self.policy.map(Into::into) };
        Ok(remote.put(PATH, &change).await?)
    }

    fn print(&self, list: &FolderPolicyList, out: &mut Output) -> anyhow::Result<Exit> {
        if self.remote.json {
            out.json(list)?;
            return Ok(Exit::Success);
        }
        for item in &list.items {
            out.text(&format!(
                "{}  {}\n",
                tidings_commands::human::padded(&name(item), 10),
                printable(&item.folder)
            ))?;
        }
        if list.items.is_empty() {
            out.note("No folder has a policy of its own: every request of such sessions is asked.")?;
        }
        Ok(Exit::Success)
    }
}

/// The name of the policy, as in the JSON.
fn name(item: &FolderPolicy) -> String {
    serde_json::to_value(item.policy)
        .ok()
        .and_then(|name| name.as_str().map(str::to_owned))
        .unwrap_or_default()
}
