//! The role as Brain calls it: what covers a change, what does not exist, what to run, and what hostile trees do to it.
#![allow(clippy::unwrap_used, clippy::panic)]

mod answers;
mod bounds;
mod commands;
mod support;
