//! Compresses the generated schemas, which the program embeds: those in `schema/` of the repository, or the
//! copy of it in a published crate.

use std::path::PathBuf;
use std::{env, fs, io};

/// The strongest that takes no noticeable time.
const LEVEL: i32 = 19;

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let (checkout, published) = (here.join("../../schema"), here.join("schema"));
    let schema = if checkout.is_dir() { checkout } else { published };
    println!("cargo::rerun-if-changed=build.rs");
    for name in ["tidings.schema.json", "tidings.ts", "rehearsal.schema.json"] {
        let file = schema.join(name);
        println!("cargo::rerun-if-changed={}", file.display());
        let text = fs::read(file)?;
        fs::write(out.join(format!("{name}.zst")), zstd::bulk::compress(&text, LEVEL)?)?;
    }
    Ok(())
}
