//! Finds what the program embeds, and writes it as Rust: the built page (`web/dist` in a checkout, `page/` in
//! a published crate; without either the program serves a note in its place), and the `OpenAPI` document
//! (`schema/` of the repository or its copy in a published crate), compressed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The strongest compression that takes no noticeable time.
const LEVEL: i32 = 19;

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
    page(&here, &out)?;
    openapi(&here, &out)
}

/// Writes the table of the page's files.
fn page(here: &Path, out: &Path) -> io::Result<()> {
    let checkout = here.join("../../web/dist");
    // A path that does not exist would build the crate each time, and the folder of `dist` exists in a
    // checkout.
    let page = if let Some(web) = checkout.parent().filter(|web| web.is_dir()) {
        println!("cargo::rerun-if-changed={}", if checkout.is_dir() { &checkout } else { web }.display());
        checkout
    } else {
        here.join("page")
    };
    let mut files = Vec::new();
    if page.is_dir() {
        for file in fs::read_dir(&page)? {
            let file = file?;
            if file.file_type()?.is_file() {
                files.push((file.file_name().to_string_lossy().into_owned(), file.path().canonicalize()?));
            }
        }
    }
    files.sort();
    let mut table = format!("static FILES: [PageFile; {}] = [\n", files.len());
    for (name, path) in files {
        println!("cargo::rerun-if-changed={}", path.display());
        let _ = writeln!(table, "    PageFile::new({name:?}, include_bytes!({:?})),", path.to_string_lossy());
    }
    fs::write(out.join("page.rs"), table + "];\n")
}

fn openapi(here: &Path, out: &Path) -> io::Result<()> {
    let (checkout, published) = (here.join("../../schema"), here.join("schema"));
    let file = if checkout.is_dir() { checkout } else { published }.join("openapi.json");
    println!("cargo::rerun-if-changed={}", file.display());
    fs::write(out.join("openapi.json.zst"), zstd::bulk::compress(&fs::read(file)?, LEVEL)?)
}
