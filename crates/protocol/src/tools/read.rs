use super::macros::tagged;
use crate::json::{Json, object};

object! {
    /// A file to read.
    pub struct ReadInput {
        /// Its path, from the root.
        req file_path: String,
        /// The line to begin with, counted from 1.
        opt offset: u64,
        /// How many lines to read.
        opt limit: u64,
        /// Which pages of a PDF file, as `1-5`.
        opt pages: String,
        /// Whether to read a file above the usual limit.
        opt allow_large: bool,
    }
}

tagged! {
    /// What reading a file gave, by the kind of file.
    pub enum ReadOutput by "type" {
        /// Lines of text.
        Text(ReadText) = "text",
        /// A picture.
        Image(ReadImage) = "image",
        /// A Jupyter notebook.
        Notebook(ReadNotebook) = "notebook",
        /// A PDF file as a whole.
        Pdf(ReadPdf) = "pdf",
        /// Pages of a PDF file, each as a picture.
        Parts(ReadParts) = "parts",
        /// The file is as it was when it was read before.
        Unchanged(ReadUnchanged) = "file_unchanged",
    }
}

impl ReadOutput {
    /// The path of the file, where it is given: a picture does not name its file.
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
    }

    /// A text file, or a part of one.
    pub struct TextFile {
        /// Its path.
        opt file_path: String as "filePath",
        /// The lines that were read, without numbers.
        opt content: String,
        /// How many lines these are.
        opt num_lines: u64 as "numLines",
        /// The number of the first.
        opt start_line: u64 as "startLine",
        /// How many lines the file has.
        opt total_lines: u64 as "totalLines",
        /// Whether it was cut because it had too many tokens.
        opt truncated_by_token_cap: bool as "truncatedByTokenCap",
    }

    /// A picture.
    pub struct ReadImage {
        /// The picture.
        req file: ImageFile,
    }

    /// A picture.
    pub struct ImageFile {
        /// Its bytes in Base64.
        opt base64: String,
        /// Its media type.
        opt media_type: String as "type",
        /// The bytes of the file.
        opt original_size: u64 as "originalSize",
        /// Its width and height, before and after it was scaled.
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
        /// How many bytes these are.
        opt original_size: u64 as "originalSize",
    }

    /// Pages of a PDF file, each as a picture.
    pub struct ReadParts {
        /// Where the pictures are.
        req file: PartsFile,
        /// The number of the first page.
        opt first_page: u64 as "firstPage",
        /// The pictures.
        opt pages: Vec<PartPage>,
    }

    /// A PDF file that was taken apart.
    pub struct PartsFile {
        /// Its path.
        opt file_path: String as "filePath",
        /// The bytes of the file.
        opt original_size: u64 as "originalSize",
        /// How many pages were taken.
        opt count: u64,
        /// The folder with one picture per page.
        opt output_dir: String as "outputDir",
    }

    /// One page of a PDF file as a picture.
    pub struct PartPage {
        /// The picture in Base64.
        opt base64: String,
        /// Its media type.
        opt media_type: String as "mediaType",
        /// Why there is no picture.
        opt error: String,
    }

    /// The file is as it was when it was read before.
    pub struct ReadUnchanged {
        /// Which file.
        req file: UnchangedFile,
    }

    /// A file that was read before.
    pub struct UnchangedFile {
        /// Its path.
        opt file_path: String as "filePath",
    }
}
