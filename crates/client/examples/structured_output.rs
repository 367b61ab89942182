//! An answer in a form that programs can read.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use serde_json::json;
use tidings::{Client, Options};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "count": { "type": "integer" } },
        "required": ["name", "count"],
    });
    let client = Client::connect(Options::new().output_schema(schema)).await?;
    let end = client.send("How many files are in src?").await?.finish().await?;
    let (name, count): (String, u64) = match end.structured_output() {
        Some(answer) => (
            answer.get("name").and_then(|name| name.read().ok()).unwrap_or_default(),
            answer.get("count").and_then(tidings::json::Raw::u64).unwrap_or_default(),
        ),
        None => return Err(end.error_text().unwrap_or_default().into()),
    };
    println!("{name} has {count}");
    client.close().await?;
    Ok(())
}
