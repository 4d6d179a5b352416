#![doc = include_str!("../README.md")]

pub mod language;
pub mod limits;
pub mod outline;
pub mod words;
