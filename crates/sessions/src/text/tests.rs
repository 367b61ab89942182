//! The table of ways, forms and scopes, as it is published and as it is applied.

use std::fmt::Write as _;
use std::path::Path;

use tidings_api::Scopes;

use super::commands::{ADMIN_NAMES, ROWS};
use super::*;

fn with(scopes: &[Scope]) -> Caller {
    Caller { scopes: scopes.iter().copied().collect::<Scopes>(), ..Caller::admin("phone") }
}

/// A caller with the scopes of a usual device and this one.
fn up_to(scope: Scope) -> Caller {
    with(&[Scope::Read, Scope::Prompt, Scope::Decide, scope])
}

fn target(folder: &Path) -> TextTarget<'_> {
    TextTarget { folder, config_dir: None, denies: Denies::Credentials }
}

/// A text with each form, which leads out of the folder of the session.
fn sample(form: Form) -> &'static [&'static str] {
    match form {
        Form::Mention => &[
            "@/etc/hosts",
            "see @~/.ssh/id_rsa please",
            "@../secret",
            "@\"/etc/ho sts\"",
            "a\n@/etc/hosts#L1-2",
            "@/proc/self/root/etc/hosts",
            "```\n@/etc/hosts\n```",
        ],
        Form::Command => &["/config permissionMode=auto", "/no-such-command", " /heapdump"],
        Form::Shell => &["!ls", " ! ls"],
        Form::Note => &["#note", "# Title"],
        Form::Background => &["&task"],
        Form::ImagePath => &["look at ~/Pictures/a.png"],
        Form::Sign => &["\u{7f}", "x"],
    }
}

#[test]
fn k21_k22_every_form_needs_its_scope_on_every_way() {
    let folder = tempfile::tempdir().unwrap();
    for way in Way::ALL {
        for form in Form::ALL.into_iter().filter(|form| *form != Form::Sign) {
            let needed = way.scope_of(form);
            for text in sample(form) {
                for scope in [Scope::Prompt, Scope::Decide, Scope::Edit, Scope::Always, Scope::Admin] {
                    let admitted = admit(&up_to(scope), way, target(folder.path()), text);
                    let is_enough = matches!(needed, Scope::Prompt | Scope::Decide) || scope >= needed;
                    assert_eq!(admitted.is_ok(), is_enough, "{way:?} {text:?} {scope}");
                    let Ok(delivered) = admitted else { continue };
                    let is_plain = way == Way::Answer || (scope != Scope::Admin && needed == Scope::Prompt);
                    let meaning = if is_plain { Meaning::Plain } else { Meaning::Interpreted };
                    assert_eq!(delivered.meaning, meaning, "{way:?} {text:?} {scope}");
                    // What is delivered as data is not refused on its way.
                    assert!(
                        !is_plain || way == Way::Answer || check_plain(way, text).is_ok(),
                        "{way:?} {text:?}"
                    );
                    assert_eq!((delivered.text.as_str(), delivered.files.len()), (*text, 0));
                }
                let refused = admit(&up_to(Scope::Prompt), way, target(folder.path()), text);
                if let Err(refused) = refused {
                    assert_eq!(refused.code(), Code::Forbidden);
                    assert!(refused.message().contains(&format!("`{needed}`")), "{}", refused.message());
                }
            }
        }
    }
}

#[test]
fn k21_an_admin_of_some_folders_is_limited_like_a_device() {
    let folder = tempfile::tempdir().unwrap();
    let admin = Caller { folders: vec!["/srv".to_owned()], ..Caller::admin("laptop") };
    let delivered = admit(&admin, Way::Message, target(folder.path()), "@/etc/hosts").unwrap();
    assert_eq!(delivered.meaning, Meaning::Plain);
    assert!(admit(&admin, Way::Typed, target(folder.path()), "@/etc/hosts").is_err());
    assert!(admit(&admin, Way::Message, target(folder.path()), "/config a=b").is_err());
}

#[test]
fn k22_a_command_for_the_prompt_scope_is_interpreted_and_has_no_mention() {
    let folder = tempfile::tempdir().unwrap();
    let phone = up_to(Scope::Prompt);
    for way in [Way::Message, Way::UnmarkedMessage] {
        let delivered = admit(&phone, way, target(folder.path()), "/compact keep the plan").unwrap();
        assert_eq!(delivered.meaning, Meaning::Interpreted);
        for text in ["/compact @~/.ssh/id_rsa", "/init @/etc/hosts", "/context\n@x", "/compact a@/etc/hosts"]
        {
            let refused = admit(&up_to(Scope::Always), way, target(folder.path()), text).unwrap_err();
            assert!(refused.message().contains("`admin`"), "{text}");
        }
    }
    let old = TextTarget { denies: Denies::Nothing, ..target(folder.path()) };
    let refused = admit(&phone, Way::Message, old, "/compact").unwrap_err();
    assert_eq!(refused.code(), Code::Conflict);
    assert!(admit(&phone, Way::Message, old, "hello @x").is_ok(), "a plain text is safe without the rules");
}

