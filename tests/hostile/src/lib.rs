//! The hostile suite: guests that attack the sandbox, each by one attack, and the bound that each is held to.
//!
//! - [`case`]: what a case is, how it is run, and what must be true of every one of them.
//! - [`cases`]: the table.
//! - [`escapes`]: the corpus of paths that must not lead out of a mount, and the calls that are tried on each.
//! - [`outside`]: what is around a mount and must stay untouched.
//! - [`wat`]: components that no toolchain would make.
//! - [`measure`]: memory of this process, quantiles.
//!
//! The tests run every case once. `cargo xtask hostile` also measures how late the kills come and what stays in memory.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "its callers are tests, which fail by panicking"
)]

pub mod case;
pub mod cases;
pub mod escapes;
pub mod measure;
pub mod outside;
pub mod wat;
