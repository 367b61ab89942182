//! Finds the built page: `web/dist` in a checkout, `page/` in a published crate. Without either, the program
//! serves a note in its place.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
    // The macro that embeds the page does not notice new files. A path that does not exist would build the
    // crate each time, and its folder exists in a checkout.
    let (checkout, published) = (here.join("../../web/dist"), here.join("page"));
    let page = if let Some(web) = checkout.parent().filter(|web| web.is_dir()) {
        println!("cargo::rerun-if-changed={}", if checkout.is_dir() { &checkout } else { web }.display());
        checkout
    } else {
        published
    };
    let page = if page.is_dir() { page } else { empty(&out)? };
    let page = page.to_string_lossy();
    fs::write(
        out.join("page.rs"),
        format!("#[derive(rust_embed::Embed)]\n#[folder = {page:?}]\nstruct PageAssets;\n"),
    )
}

fn empty(out: &Path) -> io::Result<PathBuf> {
    let folder = out.join("no-page");
    fs::create_dir_all(&folder)?;
    Ok(folder)
}
