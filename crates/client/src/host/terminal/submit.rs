//! Enter after a paste.
//!
//! The CLI shows a paste some time after it has read it, and some versions (2.1.197) ignore Enter meanwhile.
//! So Enter is pressed when the text is on the screen, and again as long as the same text stays there.

use std::io;
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Time for the CLI to show what was pasted. Enter is pressed afterwards also if the line is still empty.
const SHOWN_WITHIN: Duration = Duration::from_secs(3);

/// Time for the CLI to react to Enter, until it is pressed again.
const REACTION_TIME: Duration = Duration::from_millis(500);

/// Times that Enter is pressed.
const ENTERS_MAX: usize = 6;

/// Time between two looks at the screen.
const LOOK_EVERY: Duration = Duration::from_millis(40);

/// The input line of a CLI.
pub trait InputLine: Sync {
    /// Its text on the screen: empty if there is none, and `None` if the line is hidden, as by a dialog.
    fn text(&self) -> impl Future<Output = io::Result<Option<String>>> + Send;

    /// Presses Enter.
    fn enter(&self) -> impl Future<Output = io::Result<()>> + Send;
}

/// Sends the text that was just pasted into an input line.
///
/// Enter is never pressed while the line is hidden, and not again once it shows another text.
pub async fn submit(line: &impl InputLine) -> io::Result<()> {
    let Some(pasted) = shown(line).await? else { return Ok(()) };
    for _ in 0..ENTERS_MAX {
        line.enter().await?;
        let until = Instant::now() + REACTION_TIME;
        while Instant::now() < until {
            sleep(LOOK_EVERY).await;
            if pasted.is_empty() || line.text().await?.as_ref() != Some(&pasted) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Waits until the input line shows a text that stays the same, and returns the last one.
async fn shown(line: &impl InputLine) -> io::Result<Option<String>> {
    let until = Instant::now() + SHOWN_WITHIN;
    let mut last = None;
    while Instant::now() < until {
        sleep(LOOK_EVERY).await;
        let now = line.text().await?;
        let is_shown = now == last && now.as_ref().is_some_and(|text| !text.is_empty());
        last = now;
        if is_shown {
            break;
        }
    }
    Ok(last)
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;

    /// An input line that shows a paste after some looks, and ignores some presses of Enter.
    struct Line {
        looks_until_shown: usize,
        ignored: usize,
        text: &'static str,
        /// The text after Enter.
        then: &'static str,
        is_hidden: bool,
        enters: usize,
    }

    impl Line {
        fn new(looks_until_shown: usize, ignored: usize) -> Self {
            Line { looks_until_shown, ignored, text: "fix it", then: "", is_hidden: false, enters: 0 }
        }

        /// Returns the line afterwards.
        async fn submitted(self) -> Self {
            let line = Mutex::new(self);
            submit(&line).await.unwrap();
            line.into_inner()
        }
    }

    impl InputLine for Mutex<Line> {
        async fn text(&self) -> io::Result<Option<String>> {
            let mut line = self.lock();
            let text = if line.looks_until_shown == 0 { line.text } else { "" };
            line.looks_until_shown = line.looks_until_shown.saturating_sub(1);
            Ok((!line.is_hidden).then(|| text.to_owned()))
        }

        async fn enter(&self) -> io::Result<()> {
            let mut line = self.lock();
            line.enters += 1;
            if line.ignored == 0 {
                line.text = line.then;
            }
            line.ignored = line.ignored.saturating_sub(1);
            Ok(())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn enter_is_pressed_once_if_the_cli_takes_it() {
        assert_eq!(Line::new(5, 0).submitted().await.enters, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn an_ignored_enter_is_pressed_again() {
        let line = Line::new(5, 3).submitted().await;
        assert_eq!((line.enters, line.text), (4, ""));
    }

    #[tokio::test(start_paused = true)]
    async fn a_text_of_a_person_is_not_sent() {
        let line = Line { then: "a new draft", ..Line::new(0, 0) };
        assert_eq!(line.submitted().await.enters, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_paste_that_is_not_seen_is_sent_once() {
        assert_eq!(Line::new(usize::MAX, 0).submitted().await.enters, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_dialog_gets_no_enter() {
        let line = Line { is_hidden: true, ..Line::new(0, 0) };
        assert_eq!(line.submitted().await.enters, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_line_that_never_reacts_is_left() {
        assert_eq!(Line::new(0, usize::MAX).submitted().await.enters, ENTERS_MAX);
    }
}
