//! Plurals of English nouns, good enough for the name of a step.

/// The plural of a noun; a plural noun stays as it is.
pub(super) fn plural(noun: &str) -> String {
    let lower = noun.to_lowercase();
    let ends = |ending: &str| lower.ends_with(ending);
    if ends("ss") || ends("x") || ends("z") || ends("ch") || ends("sh") {
        return format!("{noun}es");
    }
    if ends("s") {
        return noun.to_owned();
    }
    let before_y = lower.strip_suffix('y').and_then(|stem| stem.chars().next_back());
    if before_y.is_some_and(|c| !"aeiou".contains(c)) {
        return format!("{}ies", &noun[..noun.len() - 1]);
    }
    format!("{noun}s")
}
