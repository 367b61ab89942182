//! Forms in a text that an agent may interpret instead of passing them to its model.

/// A form that Claude Code, or another agent, gives a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Form {
    /// `@path`: the file is added to the prompt, and no permission is asked for.
    Mention,
    /// `/name` at the beginning: a command of the agent, a skill or a command of the project.
    Command,
    /// `!` at the beginning: a shell command, where the text is typed.
    Shell,
    /// `#` at the beginning: a note for the memory.
    Note,
    /// `&` at the beginning: a task in the background.
    Background,
    /// The path of an image, which the input line of a terminal replaces by the image.
    ImagePath,
    /// Another sign at the beginning that may get a meaning in an input line.
    Sign,
}

impl Form {
    /// All of them, in the order of the published table.
    #[cfg(test)]
    pub(crate) const ALL: [Form; 7] = [
        Form::Mention,
        Form::Command,
        Form::Shell,
        Form::Note,
        Form::Background,
        Form::ImagePath,
        Form::Sign,
    ];

    /// The form in messages and in the published table.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Form::Mention => "`@path`",
            Form::Command => "`/command`",
            Form::Shell => "`!command`",
            Form::Note => "`#note`",
            Form::Background => "`&task`",
            Form::ImagePath => "the path of an image",
            Form::Sign => "another sign at the beginning",
        }
    }
}

/// Signs at the beginning of a text that have no meaning in an input line.
const PLAIN_SIGNS: &str = "\"'([{<`*-_+=@＠$%.,:;~^|>?\\])}";

/// Endings of files that an input line takes for images.
const IMAGE_ENDINGS: [&str; 6] = [".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp"];

/// The forms in a text, each once.
pub(crate) fn forms(text: &str) -> Vec<Form> {
    let mut forms = Vec::new();
    forms.extend(leading_form(text));
    if mentions(text).next().is_some() {
        forms.push(Form::Mention);
    }
    if has_image_path(text) {
        forms.push(Form::ImagePath);
    }
    forms
}

/// The form that the first visible character makes of a text.
fn leading_form(text: &str) -> Option<Form> {
    let first = visible_start(text).chars().next()?;
    match first {
        '/' | '／' => Some(Form::Command),
        '!' | '！' => Some(Form::Shell),
        '#' | '＃' => Some(Form::Note),
        '&' | '＆' => Some(Form::Background),
        first if first.is_alphanumeric() || PLAIN_SIGNS.contains(first) || !first.is_ascii() => None,
        _ => Some(Form::Sign),
    }
}

/// A text from its first visible character on. A terminal ignores a space before a command.
pub(crate) fn visible_start(text: &str) -> &str {
    text.trim_start_matches(|sign: char| {
        sign.is_whitespace() || sign.is_control() || tidings_agent::permissions::is_hidden(sign)
    })
}

/// A mention in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mention<'a> {
    /// The offset of the `@`.
    pub(crate) at: usize,
    /// The `@`, which has two widths.
    pub(crate) sign: char,
    /// The text behind it, up to the next space or quote.
    pub(crate) path: &'a str,
}

/// The mentions in a text. Only a letter before the `@` is known to make it something else, such as an
/// address of mail.
pub(crate) fn mentions(text: &str) -> impl Iterator<Item = Mention<'_>> {
    text.match_indices(['@', '＠']).filter_map(move |(at, sign)| {
        let before = text[..at].chars().next_back();
        let rest = &text[at + sign.len()..];
        let path = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next().unwrap_or_default(),
            None => rest.split(char::is_whitespace).next().unwrap_or_default(),
        };
        let is_mention = !before.is_some_and(|before| before.is_ascii_alphabetic()) && !path.is_empty();
        let sign = sign.chars().next().unwrap_or('@');
        is_mention.then_some(Mention { at, sign, path })
    })
}

/// True if a word of the text is the path of an image outside of the folder that the agent works in.
fn has_image_path(text: &str) -> bool {
    let words =
        text.split(char::is_whitespace).map(|word| word.trim_matches(['"', '\'', '`', '(', ')', ',']));
    let mut lines = text.lines().map(str::trim).chain(words);
    lines.any(|word| {
        let lower = word.to_ascii_lowercase();
        let is_image = IMAGE_ENDINGS.iter().any(|ending| lower.ends_with(ending));
        let leads_away = ["/", "~", "\\", "file:"].iter().any(|start| lower.starts_with(start))
            || lower.get(1..3).is_some_and(|drive| drive == ":\\" || drive == ":/")
            || lower.split(['/', '\\']).any(|part| part == "..");
        is_image && leads_away
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k21_every_form_that_an_agent_interprets_is_found() {
        for (text, expected) in [
            ("@/etc/passwd", &[Form::Mention][..]),
            ("see @~/.ssh/id_rsa", &[Form::Mention]),
            ("line\n@../x", &[Form::Mention]),
            ("。@x", &[Form::Mention]),
            ("nbsp\u{a0}@x", &[Form::Mention]),
            ("```\n@x\n```", &[Form::Mention]),
            ("@\"a b\"", &[Form::Mention]),
            ("(@x)", &[Form::Mention]),
            ("＠x", &[Form::Mention]),
            ("1@/etc/hosts", &[Form::Mention]),
            ("/config a=b", &[Form::Command]),
            (" \u{200b}/config a=b", &[Form::Command]),
            ("／config", &[Form::Command]),
            ("/review @x", &[Form::Command, Form::Mention]),
            ("!ls", &[Form::Shell]),
            ("\n! ls", &[Form::Shell]),
            ("#note", &[Form::Note]),
            ("&task", &[Form::Background]),
            ("/tmp/a.png", &[Form::Command, Form::ImagePath]),
            ("look at ~/a.PNG", &[Form::ImagePath]),
            ("look at '../../a.jpeg'", &[Form::ImagePath]),
            ("C:\\a.gif", &[Form::ImagePath]),
            ("\u{7f}x", &[]),
        ] {
            assert_eq!(forms(text), expected, "{text:?}");
        }
        for text in [
            "hello",
            "mail ada@example.org",
            "a @ b",
            "@",
            "@ x",
            "either/or",
            "look at assets/logo.png",
            "wow!",
            "issue #5 & more",
            "- a list",
            "\"quoted\"",
            "grüße",
            "日本",
        ] {
            assert_eq!(forms(text), [], "{text:?}");
        }
    }
}
