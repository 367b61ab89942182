//! The sender of a hook message: our program, started by the CLI that it speaks for.
//!
//! The agent's own commands run as the same user and can connect to the same socket. Their parent is a shell,
//! or their program is another one.

/// The process that started a process, if it is this program.
#[cfg(target_os = "linux")]
pub(super) fn parent_of_hook(pid: u32) -> Option<u32> {
    let program = |pid: &str| std::fs::read_link(format!("/proc/{pid}/exe")).ok();
    let ours = program("self")?;
    if program(&pid.to_string())? != ours {
        return None;
    }
    parent(pid)
}

/// Without `/proc`, the user of the process is all that is known about it.
#[cfg(not(target_os = "linux"))]
pub(super) fn parent_of_hook(_pid: u32) -> Option<u32> {
    None
}

#[cfg(target_os = "linux")]
fn parent(pid: u32) -> Option<u32> {
    let fields = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    fields.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_of_another_program_is_no_hook() {
        let own = std::process::id();
        assert_eq!(parent_of_hook(own), Some(std::os::unix::process::parent_id()));
        let mut other = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert_eq!(parent(other.id()), Some(own));
        assert_eq!(parent_of_hook(other.id()), None);
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
