//! Sends one prompt and prints the answer. The README shows this program.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let mut answer = tidings::query("What is 2 + 2?", tidings::Options::new()).text_stream();
    while let Some(text) = answer.next().await {
        print!("{}", text?);
    }
    println!();
    Ok(())
}
