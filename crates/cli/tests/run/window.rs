//! Pseudo-terminal with a program in it.

use std::io::{Read as _, Write};
use std::num::NonZero;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::run::sandbox::Sandbox;
use crate::serve::machine::poll;

pub(crate) struct Window {
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    seen: Arc<Mutex<Seen>>,
}

struct Seen {
    screen: vt100::Parser,
    bytes: Vec<u8>,
}

fn size(columns: u16) -> PtySize {
    PtySize { rows: 40, cols: columns, pixel_width: 0, pixel_height: 0 }
}

impl Window {
    /// Opens a terminal with `columns`, and runs `tidings run` in it.
    pub(crate) fn run(sandbox: &Sandbox, columns: u16, arguments: &[&str]) -> Self {
        Window::with(sandbox, columns, env!("CARGO_BIN_EXE_tidings"), &sandbox.arguments(arguments), &[])
    }

    pub(crate) fn with(
        sandbox: &Sandbox,
        columns: u16,
        program: &str,
        arguments: &[String],
        environment: &[(&str, &str)],
    ) -> Self {
        let pair = native_pty_system().openpty(size(columns)).unwrap();
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        command.cwd(sandbox.path("."));
        command.env_clear();
        for (name, value) in sandbox.environment() {
            command.env(name, value);
        }
        for (name, value) in environment {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let [rows, columns] = [40, columns].map(|size| NonZero::new(size).unwrap());
        let seen =
            Arc::new(Mutex::new(Seen { screen: vt100::Parser::new(rows, columns, 500), bytes: Vec::new() }));
        let mut output = pair.master.try_clone_reader().unwrap();
        let reader = Arc::clone(&seen);
        drop(std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut chunk) {
                let mut seen = reader.lock().unwrap();
                seen.screen.process(&chunk[..read]);
                seen.bytes.extend_from_slice(&chunk[..read]);
            }
        }));
        let keys = pair.master.take_writer().unwrap();
        Window { master: pair.master, child, keys, seen }
    }

    /// Current content of the screen.
    pub(crate) fn text(&self) -> String {
        let seen = self.seen.lock().unwrap();
        seen.screen.screen().contents()
    }

    /// All bytes that were written to the terminal.
    pub(crate) fn bytes(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap().bytes).into_owned()
    }

    /// Waits until a text is on the screen.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) {
        self.wait_for_times(text, 1);
    }

    /// Waits until a text is on the screen so many times.
    #[track_caller]
    pub(crate) fn wait_for_times(&self, text: &str, times: usize) {
        let shown = poll(|| (self.text().matches(text).count() >= times).then_some(()));
        assert!(shown.is_some(), "no {text:?} on the screen:\n{}", self.text());
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    pub(crate) fn resize(&self, columns: u16) {
        let [rows, wide] = [40, columns].map(|size| NonZero::new(size).unwrap());
        // Resize the screen first, with the reader locked out: the program draws for the new size afterwards.
        let mut seen = self.seen.lock().unwrap();
        seen.screen.screen_mut().set_size(rows, wide);
        self.master.resize(size(columns)).unwrap();
    }

    /// Waits for the end of the program, and returns its exit code and the content of the screen.
    #[track_caller]
    pub(crate) fn ended(&mut self) -> (u32, String) {
        let status = poll(|| self.child.try_wait().unwrap());
        let status = status.unwrap_or_else(|| panic!("it does not end:\n{}", self.text()));
        // The last output may not have been read yet.
        std::thread::sleep(Duration::from_millis(200));
        (status.exit_code(), self.text())
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // The program has ended, unless the test failed.
        drop(self.child.kill());
    }
}
