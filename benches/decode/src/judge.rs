//! Compares the results of a run with the recorded ones and with the bars.

use std::fs;
use std::path::Path;
use std::{env, fmt};

use serde_json::{Map, Value, json};

use crate::Failure;
use crate::rows::{BORROWED, IGNORED, OWNED, VALUE};
use crate::table::{Times, times_faster};

/// A bar: the required value, and an optional goal beyond it.
struct Bar {
    what: &'static str,
    found: f64,
    needs: Needs,
    goal: Option<f64>,
}

enum Needs {
    AtLeast(f64),
    AtMost(f64),
}

impl Bar {
    fn holds(&self) -> bool {
        match self.needs {
            Needs::AtLeast(least) => self.found >= least,
            Needs::AtMost(most) => self.found <= most,
        }
    }
}

impl fmt::Display for Bar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.holds() { "ok    " } else { "MISSED" };
        let (relation, bound) = match self.needs {
            Needs::AtLeast(least) => ("at least", least),
            Needs::AtMost(most) => ("at most", most),
        };
        write!(f, "{verdict} {:52} {:6.2}, {relation} {bound:.1}", self.what, self.found)?;
        match self.goal {
            Some(goal) if self.found >= goal => write!(f, " (goal {goal:.1} reached)"),
            Some(goal) => write!(f, " (goal {goal:.1} not reached)"),
            None => Ok(()),
        }
    }
}

/// Reads `times.tsv`, `allocations.tsv` and, if Valgrind is installed, `instructions.tsv`.
pub fn run(root: &Path, results: &Path) -> Result<(), Failure> {
    let mut bars = timed(&fs::read_to_string(results.join("times.tsv"))?)?;
    bars.push(allocated(&fs::read_to_string(results.join("allocations.tsv"))?)?);
    match fs::read_to_string(results.join("instructions.tsv")) {
        Ok(text) => bars.extend(counted(&root.join("instructions.json"), &text)?),
        Err(_) => println!("\nInstructions were not counted, and their bars not checked"),
    }
    println!("\nBars");
    for bar in &bars {
        println!("  {bar}");
    }
    let missed = bars.iter().filter(|bar| !bar.holds()).count();
    if missed == 0 { Ok(()) } else { Err(format!("{missed} of {} bars missed", bars.len()).into()) }
}

fn timed(text: &str) -> Result<Vec<Bar>, Failure> {
    let all: Vec<Times> = text.lines().filter_map(Times::parse).collect();
    let faster = |section: &str, row: &str, base: &str| {
        let find = |row: &str| all.iter().find(|times| times.section == section && times.row == row);
        match (find(row), find(base)) {
            (Some(row), Some(base)) => Ok(times_faster(row, base)),
            _ => Err(Failure::from(format!("`times.tsv` lacks `{row}` or `{base}` in `{section}`"))),
        }
    };
    let ours =
        all.iter().filter(|times| times.section == "all" && [BORROWED, OWNED].contains(&times.row.as_str()));
    let rejected = ours.map(|times| u32::try_from(times.rejected).unwrap_or(u32::MAX)).max();
    Ok(vec![
        most("frames rejected", rejected.map_or(f64::NAN, f64::from), 0.0),
        speed("borrowed against Value, by time", faster("all", BORROWED, VALUE)?, 2.5, Some(3.0)),
        speed("owned against Value, by time", faster("all", OWNED, VALUE)?, 1.5, Some(2.0)),
        speed(
            "borrowed against IgnoredAny on large frames, by time",
            faster("large", BORROWED, IGNORED)?,
            0.8,
            None,
        ),
    ])
}

fn speed(what: &'static str, found: f64, least: f64, goal: Option<f64>) -> Bar {
    Bar { what, found, needs: Needs::AtLeast(least), goal }
}

fn most(what: &'static str, found: f64, most: f64) -> Bar {
    Bar { what, found, needs: Needs::AtMost(most), goal: None }
}

fn allocated(text: &str) -> Result<Bar, Failure> {
    let line = text.lines().find_map(|line| line.strip_prefix("borrowed\tstream_event\t"));
    let calls = line.and_then(|line| line.split('\t').nth(1)).ok_or("`allocations.tsv` lacks `borrowed`")?;
    Ok(most("most allocations of a borrowed stream_event", calls.parse()?, 2.0))
}

/// Parses lines of `row TAB instructions`, and `rustc`, `valgrind` and `read` with the values of the run.
fn counted(recorded: &Path, text: &str) -> Result<Vec<Bar>, Failure> {
    let field = |name: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'));
        found.ok_or_else(|| format!("`instructions.tsv` lacks `{name}`"))
    };
    let before: Option<Value> =
        fs::read_to_string(recorded).ok().and_then(|old| serde_json::from_str(&old).ok());
    let (mut counts, mut ratios) = (Map::new(), Map::new());
    let value: f64 = field(VALUE)?.parse()?;
    println!("\nInstructions ({}), rustc {}\n", field("read")?, field("rustc")?);
    println!("| parser | instructions | × Value | since recorded |\n|---|--:|--:|--:|");
    let mut bars = Vec::new();
    for name in [IGNORED, VALUE, BORROWED, OWNED] {
        let count: f64 = field(name)?.parse()?;
        if count < 1.0 {
            return Err("Callgrind counted nothing: it did not find `decode_bench::rows::counted`".into());
        }
        let old = before.as_ref().and_then(|old| old["instructions"][name].as_f64());
        let change = old.map_or("new".to_owned(), |old| format!("{:+.2} %", 100.0 * (count / old - 1.0)));
        let ratio = value / count;
        println!("| {name} | {count} | {ratio:.2} | {change} |");
        counts.insert(name.to_owned(), field(name)?.parse::<u64>()?.into());
        ratios.insert(name.to_owned(), ((ratio * 1000.0).round() / 1000.0).into());
        match name {
            BORROWED => bars.push(speed("borrowed against Value, by instructions", ratio, 2.5, Some(3.0))),
            OWNED => bars.push(speed("owned against Value, by instructions", ratio, 1.5, Some(2.0))),
            _ => {}
        }
    }
    let used = |name: &str| before.as_ref().and_then(|old| old[name].as_str()).unwrap_or_default().to_owned();
    for name in ["rustc", "valgrind", "read"] {
        if before.is_some() && used(name) != field(name)? {
            println!(
                "note: `{name}` differs from what is recorded: `{}`; the last column compares unlike things",
                used(name)
            );
        }
    }
    if before.is_none() || env::var_os("UPDATE").is_some_and(|update| update == "1") {
        let now = json!({
            "rustc": field("rustc")?,
            "valgrind": field("valgrind")?,
            "read": field("read")?,
            "instructions": counts,
            "times_value": ratios,
        });
        fs::write(recorded, format!("{now:#}\n"))?;
        println!("wrote {}", recorded.file_name().unwrap_or_default().display());
    }
    Ok(bars)
}
