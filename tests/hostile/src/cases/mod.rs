//! The table of cases, by what they attack.

mod files;
mod handles;
mod lifting;
mod loading;
mod memory;
mod races;
mod stack;
mod staging;
mod surroundings;
mod time;

use crate::case::Case;

/// What a group of cases attacks, and the cases.
pub type Group = (&'static str, fn() -> Vec<Case>);

/// The groups of the table, in its order.
pub const GROUPS: [Group; 10] = [
    ("time", time::cases),
    ("memory", memory::cases),
    ("stack", stack::cases),
    ("lifting", lifting::cases),
    ("handles", handles::cases),
    ("files", files::cases),
    ("staging", staging::cases),
    ("races", races::cases),
    ("surroundings", surroundings::cases),
    ("loading", loading::cases),
];

/// Every case.
pub fn all() -> Vec<Case> {
    GROUPS.iter().flat_map(|(_, cases)| cases()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn there_are_enough_cases_and_each_has_a_name_of_its_own() {
        let cases = super::all();
        let names: BTreeSet<_> = cases.iter().map(|case| case.name).collect();
        assert_eq!(names.len(), cases.len());
        assert!(cases.len() >= 60, "{}", cases.len());
        assert!(cases.iter().all(|case| !case.attack.contains('\n') && !case.ends.is_empty()));
    }
}
