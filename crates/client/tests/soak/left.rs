/// What there is of a session while it lives.
#[derive(Debug, Default)]
pub(crate) struct Left {
    /// Processes below this one, zombies too, but for the shell that watches over it.
    pub(crate) children: Vec<String>,
    /// Tasks of the runtime.
    pub(crate) tasks: usize,
    /// Open files, pipes and sockets.
    pub(crate) files: usize,
}

impl Left {
    pub(crate) fn now(runtime: &tokio::runtime::Runtime) -> Self {
        let files = std::fs::read_dir("/proc/self/fd").unwrap().count();
        Left { children: children(), tasks: runtime.metrics().num_alive_tasks(), files }
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
