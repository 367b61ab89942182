//! Builds again when the page was built again: the macro that embeds it does not notice new files.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../../web/dist");
}
