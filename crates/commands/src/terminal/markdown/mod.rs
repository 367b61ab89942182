//! Markdown renderer for a terminal, for text that is still being written.

mod render;
mod stream;
mod table;

pub(super) use render::render;
pub(super) use stream::MarkdownStream;

#[cfg(test)]
mod tests;
