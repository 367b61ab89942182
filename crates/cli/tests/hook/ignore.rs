//! `tidings hook ignore`, and hooks in ignored folders.

use std::fs;

use serde_json::json;

use super::desk::{Desk, ends_silently};
use super::listener::Listener;

const OK: &str = "HTTP/1.0 200 OK\r\n\r\n";

#[test]
fn hooks_in_ignored_folders_are_not_sent() {
    let desk = Desk::new();
    let listener = Listener::new(&desk.path("data"));
    for folder in ["project/private/below", "project/private-not"] {
        fs::create_dir_all(desk.path(folder)).unwrap();
    }
    let input = |folder: &str| json!({"cwd": desk.path(folder)}).to_string();
    let is_sent = |folder: &str| {
        let hook = desk.start_patient("Stop", &input(folder));
        listener.accept().reply(OK);
        ends_silently(hook);
    };
    is_sent("project/private");

    std::os::unix::fs::symlink(desk.path("project/private"), desk.path("link")).unwrap();
    desk.fine(&["ignore", desk.path("link").to_str().unwrap()]);
    let listed = fs::read_to_string(desk.path("data/ignored-folders")).unwrap();
    assert_eq!(listed, format!("{}\n", desk.path("project/private").display()));
    for folder in ["project/private", "project/private/below"] {
        ends_silently(desk.start("Stop", &input(folder)));
    }
    assert!(listener.is_unused());
    is_sent("project/private-not");
    is_sent("project");

    desk.fine(&["ignore", "private", "--remove"]);
    is_sent("project/private/below");
}

#[test]
fn ignored_folders_are_listed_once_and_can_be_gone() {
    let desk = Desk::new();
    for folder in ["project/a", "project/b"] {
        fs::create_dir(desk.path(folder)).unwrap();
    }
    for folder in ["a", "b", "a"] {
        desk.fine(&["ignore", folder]);
    }
    let (_, status) = desk.status();
    assert_eq!(status["ignored"], json!([desk.path("project/a"), desk.path("project/b")]));
    fs::remove_dir(desk.path("project/a")).unwrap();
    desk.fine(&["ignore", "a", "--remove"]);
    assert_eq!(desk.status().1["ignored"], json!([desk.path("project/b")]));
    let names: Vec<_> = fs::read_dir(desk.path("data")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["ignored-folders"]);
}

#[test]
fn folders_that_cannot_be_ignored_are_refused() {
    let desk = Desk::new();
    desk.write("project/file", "");
    fs::create_dir(desk.path("project/line\nbreak")).unwrap();
    for (folder, code, words) in
        [("missing", 3, "missing"), ("file", 2, "Not a folder"), ("line\nbreak", 2, "line break")]
    {
        let output = desk.hook(&["ignore", folder]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{message}");
        assert!(message.contains(words) && message.contains("hint"), "{message}");
    }
    assert!(desk.refused(&["ignore", "file", "--remove"]).contains("is not ignored"));
    assert!(!desk.path("data/ignored-folders").exists());
}
