//! Tests of the input line: keys, history, completion, images and pasted text.

use super::*;

fn input() -> PromptInput {
    PromptInput::new(PromptHistory::of_project(None, std::path::Path::new("/project")))
}

fn typed(input: &mut PromptInput, text: &str) {
    for c in text.chars() {
        assert_eq!(input.key(&Key::Char(c)), PromptAction::None);
    }
}

fn text(input: &PromptInput) -> String {
    input.text.as_str().to_owned()
}

fn sent(text: &str) -> PromptAction {
    PromptAction::Send(Draft { text: text.to_owned(), images: Vec::new() })
}

#[test]
fn enter_sends_and_other_keys_add_lines() {
    let mut input = input();
    assert_eq!(input.key(&Key::Enter), PromptAction::None, "nothing is typed");
    typed(&mut input, "one\\");
    assert_eq!(input.key(&Key::Enter), PromptAction::None);
    typed(&mut input, "two");
    input.key(&Key::Newline);
    input.key(&Key::Paste("three\nfour\x1b[31m".to_owned()));
    assert_eq!(input.key(&Key::Enter), sent("one\ntwo\nthree\nfour[31m"));
    assert!(input.is_empty());
    typed(&mut input, "faster");
    let steered = input.key(&Key::Ctrl('s'));
    assert_eq!(steered, PromptAction::Steer(Draft { text: "faster".to_owned(), images: Vec::new() }));
}

#[test]
fn a_line_is_left_with_a_command_or_when_it_is_empty() {
    let mut input = input();
    assert_eq!(input.key(&Key::Char('?')), PromptAction::ShowKeys);
    typed(&mut input, "why?");
    assert_eq!(input.key(&Key::Ctrl('d')), PromptAction::None, "deletes a character");
    assert!(input.clear());
    assert!(!input.clear());
    assert_eq!(input.key(&Key::Ctrl('d')), PromptAction::Leave);
    typed(&mut input, "/exit");
    assert_eq!(input.key(&Key::Enter), PromptAction::Leave);
}

#[test]
fn c2_prompts_come_back_with_the_arrows() {
    let mut input = input();
    for prompt in ["first", "second"] {
        typed(&mut input, prompt);
        input.key(&Key::Enter);
    }
    typed(&mut input, "thi");
    input.key(&Key::Up);
    input.key(&Key::Up);
    assert_eq!(text(&input), "first");
    input.key(&Key::Down);
    input.key(&Key::Down);
    assert_eq!(text(&input), "thi");
    // An edited prompt is a new one: the next arrow begins at the newest again.
    input.key(&Key::Up);
    typed(&mut input, "!");
    input.key(&Key::Up);
    assert_eq!(text(&input), "second");
}

#[test]
fn tab_completes_commands() {
    let mut input = input();
    let command = |name: &str| SlashCommand { name: name.to_owned(), description: "Says it".to_owned() };
    input.set_commands(vec![command("compact"), command("context"), command("review")]);
    typed(&mut input, "/c");
    assert_eq!(input.lines(40).0.len(), 3, "the line and two completions");
    input.key(&Key::Tab);
    assert_eq!(text(&input), "/co");
    input.key(&Key::Tab);
    assert_eq!(text(&input), "/compact");
    input.key(&Key::Tab);
    assert_eq!(text(&input), "/context");
    assert!(input.lines(40).0[2].text().starts_with("▸ /context"), "{:?}", input.lines(40).0);
    assert_eq!(input.key(&Key::Enter), sent("/context"));
    typed(&mut input, "/r");
    input.key(&Key::Tab);
    assert_eq!(text(&input), "/review ");
    assert_eq!(input.lines(40).0.len(), 1);
}

#[test]
fn dragged_images_are_attached_and_other_files_named() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs_err::write(path("shot.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    fs_err::write(path("bad.png"), b"text").unwrap();
    fs_err::write(path("main.rs"), b"").unwrap();
    let mut input = input();
    input.set_folder(Some(folder.path().to_owned()));
    input.key(&Key::Paste(format!("{} {}", path("shot.png").display(), path("main.rs").display())));
    assert_eq!(text(&input), "[image 1: shot.png] @main.rs ");
    let PromptAction::Send(draft) = input.key(&Key::Enter) else { panic!("not sent") };
    assert_eq!((draft.text.as_str(), draft.images.len()), ("[image 1: shot.png] @main.rs", 1));
    assert_eq!(draft.images[0].1.media_type, "image/png");
    // A prompt that is put back keeps its image, until the text that stands for it is deleted.
    typed(&mut input, "more");
    input.put_back(draft);
    assert_eq!(text(&input), "[image 1: shot.png] @main.rs\nmore");
    input.set_text("without it");
    let PromptAction::Send(draft) = input.key(&Key::Enter) else { panic!("not sent") };
    assert_eq!(draft.images, []);
    input.key(&Key::Paste(path("bad.png").display().to_string()));
    assert!(input.lines(80).0[1].text().contains("not a PNG"), "{:?}", input.lines(80).0);
    // On another machine there are no such files.
    input.set_folder(None);
    input.key(&Key::Paste(path("main.rs").display().to_string()));
    assert_eq!(text(&input), path("main.rs").display().to_string());
}

#[test]
fn ctrl_r_searches_in_the_earlier_prompts() {
    let mut input = input();
    for prompt in ["fix the parser", "write a test", "Fix the lexer"] {
        typed(&mut input, prompt);
        input.key(&Key::Enter);
    }
    typed(&mut input, "half");
    input.key(&Key::Ctrl('r'));
    typed(&mut input, "fix");
    assert_eq!(text(&input), "Fix the lexer");
    input.key(&Key::Ctrl('r'));
    assert_eq!(text(&input), "fix the parser");
    input.key(&Key::Ctrl('r'));
    assert_eq!(text(&input), "fix the parser", "there is no older one");
    typed(&mut input, "x");
    assert_eq!(text(&input), "half");
    assert!(input.lines(80).0[1].text().contains("no earlier prompt has fixx"));
    input.key(&Key::Backspace);
    assert_eq!(text(&input), "Fix the lexer");
    input.key(&Key::Escape);
    assert_eq!(text(&input), "half");
    input.key(&Key::Ctrl('r'));
    typed(&mut input, "test");
    assert_eq!(input.key(&Key::Enter), PromptAction::None);
    typed(&mut input, "!");
    assert_eq!(input.key(&Key::Enter), sent("write a test!"));
}

#[test]
fn a_long_pasted_text_is_folded_and_sent_whole() {
    let mut input = input();
    let long = "a line of a log\n".repeat(40);
    typed(&mut input, "look: ");
    input.key(&Key::Paste(long.clone()));
    typed(&mut input, " and ");
    input.key(&Key::Paste("x".repeat(5_000)));
    assert_eq!(text(&input), "look: [pasted text 1: 40 lines] and [pasted text 2: 1 line]");
    let whole = format!("look: {long} and {}", "x".repeat(5_000));
    assert_eq!(input.key(&Key::Ctrl('g')), PromptAction::OpenEditor(whole.clone()));
    assert_eq!(input.key(&Key::Enter), sent(&whole));
    input.key(&Key::Paste("y".repeat(2 << 20)));
    assert!(input.is_empty() && input.lines(80).0[1].text().contains("too long"));
    assert_eq!(input.key(&Key::Up), PromptAction::None);
    assert_eq!(text(&input), whole, "the history has the whole prompt");
}
