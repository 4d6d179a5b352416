//! The contract check: what a component requires and offers, against the contract and what this host links, row by row.
//!
//! It works on the component's own type and compiles nothing. The same report is printed by `brain role check` and is the
//! error when a role cannot be loaded.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wit_parser::decoding::{DecodedWasm, decode};
use wit_parser::{InterfaceId, Resolve, WorldId, WorldItem, WorldKey};

use super::compare::{Compare, Difference};
use super::sniff::sniff;
use super::{CONTRACT, CONTRACT_WIT, WORKER};
use crate::link::{Offer, offer};

/// Rows of a report; a component with more imports and exports has the rest counted in the last row.
const MAX_ROWS: usize = 256;
/// Characters of one cell of a report: names in a component may be as long as it likes.
const MAX_CELL_CHARS: usize = 200;
/// Characters of one remedy.
const MAX_REMEDY_CHARS: usize = 2_000;
/// Differences of one type that are listed in a row's remedy.
const MAX_DIFFERENCES: usize = 6;

/// Who requires an import.
const COMPONENT: &str = "the component";

/// How one row of the report stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RowState {
    /// Required and there, with the right type.
    Real,
    /// Imported, not granted to any role: calls are denied and counted.
    Stubbed,
    /// Exported beyond the contract; ignored.
    Extra,
    /// Required and not there. Fails the check.
    Missing,
    /// There, with another type. Fails the check.
    Mismatch,
}

impl RowState {
    /// Whether a row in this state fails the check.
    pub fn fails(self) -> bool {
        matches!(self, Self::Missing | Self::Mismatch)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Stubbed => "stubbed",
            Self::Extra => "extra",
            Self::Missing => "MISSING",
            Self::Mismatch => "MISMATCH",
        }
    }
}

/// One thing that is required by one side and offered by the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckRow {
    /// The import or export, such as `wasi:filesystem/types@0.2.12`.
    pub item: String,
    /// Who requires it: the contract, or the component.
    pub required: String,
    /// What the other side offers.
    pub offered: String,
    /// How that stands.
    pub state: RowState,
    /// What to do about it; set on every row that fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// The result of checking some bytes against the contract.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckReport {
    /// The contract that was checked against, such as `brain:role@1.0.0`.
    pub contract: String,
    /// The rows, those of the file itself first.
    pub rows: Vec<CheckRow>,
}

impl CheckReport {
    /// Whether the component can be loaded.
    pub fn passed(&self) -> bool {
        !self.rows.iter().any(|row| row.state.fails())
    }

    /// The first row that fails.
    pub fn first_fault(&self) -> Option<&CheckRow> {
        self.rows.iter().find(|row| row.state.fails())
    }

    fn new(mut rows: Vec<CheckRow>) -> Self {
        for row in &mut rows {
            for cell in [&mut row.item, &mut row.required, &mut row.offered] {
                clip(cell, MAX_CELL_CHARS);
            }
            if let Some(remedy) = &mut row.remedy {
                clip(remedy, MAX_REMEDY_CHARS);
            }
        }
        Self { contract: CONTRACT.into(), rows }
    }

    /// The report of a component that passed this check but that the engine refuses all the same.
    pub(crate) fn refused_by_engine(mut self, why: String) -> Self {
        // It says which import it is about, where it is about one.
        let about =
            self.rows.iter_mut().find(|row| row.required == COMPONENT && why.contains(&format!("`{}`", row.item)));
        if let Some(row) = about {
            row.state = RowState::Mismatch;
            row.offered = "linked, with other types".into();
            row.remedy = Some(format!("build it against WASI 0.2 as published: {why}"));
        } else {
            let remedy =
                "build it with current tools; features beyond WebAssembly 2.0 and WASI 0.2 are not enabled here";
            self.rows.insert(0, file_fault("a component that this engine takes", why, remedy));
        }
        Self::new(self.rows)
    }
}

/// A column's title, and its cell in a row.
type Column = (&'static str, fn(&CheckRow) -> &str);

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: fn(&CheckRow) -> &str, title: &str| {
            self.rows.iter().map(|r| column(r).chars().count()).chain([title.len()]).max().unwrap_or(0).min(60)
        };
        let columns: [Column; 3] =
            [("item", |r| &r.item), ("required by", |r| &r.required), ("offered", |r| &r.offered)];
        let widths = columns.map(|(title, column)| width(column, title));
        for ((title, _), width) in columns.iter().zip(widths) {
            write!(f, "{title:width$}  ")?;
        }
        writeln!(f, "state")?;
        for row in &self.rows {
            for ((_, column), width) in columns.iter().zip(widths) {
                write!(f, "{:width$}  ", column(row))?;
            }
            writeln!(f, "{}", row.state.word())?;
            if let Some(remedy) = &row.remedy {
                writeln!(f, "    -> {remedy}")?;
            }
        }
        Ok(())
    }
}

