//! A CLI in a pane of tmux, if the user allows the server to type there.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use tidings::host::terminal::{InputLine, ScreenCopy, TerminalSize, TypingOutcome, submit, typed_text};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// A pane, as the environment of the CLI names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TmuxPane {
    socket: String,
    pane: String,
    /// The process of the CLI.
    pid: u32,
}

/// Time for tmux to answer.
const ANSWER_TIME: Duration = Duration::from_secs(5);

/// The buffer with the text, beside those of the user.
const BUFFER: &str = "tidings";

impl TmuxPane {
    /// The pane that a process was started in, where the system has its environment in `/proc`.
    pub(super) fn of_process(pid: u32) -> Option<Self> {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
        let value = |name: &str| {
            let mut variables =
                environment.split(|byte| *byte == 0).filter_map(|text| str::from_utf8(text).ok());
            variables.find_map(|text| text.strip_prefix(name)?.strip_prefix('='))
        };
        TmuxPane::new(value("TMUX")?, value("TMUX_PANE")?, pid)
    }

    /// The pane of a process, from the values of `TMUX` and `TMUX_PANE`.
    fn new(tmux: &str, pane: &str, pid: u32) -> Option<Self> {
        let socket = tmux.split(',').next().filter(|socket| socket.starts_with('/'))?;
        let number = pane.strip_prefix('%')?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| TmuxPane { socket: socket.to_owned(), pane: pane.to_owned(), pid })
    }

    /// Types a prompt, if the screen allows it now. An empty one only asks.
    pub(super) async fn prompt(&self, text: &str) -> io::Result<TypingOutcome> {
        let outcome = self.readiness().await?;
        let text = typed_text(text);
        if outcome != TypingOutcome::Typed || text.is_empty() {
            return Ok(outcome);
        }
        let load = ["load-buffer", "-b", BUFFER, "-", ";"];
        let paste = ["paste-buffer", "-p", "-d", "-b", BUFFER, "-t", &self.pane];
        self.tmux(&[&load[..], &paste].concat(), Some(&text)).await?;
        submit(self).await?;
        Ok(outcome)
    }

    /// Types Esc, if the input line is on the screen.
    pub(super) async fn interrupt(&self) -> io::Result<TypingOutcome> {
        if self.readiness().await? == TypingOutcome::NoInputLine {
            return Ok(TypingOutcome::NoInputLine);
        }
        self.tmux(&["send-keys", "-t", &self.pane, "Escape"], None).await?;
        Ok(TypingOutcome::Typed)
    }

    /// Types Esc, whatever is on the screen.
    pub(super) async fn close_screen(&self) -> io::Result<()> {
        if self.screen().await?.is_some() {
            self.tmux(&["send-keys", "-t", &self.pane, "Escape"], None).await?;
        }
        Ok(())
    }

    async fn readiness(&self) -> io::Result<TypingOutcome> {
        Ok(self.screen().await?.map_or(TypingOutcome::NoInputLine, |screen| screen.readiness()))
    }

    /// A copy of the screen; none if the CLI does not have the pane to itself now.
    async fn screen(&self) -> io::Result<Option<ScreenCopy>> {
        const FACTS: &str = "#{pane_pid} #{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{pane_in_mode} #{pane_input_off}";
        let facts = self.tmux(&["display-message", "-p", "-t", &self.pane, FACTS], None).await?;
        let facts: Vec<u32> = facts.split_whitespace().filter_map(|fact| fact.parse().ok()).collect();
        let [pane_pid, cols, rows, x, y, 0, 0] = facts[..] else { return Ok(None) };
        if !has_terminal(self.pid, pane_pid) {
            return Ok(None);
        }
        let number = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
        let mut screen = ScreenCopy::new(TerminalSize { rows: number(rows), cols: number(cols) });
        let text = self.tmux(&["capture-pane", "-p", "-e", "-t", &self.pane], None).await?;
        // tmux pastes as the program wants it.
        screen.process(b"\x1b[?2004h");
        screen.process(text.trim_end_matches('\n').replace('\n', "\r\n").as_bytes());
        screen.process(format!("\x1b[{};{}H", y + 1, x + 1).as_bytes());
        Ok(Some(screen))
    }

    async fn tmux(&self, args: &[&str], input: Option<&str>) -> io::Result<String> {
        let mut command = Command::new("tmux");
        command.args(["-u", "-S", &self.socket]).args(args).kill_on_drop(true);
        command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let run = async {
            let mut child = command.spawn()?;
            if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
                stdin.write_all(input.as_bytes()).await?;
            }
            child.wait_with_output().await
        };
        let output = tokio::time::timeout(ANSWER_TIME, run).await.map_err(|_| io::ErrorKind::TimedOut)??;
        if !output.status.success() {
            return Err(io::Error::other("tmux does not know the pane any more"));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl InputLine for TmuxPane {
    async fn text(&self) -> io::Result<Option<String>> {
        Ok(self.screen().await?.and_then(|screen| screen.input()))
    }

    async fn enter(&self) -> io::Result<()> {
        self.tmux(&["send-keys", "-t", &self.pane, "Enter"], None).await.map(drop)
    }
}

/// True if a process has the terminal of a pane: the pane's process has started it, both have the same
/// terminal, and it is the foreground job. Without `/proc` it is not known, so nothing is typed.
fn has_terminal(pid: u32, pane_pid: u32) -> bool {
    let fields = |pid: u32| -> Option<Vec<i64>> {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let fields = text.rsplit_once(") ")?.1.split(' ').skip(1);
        Some(fields.take(5).filter_map(|field| field.parse().ok()).collect())
    };
    // Its parent, its group, its session, its terminal, and the foreground group of that.
    let chunk = |pid: u32| fields(pid)?.first_chunk::<5>().copied();
    let (Some([_, group, _, terminal, foreground]), Some([_, _, _, of_pane, _])) =
        (chunk(pid), chunk(pane_pid))
    else {
        return false;
    };
    let parent = |pid: &u32| fields(*pid)?.first().and_then(|parent| u32::try_from(*parent).ok());
    let mut above = std::iter::successors(Some(pid), parent).take(ANCESTORS_MAX);
    group == foreground && terminal == of_pane && above.any(|pid| pid == pane_pid)
}

/// The table of processes may change while it is read, so a loop is possible.
const ANCESTORS_MAX: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pane_has_a_socket_and_a_number() {
        assert!(TmuxPane::new("/tmp/tmux-1/default,17,0", "%3", 5).is_some());
        for (tmux, pane) in
            [("", "%3"), ("relative,1,0", "%3"), ("/s,1,0", "3"), ("/s,1,0", "%"), ("/s,1,0", "%3;x")]
        {
            assert_eq!(TmuxPane::new(tmux, pane, 5), None, "{tmux} {pane}");
        }
    }
}
