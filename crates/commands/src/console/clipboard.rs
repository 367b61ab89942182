//! Images in the clipboard.

use std::process::{Command, Stdio};

use tokio::sync::oneshot::{Receiver, channel};

/// Programs that print the image in the clipboard, for Wayland, X11 and macOS.
const PROGRAMS: [(&str, &[&str]); 3] = [
    ("wl-paste", &["--no-newline", "--type", "image/png"]),
    ("xclip", &["-selection", "clipboard", "-target", "image/png", "-out"]),
    ("pngpaste", &["-"]),
];

/// Reads the image in the clipboard in a separate thread.
pub(super) fn read_image() -> Receiver<Result<Vec<u8>, String>> {
    let (sender, receiver) = channel();
    drop(std::thread::spawn(move || drop(sender.send(image()))));
    receiver
}

fn image() -> Result<Vec<u8>, String> {
    let mut has_program = false;
    for (program, arguments) in PROGRAMS {
        let run = Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output();
        let Ok(output) = run else { continue };
        has_program = true;
        if output.status.success() && !output.stdout.is_empty() {
            return Ok(output.stdout);
        }
    }
    Err(if has_program {
        "There is no image in the clipboard".to_owned()
    } else {
        "The clipboard is read with wl-paste, xclip or pngpaste; install one, or drag the file here"
            .to_owned()
    })
}
