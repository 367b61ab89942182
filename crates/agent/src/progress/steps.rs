//! Phrases with which agents report progress.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use tidings_protocol::mobile::ProgressUpdateMessage;

use super::pattern;
use super::plural::plural;
use super::task::shortened;

/// Progress of the work.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The current step.
    pub step: Option<String>,
    /// The number of completed steps.
    pub done: Option<u64>,
    /// The number of all steps.
    pub total: Option<u64>,
    /// Percentage, from 0 to 100.
    pub percentage: f64,
    /// The source of the values.
    pub source: ProgressSource,
}

/// The source of progress values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProgressSource {
    /// The agent's own to-do list.
    Todos,
    /// Steps counted in a text: "Step 3 of 10".
    Counted,
    /// A percentage in a text.
    Percentage,
    /// A keyword: "Almost done".
    Keyword,
}

impl ProgressSource {
    /// True if the value is an estimate. Everything from text is one.
    pub fn is_estimated(self) -> bool {
        self != ProgressSource::Todos
    }
}

impl Progress {
    /// Creates progress from counts; `None` if they make no sense.
    pub fn counted(step: Option<String>, done: u64, total: u64, source: ProgressSource) -> Option<Self> {
        if total == 0 || done > total {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "sixteen digits are enough for a percentage")]
        let percentage = done as f64 / total as f64 * 100.0;
        Some(Progress { step, done: Some(done), total: Some(total), percentage, source })
    }

    /// The message of the phone protocol, with the known values only.
    pub fn to_mobile(&self) -> ProgressUpdateMessage {
        ProgressUpdateMessage {
            current_step: self.step.clone(),
            completed_steps: self.done,
            total_steps: self.total,
            percentage: Some(self.percentage),
            ..ProgressUpdateMessage::default()
        }
    }
}

/// A number of steps, with or without commas between thousands.
const NUMBER: &str = r"[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,9}";

/// All patterns in one, so that a text is searched once. The first matching alternative wins.
static STEPS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"(?ix)
        \b(?:step|task|stage)\s+\#?(?P<step_n>{NUMBER})\s*(?:of|/)\s*(?P<step_m>{NUMBER})\b(?:\s*[-–—:]\s*(?P<step_text>[^\n]+))?
        | \b(?P<gerund>[a-z]+ing)\s+(?:the\s+)?(?P<noun>[a-z][a-z-]*(?:\s+[a-z][a-z-]*){{0,2}}?)\s*[:(]?\s*\#?(?P<doing_n>{NUMBER})\s*(?:(?:out\s+)?of|/)\s*(?P<doing_m>{NUMBER})\b
        | \b(?P<ratio_n>{NUMBER})\s*/\s*(?P<ratio_m>{NUMBER})\s+(?:[a-z]+\s+)?(?:completed?|done|finished)\b
        | \[[=\#*█▓▒░>\s.-]{{3,}}\]\s*(?P<bar>[0-9]{{1,3}}(?:\.[0-9]+)?)\s*%
        | \b(?P<percent>[0-9]{{1,3}}(?:\.[0-9]+)?)\s*%\s*(?:completed?|done|progress)\b
        | \b(?:done|completed)\s*:\s*(?P<done>{NUMBER})\b(?:[^\n]{{0,80}}?\b(?P<rest>total|remaining)\s*:\s*(?P<rest_n>{NUMBER})\b)?
        | ^\s*[-*]?\s*\b(?P<late_rest>total|remaining)\s*:\s*(?P<late_n>{NUMBER})\b"
    ))
});

/// Keywords at the beginning of a sentence that indicate a phase of the work.
static KEYWORDS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?ix)^[\s*_>-]*(?:(?:okay|ok|now|next|first|then|finally|so)[,:]?\s+)*(?:i['’]m\s+|i\s+am\s+|we['’]re\s+|we\s+are\s+)?(?:now\s+)?
        (?: (?P<start>starting|beginning|initiali[sz]ing|setting\s+up)
          | (?P<middle>in\s+progress|halfway|processing|working\s+on)
          | (?P<end>finishing|finali[sz]ing|wrapping\s+up|almost\s+(?:done|finished|there|complete)|nearly\s+(?:done|finished|there|complete)) )\b",
    )
});

/// Words that end like a gerund and are not one.
const NO_GERUNDS: [&str; 12] = [
    "during",
    "string",
    "thing",
    "nothing",
    "something",
    "anything",
    "everything",
    "morning",
    "evening",
    "king",
    "ring",
    "spring",
];

