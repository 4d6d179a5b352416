//! The contract quotes limits that are defined elsewhere: in the host's crate `brain-packet`. The quotes must be right.

#![allow(clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const LIMITS: &str = "../../host/packet/src/limits.rs";

/// `MAX_…` constants by name; a constant may be defined by another one.
fn defined() -> BTreeMap<String, u64> {
    let source = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(LIMITS)).expect(LIMITS);
    let mut values = BTreeMap::new();
    for line in source.lines().filter_map(|line| line.strip_prefix("pub const ")) {
        let (name, rest) = line.split_once(": usize = ").expect(line);
        let value = rest.trim_end_matches(';');
        let value = values.get(value).copied().unwrap_or_else(|| value.replace('_', "").parse().expect(line));
        values.insert(name.to_owned(), value);
    }
    values
}

/// The places of the contract that read ``4,096 characters (`MAX_URI_CHARS`)``: number and name.
fn quoted() -> Vec<(u64, String)> {
    let text = include_str!("../../../wit/role.wit").replace("///", " ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut quotes = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if let Some(name) = word.strip_prefix("(`MAX_") {
            let name = format!("MAX_{}", name.split('`').next().unwrap_or_default());
            let number = words[at - 2].replace(',', "");
            quotes.push((number.parse().unwrap_or_else(|_| panic!("no number before {name}")), name));
        }
    }
    quotes
}

#[test]
fn every_limit_that_the_contract_quotes_is_the_one_that_the_host_defines() {
    let defined = defined();
    let quoted = quoted();
    assert!(quoted.len() > 30, "only {} quotes were found", quoted.len());
    for (number, name) in quoted {
        assert_eq!(defined.get(&name), Some(&number), "{name} as quoted in wit/role.wit");
    }
}