/// Checks some bytes. Never fails: whatever is wrong is a row.
pub(crate) fn check(bytes: &[u8], max_bytes: u64) -> CheckReport {
    if bytes.len() as u64 > max_bytes {
        return CheckReport::new(vec![file_fault(
            &format!("at most {}", brain_manifest::show_bytes(max_bytes)),
            brain_manifest::show_bytes(bytes.len() as u64),
            "strip debug information, or raise `max_component_bytes`",
        )]);
    }
    if let Some((what, remedy)) = sniff(bytes).fault() {
        return CheckReport::new(vec![file_fault("a component", what.into(), remedy)]);
    }
    let (component, world) = match decode_component(bytes) {
        Ok(decoded) => decoded,
        Err(why) => {
            let remedy = if why.contains("async") {
                "it uses the asynchronous functions of WASI 0.3, which this host does not have: build it for WASI 0.2"
            } else {
                "the file is damaged or cut short: build or download it again"
            };
            return CheckReport::new(vec![file_fault("a whole, valid component", why, remedy)]);
        }
    };
    let mut contract = Resolve::default();
    if contract.push_source("role.wit", CONTRACT_WIT).is_err() {
        // The contract is compiled in and parsed by every test.
        return CheckReport::new(Vec::new());
    }
    let mut rows = export_rows(&contract, &component, world);
    rows.extend(import_rows(&contract, &component, world));
    if rows.len() > MAX_ROWS {
        // Faults first, so that none of them is among those cut.
        rows.sort_by_key(|row| !row.state.fails());
        let cut = rows.split_off(MAX_ROWS);
        let faults = cut.iter().any(|row| row.state.fails());
        rows.push(CheckRow {
            item: format!("{} more rows", cut.len()),
            required: String::new(),
            offered: String::new(),
            state: if faults { RowState::Missing } else { RowState::Extra },
            remedy: faults.then(|| "mend the rows above, and check again to see these".into()),
        });
    }
    CheckReport::new(rows)
}

/// Makes `text` one line of at most `max` characters, the last of them a sign that it was cut.
fn clip(text: &mut String, max: usize) {
    if text.contains(char::is_control) {
        *text = text.split(char::is_control).filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join(" ");
    }
    if text.chars().count() > max {
        *text = text.chars().take(max - 1).chain(['…']).collect();
    }
}

fn file_fault(required: &str, offered: String, remedy: &str) -> CheckRow {
    CheckRow {
        item: "the file".into(),
        required: required.into(),
        offered,
        state: RowState::Mismatch,
        remedy: Some(remedy.into()),
    }
}

fn decode_component(bytes: &[u8]) -> Result<(Resolve, WorldId), String> {
    let mut validator = wasmparser::Validator::new_with_features(features());
    validator.validate_all(bytes).map_err(|e| format!("{} (at byte {:#x})", e.message(), e.offset()))?;
    match decode(bytes) {
        Ok(DecodedWasm::Component(resolve, world)) => Ok((resolve, world)),
        Ok(DecodedWasm::WitPackage(..)) => Err("a WIT package, which has types and no code".into()),
        Err(e) => Err(format!("{e:#}")),
    }
}

/// What the engine takes too: see [`crate::engine`].
fn features() -> wasmparser::WasmFeatures {
    wasmparser::WasmFeatures::default() - wasmparser::WasmFeatures::CM_ASYNC
}

/// `name@1.2.3` without its version.
fn without_version(id: &str) -> &str {
    id.split_once('@').map_or(id, |(name, _)| name)
}

/// The full name of an import or export, with its interface if it is one.
fn named(resolve: &Resolve, key: &WorldKey, item: &WorldItem) -> (String, Option<InterfaceId>) {
    let name = resolve.name_world_key(key);
    match item {
        WorldItem::Interface { id, .. } => (name, Some(*id)),
        _ => (name, None),
    }
}

fn interface(contract: &Resolve, name: &str) -> Option<InterfaceId> {
    contract.interfaces.iter().map(|(id, _)| id).find(|id| contract.id_of(*id).as_deref() == Some(name))
}

