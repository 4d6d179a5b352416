//! The parts of WASI that the sandbox links itself or wraps, beside files.

pub(crate) mod io;
pub(crate) mod quiet;
pub(crate) mod stub;
