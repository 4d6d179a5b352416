//! The journal through its public doors: what is written, what is read back, and what happens when things go wrong.

#![allow(clippy::unwrap_used, clippy::panic, reason = "that is how a test fails, in its helpers as well")]

mod documented;
mod generated;
mod hostile;
mod listing;
mod oversize;
mod places;
mod processes;
mod proposals;
mod references;
mod roundtrip;
mod seed;
mod short;
mod stories;
mod support;
mod torn;
