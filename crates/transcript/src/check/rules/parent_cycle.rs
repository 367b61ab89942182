use super::super::context::{Check, File, Found};
use super::super::links::Links;
use super::super::rings::rings;
use crate::{Rule, Severity};

const RULE: Rule = Rule::new("parent-cycle");

/// Whoever follows the parents comes to an end.
#[derive(Debug)]
pub(super) struct ParentCycle;

impl Check for ParentCycle {
    fn finish(&mut self, file: &File<'_>, found: &mut Found) {
        let links = file.links;
        let parents = links.parents();
        for cycle in rings(&parents).rings {
            let message = match cycle[..] {
                [_] => "The entry is its own parent".to_owned(),
                _ => format!(
                    "The parents go round in a ring of {} entries: {}",
                    cycle.len(),
                    ring(&cycle, links)
                ),
            };
            let link = &links.list[cycle[0]];
            found.add(RULE, Severity::Error, link.place, Some(&links.names.text(link.uuid)), message);
        }
    }
}

/// The lines of a ring; of a long one, the first few.
fn ring(cycle: &[usize], links: &Links) -> String {
    const SHOWN_MAX: usize = 8;
    let shown: Vec<String> = cycle
        .iter()
        .take(SHOWN_MAX)
        .map(|number| format!("line {}", links.list[*number].place.line))
        .collect();
    format!("{}{}", shown.join(" → "), if cycle.len() > SHOWN_MAX { " → …" } else { "" })
}
