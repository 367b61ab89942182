//! `decode` times every row; `decode --count ROW` runs one for Callgrind; `decode --judge` checks the bars.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use decode_bench::{Failure, corpus, judge, rows, table};

/// Number of bytes that Callgrind reads; it is about fifty times slower than the processor.
const COUNTED_BYTES_MAX: usize = 8 << 20;

const ROUNDS: usize = 7;

const USAGE: &str = "usage: decode [--rounds N] | --make | --count ROW | --judge";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        [] => time(ROUNDS),
        ["--rounds", rounds] => rounds.parse().map_err(Failure::from).and_then(time),
        ["--make"] => make(),
        ["--count", name] => count(name),
        ["--judge"] => judge::run(root(), &results()),
        _ => Err(USAGE.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Folder for the results of all steps, read by the last one.
fn results() -> PathBuf {
    root().join("corpus/results")
}

fn make() -> Result<(), Failure> {
    print!("{}", corpus::composition(&corpus::load(root())?));
    Ok(())
}

fn time(rounds: usize) -> Result<(), Failure> {
    let corpus = corpus::load(root())?;
    let mut lines = String::new();
    for section in table::sections(&corpus) {
        let (times, shown) = table::measure(&section, rounds.max(1));
        print!("{shown}");
        for own in times {
            lines += &own.line();
            lines.push('\n');
        }
    }
    fs::create_dir_all(results())?;
    fs::write(results().join("times.tsv"), lines)?;
    Ok(())
}

/// Prints a fingerprint of the input, so that counts are compared only between runs over the same bytes.
fn count(name: &str) -> Result<(), Failure> {
    let row = rows::row(name).ok_or_else(|| {
        let names: Vec<&str> = rows::rows().map(|row| row.name).collect();
        format!("no row `{name}`; there are {}", names.join(", "))
    })?;
    let corpus = corpus::load(root())?;
    let slice = &corpus[..corpus.len().min(COUNTED_BYTES_MAX)];
    let slice = &slice[..slice.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)];
    rows::counted(row, slice);
    let frames = memchr::memchr_iter(b'\n', slice).count();
    let fingerprint = decode_bench::random::fingerprint(slice);
    println!("{frames} frames, {} bytes, fingerprint {fingerprint:016x}", slice.len());
    Ok(())
}