/// A statement about progress in a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// A complete statement.
    Whole(Progress),
    /// "Done: 5"; its total may follow.
    Done(u64),
    /// "Total: 20" or "Remaining: 15", which counts after a [`Step::Done`].
    Rest { number: u64, word: RestWord },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RestWord {
    Total,
    Remaining,
}

impl RestWord {
    /// Computes progress from the completed steps and this number.
    pub(super) fn after(self, done: u64, number: u64) -> Option<Progress> {
        let total = match self {
            RestWord::Total => number,
            RestWord::Remaining => done.checked_add(number)?,
        };
        Progress::counted(None, done, total, ProgressSource::Counted)
    }

    fn named(word: &str) -> Self {
        if word.eq_ignore_ascii_case("total") { RestWord::Total } else { RestWord::Remaining }
    }
}

/// All statements about progress in a segment, in order, each with its end offset. A match that touches
/// `limit` may be incomplete and is left out.
pub(super) fn steps(segment: &str, limit: usize) -> Vec<(usize, Step)> {
    STEPS
        .captures_iter(segment)
        .filter_map(|found| {
            let whole = found.get(0)?;
            let step = (whole.end() < limit && stands_alone(segment, &found)).then(|| step(&found))??;
            Some((whole.end(), step))
        })
        .collect()
}

/// The estimate for a keyword.
pub(super) fn keyword(segment: &str) -> Option<Progress> {
    let found = KEYWORDS.captures(segment)?;
    let percentage = [("start", 10.0), ("middle", 50.0), ("end", 90.0)]
        .into_iter()
        .find_map(|(name, percentage)| found.name(name).map(|_| percentage))?;
    Some(Progress { step: None, done: None, total: None, percentage, source: ProgressSource::Keyword })
}

/// True if the first number stands alone, and is not the end of a date, a fraction or a negative number.
fn stands_alone(segment: &str, found: &Captures<'_>) -> bool {
    let first = ["ratio_n", "percent"].iter().find_map(|name| found.name(name));
    let before = first.and_then(|number| segment[..number.start()].chars().next_back());
    !before.is_some_and(|c| matches!(c, '.' | ',' | '/' | '-' | '−' | '+' | ':') || c.is_alphanumeric())
}

fn step(found: &Captures<'_>) -> Option<Step> {
    let number = |name| found.name(name).and_then(|text| text.as_str().replace(',', "").parse::<u64>().ok());
    let word = |name| found.name(name).map(|text| text.as_str());
    if let (Some(done), Some(total)) = (number("step_n"), number("step_m")) {
        let named = word("step_text").map(shortened).filter(|text| !text.is_empty());
        let step = named.unwrap_or_else(|| {
            let kind = found.get(0).map_or("", |whole| whole.as_str());
            let kind: String = kind.chars().take_while(|c| c.is_alphabetic()).collect();
            format!("{} {done}", capitalised(&kind))
        });
        return Progress::counted(Some(step), done, total, ProgressSource::Counted).map(Step::Whole);
    }
    if let (Some(done), Some(total)) = (number("doing_n"), number("doing_m")) {
        let (gerund, noun) = (word("gerund")?, word("noun")?);
        if NO_GERUNDS.contains(&gerund.to_lowercase().as_str()) {
            return None;
        }
        let step = format!("{} {}", capitalised(gerund), plural(noun));
        return Progress::counted(Some(step), done, total, ProgressSource::Counted).map(Step::Whole);
    }
    if let (Some(done), Some(total)) = (number("ratio_n"), number("ratio_m")) {
        return Progress::counted(None, done, total, ProgressSource::Counted).map(Step::Whole);
    }
    if let Some(percentage) = word("bar").or(word("percent")) {
        let percentage = percentage.parse().ok().filter(|percentage| (0.0..=100.0).contains(percentage))?;
        let source = ProgressSource::Percentage;
        return Some(Step::Whole(Progress { step: None, done: None, total: None, percentage, source }));
    }
    if let Some(done) = number("done") {
        return match (word("rest"), number("rest_n")) {
            (Some(rest), Some(number)) => RestWord::named(rest).after(done, number).map(Step::Whole),
            _ => Some(Step::Done(done)),
        };
    }
    Some(Step::Rest { number: number("late_n")?, word: RestWord::named(word("late_rest")?) })
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + &chars.as_str().to_lowercase()
    })
}
