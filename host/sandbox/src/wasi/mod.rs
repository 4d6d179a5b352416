//! The parts of WASI that the sandbox links itself or wraps, beside files.

pub(crate) mod ambient;
pub(crate) mod io;
pub(crate) mod stdio;
pub(crate) mod stub;
