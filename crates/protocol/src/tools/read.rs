//! The tool that reads files.

use super::ArtifactVersion;
use super::macros::tagged;
use crate::json::{Json, object};

object! {
    /// A file to read.
    pub struct ReadInput {
        /// Absolute path of the file.
        req file_path: String,
        /// First line to read, from 1.
        opt offset: u64,
        /// Number of lines to read.
        opt limit: u64,
        /// Pages of a PDF file, such as `1-5`.
        opt pages: String,
        /// True to read a file above the usual limit.
        opt allow_large: bool,
    }
}

tagged! {
    /// Output of reading a file, by kind of file.
    pub enum ReadOutput by "type" {
        /// Lines of text.
        Text(ReadText) = "text",
        /// An image.
        Image(ReadImage) = "image",
        /// A Jupyter notebook.
        Notebook(ReadNotebook) = "notebook",
        /// A PDF file as a whole.
        Pdf(ReadPdf) = "pdf",
        /// Pages of a PDF file, each as an image.
        Parts(ReadParts) = "parts",
        /// The file has not changed since it was last read.
        Unchanged(ReadUnchanged) = "file_unchanged",
    }
}

impl ReadOutput {
    /// Path of the file, if known: an image does not name its file.
    pub fn file_path(&self) -> Option<&str> {
        match self {
            ReadOutput::Text(text) => text.file.file_path.as_deref(),
            ReadOutput::Notebook(notebook) => notebook.file.file_path.as_deref(),
            ReadOutput::Pdf(pdf) => pdf.file.file_path.as_deref(),
            ReadOutput::Parts(parts) => parts.file.file_path.as_deref(),
            ReadOutput::Unchanged(unchanged) => unchanged.file.file_path.as_deref(),
            ReadOutput::Image(_) | ReadOutput::Unknown(_) => None,
        }
    }
}

object! {
    /// Lines of text.
    pub struct ReadText {
        /// The file and its lines.
        req file: TextFile,
        /// The page on claude.ai that counts as read, if the file is its saved source.
        opt artifact_read: Box<ArtifactVersion> as "artifactRead",
    }

    /// A text file, or a part of one.
    pub struct TextFile {
        /// Its path.
        opt file_path: String as "filePath",
        /// Lines that were read, without numbers.
        opt content: String,
        /// Number of these lines.
        opt num_lines: u64 as "numLines",
        /// Number of the first line.
        opt start_line: u64 as "startLine",
        /// Number of lines in the file.
        opt total_lines: u64 as "totalLines",
        /// True if it was truncated because it had too many tokens.
        opt truncated_by_token_cap: bool as "truncatedByTokenCap",
    }

    /// An image.
    pub struct ReadImage {
        /// The image.
        req file: ImageFile,
    }

    /// An image.
    pub struct ImageFile {
        /// Its bytes in Base64.
        opt base64: String,
        /// Its media type.
        opt media_type: String as "type",
        /// Size of the file in bytes.
        opt original_size: u64 as "originalSize",
        /// Width and height, before and after scaling.
        opt dimensions: Json,
    }

    /// A Jupyter notebook.
    pub struct ReadNotebook {
        /// The notebook.
        req file: NotebookFile,
    }

    /// A Jupyter notebook.
    pub struct NotebookFile {
        /// Its path.
        opt file_path: String as "filePath",
        /// Its cells.
        opt cells: Vec<Json>,
    }

    /// A PDF file as a whole.
    pub struct ReadPdf {
        /// The file.
        req file: PdfFile,
    }

    /// A PDF file.
    pub struct PdfFile {
        /// Its path.
        opt file_path: String as "filePath",
        /// Its bytes in Base64.
        opt base64: String,
        /// Size of the file in bytes.
        opt original_size: u64 as "originalSize",
    }

    /// Pages of a PDF file, each as an image.
    pub struct ReadParts {
        /// Location of the images.
        req file: PartsFile,
        /// The number of the first page.
        opt first_page: u64 as "firstPage",
        /// The images.
        opt pages: Vec<PartPage>,
    }

    /// A PDF file split into pages.
    pub struct PartsFile {
        /// Its path.
        opt file_path: String as "filePath",
        /// Size of the file in bytes.
        opt original_size: u64 as "originalSize",
        /// Number of extracted pages.
        opt count: u64,
        /// Folder with one image per page.
        opt output_dir: String as "outputDir",
    }

    /// One page of a PDF file as an image.
    pub struct PartPage {
        /// The image in Base64.
        opt base64: String,
        /// Its media type.
        opt media_type: String as "mediaType",
        /// Reason of a missing image.
        opt error: String,
    }

    /// The file has not changed since it was last read.
    pub struct ReadUnchanged {
        /// The file.
        req file: UnchangedFile,
    }

    /// A file that was read before.
    pub struct UnchangedFile {
        /// Its path.
        opt file_path: String as "filePath",
    }
}