#[test]
fn k21_a_version_that_ignores_the_mark_gets_no_text_that_it_would_interpret() {
    let way = |version: &str| Way::of_version(version.parse().ok());
    for version in ["2.1.325", "2.1.327", "2.2.0", "3.0.0"] {
        assert_eq!(way(version), Way::Message, "{version}");
    }
    for version in ["2.0.0", "2.1.197", "2.1.248", "2.1.324", "", "unknown"] {
        assert_eq!(way(version), Way::UnmarkedMessage, "{version}");
    }
    for text in ["@/etc/hosts", "/config a=b", "!ls", "#x", "&x"] {
        assert!(check_plain(Way::UnmarkedMessage, text).is_err(), "{text}");
        assert!(check_plain(Way::OtherAgent, text).is_err(), "{text}");
        assert!(check_plain(Way::Message, text).is_ok(), "{text}");
    }
    for way in Way::ALL {
        assert!(check_plain(way, "Explain this, please: it is 5 o'clock").is_ok(), "{way:?}");
    }
}

#[cfg(unix)]
#[test]
fn k21_files_of_the_project_are_added_whatever_the_agent_does_with_mentions() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    std::fs::write(folder.join("notes.txt"), "hello").unwrap();
    let phone = up_to(Scope::Prompt);
    let admit = |way, text: &str| admit(&phone, way, target(&folder), text);
    let marked = admit(Way::Message, "see @notes.txt and @/etc/hosts").unwrap();
    assert_eq!((marked.text.as_str(), marked.files.len()), ("see @notes.txt and @/etc/hosts", 1));
    for way in [Way::UnmarkedMessage, Way::OtherAgent] {
        let bare = admit(way, "see @notes.txt, and ＠notes.txt,").unwrap();
        assert_eq!(bare.text, "see notes.txt, and notes.txt,");
        assert_eq!((bare.files.len(), bare.meaning), (1, Meaning::Plain));
        assert!(check_plain(way, &bare.text).is_ok());
        assert!(admit(way, "see @notes.txt and @/etc/hosts").is_err());
    }
    for way in [Way::Typed, Way::PeerMessage] {
        assert!(admit(way, "see @notes.txt").is_err());
    }
}

#[cfg(unix)]
#[test]
fn the_first_visible_character_of_a_typed_text_decides() {
    use tidings::host::terminal::typed_text;
    let folder = tempfile::tempdir().unwrap();
    let scope = |text: &str| {
        let text = typed_text(text);
        let is_enough =
            |scope: &Scope| admit(&up_to(*scope), Way::Typed, target(folder.path()), &text).is_ok();
        [Scope::Prompt, Scope::Always, Scope::Admin].into_iter().find(is_enough).unwrap()
    };
    for (text, wanted) in [
        ("explain this", Scope::Prompt),
        ("Größe?", Scope::Prompt),
        ("«why»", Scope::Prompt),
        ("- one\n- two", Scope::Prompt),
        ("run /clear and !ls later", Scope::Prompt),
        ("/compact", Scope::Prompt),
        ("/compact keep the plan", Scope::Prompt),
        ("/context", Scope::Prompt),
        ("/clear", Scope::Always),
        ("#remember", Scope::Always),
        ("# Title", Scope::Always),
        ("& later", Scope::Always),
        ("／clear", Scope::Always),
        ("/compacted", Scope::Admin),
        ("/compact/../clear", Scope::Admin),
        ("/permissions", Scope::Admin),
        ("/srv/file is broken", Scope::Admin),
        ("@README.md explain", Scope::Admin),
        ("explain @README.md", Scope::Admin),
        ("~/shot.png", Scope::Admin),
        ("!ls", Scope::Admin),
        ("！ls", Scope::Admin),
    ] {
        assert_eq!(scope(text), wanted, "{text}");
        for hidden in [
            " ",
            "\n\t",
            "\u{a0}",
            "\u{200b}",
            "\u{feff}\u{2060} ",
            "\x1b[201~",
            "\x07\x1b",
            "\u{9b}",
            "\u{3000}",
        ] {
            assert_eq!(scope(&format!("{hidden}{text}")), wanted, "{hidden:?} {text}");
        }
    }
}

/// The tables of docs/security.md.
fn published() -> String {
    let mut text = String::from(
        "| form | message | message to an earlier version | other agent | typed | messaging socket | beside a prompt |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for form in Form::ALL {
        let cells: Vec<_> = Way::ALL
            .iter()
            .map(|way| match (way, form) {
                (Way::Message | Way::UnmarkedMessage | Way::Typed, Form::Command) => "by command".to_owned(),
                _ => format!("`{}`", way.scope_of(form)),
            })
            .collect();
        writeln!(text, "| {} | {} |", form.as_str(), cells.join(" | ")).unwrap();
    }
    text.push_str("\n| command | message | typed |\n|---|---|---|\n");
    for row in &ROWS {
        writeln!(text, "| `/{}` | `{}` | `{}` |", row.name, row.message, row.typed).unwrap();
    }
    text.push_str(
        "| skills, commands of the project, of plugins and of MCP servers | `always` | `always` |\n",
    );
    text.push_str("| every other one | `admin` | `admin` |\n");
    text
}

#[test]
fn k21_the_published_table_is_the_one_that_is_applied() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/security.md");
    let page = std::fs::read_to_string(page).unwrap();
    let published = published();
    assert!(page.contains(&published), "docs/security.md needs these tables:\n{published}");
}

#[test]
fn the_names_of_commands_are_sorted_and_in_one_list() {
    assert!(ADMIN_NAMES.is_sorted());
    assert!(ROWS.iter().all(|row| !ADMIN_NAMES.contains(&row.name)));
}
