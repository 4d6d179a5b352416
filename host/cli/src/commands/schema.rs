//! `brain schema`: the published schemas.

use std::path::Path;

use brain_orchestrator::{nearest, schemas};

use crate::exit::{Exit, Failure, Outcome, OutputError, print};
use crate::show::line;

/// What the names of the files end with.
const ENDING: &str = ".schema.json";

/// There is no schema of the name.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("there is no schema `{name}`")]
#[diagnostic(code("cli.schema"), help("{help}"))]
struct NoSchema {
    name: String,
    help: String,
}

/// Writes every schema into an existing folder, prints the one of a name, or prints the names.
pub fn schema(name: Option<&str>, out: Option<&Path>) -> Outcome {
    let all = schemas();
    if let Some(out) = out {
        for (file, text) in all {
            let path = out.join(file);
            std::fs::write(&path, text)
                .map_err(|source| Failure::new(OutputError { what: path.display().to_string(), source }))?;
        }
        return Ok(Exit::Done);
    }
    let known: Vec<&str> = all.iter().map(|(file, _)| file.strip_suffix(ENDING).unwrap_or(file)).collect();
    let Some(name) = name else {
        print(&format!("{}\n", known.join("\n")))?;
        return Ok(Exit::Done);
    };
    // The name of the file means the same.
    let wanted = name.strip_suffix(ENDING).unwrap_or(name);
    match all.iter().zip(&known).find(|(_, known)| **known == wanted) {
        Some(((_, text), _)) => print(text).map(|()| Exit::Done),
        None => {
            let help = match nearest(wanted, known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("these there are: {}", known.join(", ")),
            };
            Err(Failure { error: Box::new(NoSchema { name: line(name), help }), exit: Exit::Usage })
        }
    }
}
