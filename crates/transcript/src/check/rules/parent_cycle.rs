//! Rule: a chain of parents ends at a root.

use super::super::context::{Check, File, Findings};
use super::super::cycles::find_cycles;
use super::super::links::Links;
use crate::{Rule, Severity};

const RULE: Rule = Rule::new("parent-cycle");

/// A chain of parents ends at a root.
#[derive(Debug)]
pub(super) struct ParentCycle;

impl Check for ParentCycle {
    fn finish(&mut self, file: &File<'_>, found: &mut Findings) {
        let links = file.links;
        let parents = links.parents();
        for cycle in find_cycles(&parents).cycles {
            let message = match cycle[..] {
                [_] => "The entry is its own parent".to_owned(),
                _ => format!(
                    "{} entries are each other's ancestors (cycle in `parentUuid`): {}",
                    cycle.len(),
                    lines_of(&cycle, links)
                ),
            };
            let link = &links.list[cycle[0]];
            found.add(RULE, Severity::Error, link.place, Some(&links.names.text(link.uuid)), message);
        }
    }
}

/// The lines of a cycle; the first few of a long one.
fn lines_of(cycle: &[usize], links: &Links) -> String {
    const SHOWN_MAX: usize = 8;
    let shown: Vec<String> = cycle
        .iter()
        .take(SHOWN_MAX)
        .map(|number| format!("line {}", links.list[*number].place.line))
        .collect();
    format!("{}{}", shown.join(" → "), if cycle.len() > SHOWN_MAX { " → …" } else { "" })
}
