//! A frame of an unknown type is not an error: it arrives whole, with its name and its bytes.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use tidings::{Options, query};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let mut answer = query("Hello!", Options::new());
    while let Some(frame) = answer.next_frame().await {
        let frame = frame?;
        let Some(news) = frame.get("news").filter(|_| !frame.is_known()) else { continue };
        println!("{}: {}", frame.name(), news.as_str());
        // An owned message keeps it too, and writes back the same bytes.
        assert_eq!(frame.message().to_line().as_bytes(), frame.raw());
    }
    Ok(())
}
