//! `brain:role`, the contract, from the host's side.

pub(crate) mod bindings;
pub(crate) mod check;
mod compare;
pub(crate) mod convert;
pub(crate) mod sniff;

pub use check::{CheckReport, CheckRow, RowState};

/// The contract's own text, as authors get it.
pub const CONTRACT_WIT: &str = include_str!("../../../../wit/role.wit");

/// The package and version that this host serves.
pub const CONTRACT: &str = "brain:role@1.0.0";

/// The interface that every role exports.
pub(crate) const WORKER: &str = "brain:role/worker@1.0.0";
