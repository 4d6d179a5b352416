//! The role as Brain calls it: what it answers about a project in several languages, and what it makes of hostile ones.
#![allow(clippy::expect_used)]

mod asked;
mod bounds;
mod output;
mod ranking;
mod repeats;
mod support;
mod tested;
