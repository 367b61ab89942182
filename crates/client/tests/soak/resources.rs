//! The processes, tasks and open files that sessions use.

/// The resources that sessions use.
#[derive(Debug, Default)]
pub(crate) struct Resources {
    /// Child processes, including zombies, except the watchdog shell.
    pub(crate) children: Vec<String>,
    /// Tasks of the runtime.
    pub(crate) tasks: usize,
    /// Open files, pipes and sockets.
    pub(crate) files: usize,
}

impl Resources {
    pub(crate) fn now(runtime: &tokio::runtime::Runtime) -> Self {
        let files = std::fs::read_dir("/proc/self/fd").unwrap().count();
        Resources { children: children(), tasks: runtime.metrics().num_alive_tasks(), files }
    }
}

fn children() -> Vec<String> {
    let me = std::process::id().to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let path = entry.path();
        let stat = std::fs::read_to_string(path.join("stat")).unwrap_or_default();
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_ascii_whitespace().nth(1));
        let command = std::fs::read_to_string(path.join("cmdline")).unwrap_or_default();
        if parent == Some(&me) && !command.contains("tidings-watchdog") {
            found.push(format!("{} {command}", path.display()));
        }
    }
    found
}
