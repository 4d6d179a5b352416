//! `brain schema`: writes the published schemas.

use std::path::Path;

use crate::exit::{Exit, Failure, Outcome, OutputError};

/// Writes every schema into an existing folder.
pub fn schema(out: &Path) -> Outcome {
    for (name, text) in brain_orchestrator::schemas() {
        let path = out.join(name);
        std::fs::write(&path, text)
            .map_err(|source| Failure::new(OutputError { what: path.display().to_string(), source }))?;
    }
    Ok(Exit::Done)
}
