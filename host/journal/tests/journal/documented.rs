//! The published schema and the documentation say what the records are.

use std::collections::BTreeSet;

use brain_journal::{JournalLine, Record};
use proptest::prelude::*;
use schemars::schema_for;
use serde_json::Value;

use crate::roundtrip::record;

fn schema() -> Value {
    serde_json::to_value(schema_for!(JournalLine<'static>)).unwrap()
}

/// What a schema says of its object: the names of its fields, those of the schemas it refers to included, and their `type`.
fn fields(schema: &Value, of: &Value, into: &mut BTreeSet<String>) {
    if let Some(reference) = of["$ref"].as_str() {
        fields(schema, &schema["$defs"][reference.trim_start_matches("#/$defs/")], into);
    }
    for part in of["allOf"].as_array().into_iter().flatten() {
        fields(schema, part, into);
    }
    into.extend(of["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()));
}

/// Each type with the names of its fields.
fn types() -> Vec<(String, BTreeSet<String>)> {
    let schema = schema();
    let variants = schema["oneOf"].as_array().unwrap_or_else(|| panic!("{schema}"));
    variants
        .iter()
        .map(|variant| {
            let mut names = BTreeSet::new();
            fields(&schema, variant, &mut names);
            names.remove("type");
            (variant["properties"]["type"]["const"].as_str().unwrap().to_owned(), names)
        })
        .collect()
}

#[test]
fn the_schema_has_every_type() {
    let known: BTreeSet<String> = types().into_iter().map(|(name, _)| name).collect();
    assert_eq!(known, Record::TYPES.iter().map(|name| (*name).to_owned()).collect());
}

#[test]
fn the_documentation_has_every_type_with_all_of_its_fields() {
    let documented = include_str!("../../src/lib.rs");
    for (name, fields) in types() {
        let row = documented.lines().find(|line| line.starts_with(&format!("//! | `{name}` |")));
        let row = row.unwrap_or_else(|| {
            let fields: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
            panic!("//! | `{name}` | {} |", fields.join(", "))
        });
        for field in fields {
            assert!(row.contains(&format!("`{field}`")), "`{field}` is not in {row}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_record_fits_the_schema(record in record(), timestamp in any::<u64>()) {
        let validator = jsonschema::validator_for(&schema()).unwrap();
        let line = serde_json::to_value(JournalLine { timestamp, record: &record, truncated: None }).unwrap();
        let faults: Vec<String> = validator.iter_errors(&line).map(|fault| fault.to_string()).collect();
        prop_assert!(faults.is_empty(), "{faults:?} in {line}");
    }
}
