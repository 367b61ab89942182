//! Collects the secrets of a session before it is written.

use std::io::Read as _;

use super::Options;
use crate::Error;
use crate::blocks::{Block, Blocks, Buffer};
use crate::error::At as _;
use crate::redact::Redactor;
use crate::roots::SessionFiles;
use crate::session::Session;

/// Maximum number of bytes that are read of an output file. An export shows less of it.
const OUTPUT_BYTES_MAX: u64 = 64 << 20;

/// Collects the secrets of a session, so that a redactor replaces them in every part of it: a password may
/// stand without its name in a message, and the name in a later one.
///
/// [`export`](super::export()) does this by itself.
pub fn learn_secrets(
    session: &Session,
    files: &SessionFiles,
    options: &Options,
    redactor: &mut Redactor,
) -> Result<(), Error> {
    if let Some(title) = session.title() {
        redactor.learn(&title);
    }
    for (_, input) in options.changed_inputs.iter() {
        redactor.learn_json(input.raw().as_str());
    }
    if session.is_converted() {
        for node in session.ids() {
            redactor.learn_json(&String::from_utf8_lossy(session.entry(node)?.raw()));
        }
        return Ok(());
    }
    let mut buffer = Buffer::default();
    for file in files.files() {
        let opened = fs_err::File::open(&file.path).at("read", &file.path)?;
        let mut blocks = Blocks::new(opened, 0, &mut buffer);
        while let Some(block) = blocks.next().at("read", &file.path)? {
            // A line that is too long to be read is not written either.
            let Block::Lines { bytes, .. } = block else { continue };
            for line in bytes.split(|byte| *byte == b'\n') {
                redactor.learn_json(&String::from_utf8_lossy(line));
            }
        }
    }
    learn_outputs(files, redactor);
    Ok(())
}

/// Collects the secrets of outputs that were too large for their lines. A file that cannot be read is not
/// shown either.
fn learn_outputs(files: &SessionFiles, redactor: &mut Redactor) {
    let Ok(outputs) = std::fs::read_dir(files.tool_results()) else { return };
    for output in outputs.flatten().filter(|output| output.file_type().is_ok_and(|kind| kind.is_file())) {
        let mut bytes = Vec::new();
        let opened = fs_err::File::open(output.path());
        let read = opened.and_then(|file| file.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes));
        // Binary data is not shown as text.
        if read.is_ok() && !bytes.contains(&0) {
            redactor.learn(&String::from_utf8_lossy(&bytes));
        }
    }
}
