//! What a reader leaves out of a file, said once for each kind, however often the file has it.
//!
//! In: a name for each thing that is left out. Out: a warning for each kind, with the names in their order.

use std::collections::{BTreeMap, BTreeSet};

/// Most names of a kind that are kept: a hostile file could have a new one in each line.
const MOST_KEPT: usize = 256;
/// Most names of a kind that a warning has.
const MOST_SHOWN: usize = 12;
/// Most characters of a name.
const LONGEST_NAME: usize = 40;

/// Names of what is left out, by their kind.
#[derive(Debug, Default)]
pub(super) struct LeftOut(BTreeMap<&'static str, BTreeSet<String>>);

impl LeftOut {
    /// Notes a name of a kind (in the plural).
    pub fn note(&mut self, kind: &'static str, name: &str) {
        let names = self.0.entry(kind).or_default();
        if names.len() < MOST_KEPT && !names.contains(name) {
            let plain = |c: char| if c.is_control() { ' ' } else { c };
            names.insert(name.chars().take(LONGEST_NAME).map(plain).collect());
        }
    }

    /// The warnings, in the order of kinds.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(kind, names)| format!("{kind} left out: {}", listed(names)))
    }
}

/// Some of these names, for a message, and how many more there are.
pub(super) fn listed(names: &BTreeSet<String>) -> String {
    let shown: Vec<&str> = names.iter().take(MOST_SHOWN).map(String::as_str).collect();
    let more = names.len() - shown.len();
    let least = if names.len() == MOST_KEPT { "at least " } else { "" };
    let more = if more > 0 { format!(" and {least}{more} more") } else { String::new() };
    shown.join(", ") + &more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_one_warning_with_bounded_names_in_their_order() {
        let mut left_out = LeftOut::default();
        for name in ["vp", "l", "vp", "l"] {
            left_out.note("statements", name);
        }
        left_out.note("elements", &"long\n".repeat(1000));
        let said: Vec<String> = left_out.warnings().collect();
        assert_eq!(said[1], "statements left out: l, vp");
        assert_eq!(said[0], format!("elements left out: {}", "long ".repeat(8)));
        for number in 0..10_000 {
            left_out.note("statements", &format!("m{number:05}"));
        }
        let said: Vec<String> = left_out.warnings().collect();
        assert!(said[1].ends_with("m00009, m00010 and at least 244 more"), "{}", said[1]);
    }
}
