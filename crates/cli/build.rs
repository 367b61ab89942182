//! Finds the generated schemas: `schema/` of the repository, or the copy of it in a published crate.

use std::env;
use std::path::PathBuf;

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let (checkout, published) = (here.join("../../schema"), here.join("schema"));
    let schema = if checkout.is_dir() { checkout } else { published };
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=TIDINGS_SCHEMA={}", schema.display());
}
