//! Outputs of tools that Claude Code has put into files of their own, because they are long. A result has
//! only the beginning, the size and the path.

use std::fmt::Write as _;
use std::io::Read as _;

use serde_json::Value;
use tidings_agent::UiMessage;
use tidings_protocol::ui::ToolDetails;
use tidings_transcript::roots::SessionFiles;

use crate::limits::PERSISTED_OUTPUT_BYTES_MAX;
use crate::project_files;

/// Key of the path in a result.
const PATH: &str = "persistedOutputPath";

/// Key of the beginning of the output in a result.
const OUTPUT: &str = "stdout";

/// True if the output of one of these events is in a file of its own.
pub(crate) fn is_in(events: &[UiMessage]) -> bool {
    events.iter().any(|event| details(event).is_some_and(|details| path_of(details).is_some()))
}

/// Completes the outputs in the events of a call, from the files of its session. It blocks on the disk.
pub fn complete(events: &mut [UiMessage], sessions: &[SessionFiles]) {
    for event in events {
        let Some(details) = details_mut(event) else { continue };
        let Some(path) = path_of(details).map(str::to_owned) else { continue };
        if let Some(text) = sessions.iter().find_map(|files| text(files, &path))
            && let Some(result) = &mut details.tool_use_result
        {
            result[OUTPUT] = Value::String(text);
        }
    }
}

fn path_of(details: &ToolDetails) -> Option<&str> {
    details.tool_use_result.as_ref()?.get(PATH)?.as_str()
}

fn details(event: &UiMessage) -> Option<&ToolDetails> {
    match event {
        UiMessage::ToolDetails(details) => Some(details),
        UiMessage::Lane(lane) => details(&lane.event),
        _ => None,
    }
}

fn details_mut(event: &mut UiMessage) -> Option<&mut ToolDetails> {
    match event {
        UiMessage::ToolDetails(details) => Some(details),
        UiMessage::Lane(lane) => details_mut(&mut lane.event),
        _ => None,
    }
}

/// The output in a file of the session's own folder; whatever else the path says is ignored, and no link is
/// followed. `None` if there is no such file, or if it is not text.
fn text(files: &SessionFiles, path: &str) -> Option<String> {
    let name = path.rsplit(['/', '\\']).next().filter(|name| !matches!(*name, "" | "." | ".."))?;
    let folder = files.folder.canonicalize().ok()?;
    let file = project_files::open(&folder.join(&files.id).join("tool-results").join(name)).ok()?;
    let bytes = file.metadata().ok()?.len();
    let mut read = Vec::new();
    file.take(PERSISTED_OUTPUT_BYTES_MAX).read_to_end(&mut read).ok()?;
    let mut text = String::from_utf8_lossy(&read).into_owned();
    if text.contains('\0') {
        return None;
    }
    if let Some(left) = bytes.checked_sub(read.len() as u64).filter(|left| *left > 0) {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n… {left} of {bytes} bytes left out\n");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tidings_protocol::ui::Lane;

    use super::*;

    const ID: &str = "11111111-1111-4111-8111-111111111111";

    fn session(root: &std::path::Path) -> SessionFiles {
        std::fs::create_dir_all(root.join("project").join(ID).join("tool-results")).unwrap();
        let main = root.join("project").join(format!("{ID}.jsonl"));
        std::fs::write(&main, "").unwrap();
        SessionFiles::of_file(&main).unwrap()
    }

    fn result(path: &str) -> UiMessage {
        let mut details = ToolDetails::new(1, "toolu_1", false);
        details.tool_use_result =
            Some(json!({"stdout": "1\n2\n", "persistedOutputPath": path, "persistedOutputSize": 9}));
        details.into()
    }

    fn completed(event: UiMessage, files: &SessionFiles) -> String {
        let mut events = [event];
        assert!(is_in(&events));
        complete(&mut events, std::slice::from_ref(files));
        let result = details(&events[0]).and_then(|details| details.tool_use_result.clone()).unwrap();
        result["stdout"].as_str().unwrap().to_owned()
    }

    #[test]
    fn p35_the_rest_of_a_long_output_is_read_from_the_folder_of_its_session() {
        let root = tempfile::tempdir().unwrap();
        let files = session(root.path());
        std::fs::write(files.tool_results().join("b1.txt"), "1\n2\n3\n4\n5\n").unwrap();
        assert_eq!(completed(result("/elsewhere/b1.txt"), &files), "1\n2\n3\n4\n5\n");
        let of_agent = Lane::new(1, "toolu_0", Box::new(result("b1.txt"))).into();
        assert_eq!(completed(of_agent, &files), "1\n2\n3\n4\n5\n");
    }

    #[cfg(unix)]
    #[test]
    fn p35_no_path_and_no_link_leads_out_of_the_folder() {
        use std::os::unix::fs::symlink;
        let root = tempfile::tempdir().unwrap();
        let files = session(root.path());
        let secret = root.path().join("secret.txt");
        std::fs::write(&secret, "secret").unwrap();
        std::fs::write(root.path().join("project").join(ID).join("beside.txt"), "secret").unwrap();
        symlink(&secret, files.tool_results().join("link.txt")).unwrap();
        for path in [secret.to_str().unwrap(), "../beside.txt", "link.txt", "..", "", "a/..", "missing.txt"] {
            assert_eq!(completed(result(path), &files), "1\n2\n", "{path}");
        }
        // The folder itself was replaced.
        std::fs::remove_dir_all(files.tool_results()).unwrap();
        symlink(root.path(), files.tool_results()).unwrap();
        assert_eq!(completed(result("secret.txt"), &files), "1\n2\n");
    }

    #[test]
    fn p35_an_output_beyond_the_limit_says_what_is_missing() {
        let root = tempfile::tempdir().unwrap();
        let files = session(root.path());
        let long = "1\n2\n".to_owned() + &"x".repeat(usize::try_from(PERSISTED_OUTPUT_BYTES_MAX).unwrap());
        std::fs::write(files.tool_results().join("long.txt"), &long).unwrap();
        let text = completed(result("long.txt"), &files);
        assert!(text.ends_with(&format!("\n… 4 of {} bytes left out\n", long.len())), "{}", text.len());
        std::fs::write(files.tool_results().join("picture"), b"\x89PNG\0").unwrap();
        assert_eq!(completed(result("picture"), &files), "1\n2\n", "not text");
    }
}
