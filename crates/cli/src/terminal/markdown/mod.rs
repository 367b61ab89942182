//! Markdown in a terminal, while it is being written.

mod render;
mod stream;
mod table;

pub(super) use render::render;
pub(super) use stream::MarkdownStream;

#[cfg(test)]
mod tests;
