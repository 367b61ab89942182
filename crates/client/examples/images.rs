//! A prompt of several blocks, with an image among them.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use tidings::messages::{ContentBlock, Image, Source};
use tidings::{Client, Options};

/// One red pixel, as base64 of a PNG file.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let mut source = Source::default();
    source.kind = "base64".into();
    source.media_type = Some("image/png".into());
    source.data = Some(PIXEL.into());
    let mut image = Image::default();
    image.source = source;

    let text = ContentBlock::Text { text: "Which colour is this?".to_owned() };
    let client = Client::connect(Options::new()).await?;
    let end = client.send(vec![text, ContentBlock::Image(image)]).await?.finish().await?;
    println!("{}", end.text());
    client.close().await?;
    Ok(())
}