/// The differences of every function that both interfaces have, and of those that `required` has alone.
fn compare_interfaces(
    contract: &Resolve,
    ours: InterfaceId,
    component: &Resolve,
    theirs: InterfaceId,
    contract_requires: bool,
) -> Vec<Difference> {
    let compare = Compare { contract, component };
    let (Some(ours), Some(theirs)) = (contract.interfaces.get(ours), component.interfaces.get(theirs)) else {
        return Vec::new();
    };
    let mut out = Vec::new();
    for (name, function) in &ours.functions {
        match theirs.functions.get(name) {
            Some(other) => out.extend(compare.functions(function, other)),
            None if contract_requires => out.push(Difference {
                item: name.clone(),
                contract: format!("the function `{name}`"),
                component: "nothing".into(),
            }),
            None => {}
        }
    }
    if !contract_requires {
        out.extend(theirs.functions.keys().filter(|name| !ours.functions.contains_key(*name)).map(|name| Difference {
            item: name.clone(),
            contract: "nothing".into(),
            component: format!("the function `{name}`"),
        }));
    }
    out
}

fn explain(differences: &[Difference]) -> String {
    let mut lines: Vec<String> = differences
        .iter()
        .take(MAX_DIFFERENCES)
        .map(|d| format!("{}: the contract has {}, the component has {}", d.item, d.contract, d.component))
        .collect();
    if differences.len() > MAX_DIFFERENCES {
        lines.push(format!("and {} more differences", differences.len() - MAX_DIFFERENCES));
    }
    format!("{}. Build it against wit/role.wit of this release", lines.join("; "))
}

fn export_rows(contract: &Resolve, component: &Resolve, world: WorldId) -> Vec<CheckRow> {
    let mut rows = Vec::new();
    let mut others = Vec::new();
    let mut near = None;
    let Some(world) = component.worlds.get(world) else { return rows };
    for (key, item) in &world.exports {
        let (name, id) = named(component, key, item);
        if name == WORKER {
            let differences = match (interface(contract, WORKER), id) {
                (Some(ours), Some(theirs)) => compare_interfaces(contract, ours, component, theirs, true),
                _ => Vec::new(),
            };
            let fits = differences.is_empty();
            rows.push(CheckRow {
                item: name,
                required: "the contract".into(),
                offered: if fits { "exported" } else { "exported, with other types" }.into(),
                state: if fits { RowState::Real } else { RowState::Mismatch },
                remedy: (!fits).then(|| explain(&differences)),
            });
        } else {
            if without_version(&name) == without_version(WORKER) {
                near = Some(name.clone());
            }
            others.push(CheckRow {
                item: name,
                required: "nobody".into(),
                offered: "exported".into(),
                state: RowState::Extra,
                remedy: None,
            });
        }
    }
    if rows.is_empty() {
        let (offered, remedy) = match near {
            Some(other) => (
                format!("{other} instead"),
                format!("it was built for another version of the contract: build it against {CONTRACT}"),
            ),
            None if others.is_empty() => (
                "no export at all".into(),
                "export the worker: in Rust `brain_role::role!(run);`, elsewhere world `role` of wit/role.wit".into(),
            ),
            None => (
                "not exported".into(),
                "it was built for another world: build it for world `role` or `agent` of wit/role.wit".into(),
            ),
        };
        rows.push(CheckRow {
            item: WORKER.into(),
            required: "the contract".into(),
            offered,
            state: RowState::Missing,
            remedy: Some(remedy),
        });
    }
    rows.append(&mut others);
    rows
}

fn import_rows(contract: &Resolve, component: &Resolve, world: WorldId) -> Vec<CheckRow> {
    let Some(world) = component.worlds.get(world) else { return Vec::new() };
    world
        .imports
        .iter()
        .filter(|(_, item)| !matches!(item, WorldItem::Type { .. }))
        .map(|(key, item)| {
            let (name, id) = named(component, key, item);
            let row = |offered: &str, state, remedy| CheckRow {
                item: name.clone(),
                required: COMPONENT.into(),
                offered: offered.into(),
                state,
                remedy,
            };
            match offer(&name) {
                Offer::Contract => {
                    let differences = match (interface(contract, &name), id) {
                        (Some(ours), Some(theirs)) => compare_interfaces(contract, ours, component, theirs, false),
                        _ => Vec::new(),
                    };
                    if differences.is_empty() {
                        row("linked", RowState::Real, None)
                    } else {
                        row("linked, with other types", RowState::Mismatch, Some(explain(&differences)))
                    }
                }
                Offer::Real => row("linked", RowState::Real, None),
                Offer::Stub => row("a stub that denies", RowState::Stubbed, None),
                Offer::OtherVersion(ours) => {
                    row(&format!("{ours} only"), RowState::Missing, Some(format!("build it against {ours}")))
                }
                Offer::Unknown => row(
                    "nothing",
                    RowState::Missing,
                    Some("this host has no such interface: remove the import, or do without what brings it in".into()),
                ),
            }
        })
        .collect()
}
