//! Prints the answer while it is being written.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use std::io::Write as _;

use tidings::{Options, query};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut answer = query("Tell me a short story.", Options::new()).text_stream();
    let mut deltas = 0;
    while let Some(text) = answer.next().await {
        deltas += 1;
        print!("{}", text?);
        std::io::stdout().flush()?;
    }
    println!("\n({} deltas)", if deltas > 1 { "several" } else { "no" });
    Ok(())
}
