//! The security role: finds committed secrets, dangerous calls and unsafe settings in the files that it is granted.
//!
//! It works on text alone, without a model: [`inspect`] turns one path and its text into findings, [`run`] does so for every
//! file that the handoff names (or the whole granted tree), and answers with the worst first. A secret's value is in no
//! output. What was not looked at is counted in the risks.

mod calls;
mod inspect;
mod language;
mod lexer;
pub mod limits;
mod rules;
mod source;

use brain_role::{Handoff, Outcome};

pub use file_findings::FileReport;
pub use inspect::inspect;
pub use language::Language;
pub use rules::RULES;

brain_role::role!(run);

/// The role: looks at the files of `handoff` and reports what is dangerous in them.
pub fn run(handoff: Handoff) -> Outcome {
    let tree = handoff.workspace();
    let files = file_findings::files(&handoff);
    let mut collection = file_findings::Collection::default();
    let mut reader = file_findings::Reader::default();
    for file in &files.paths {
        if let Some(text) = reader.read(&tree, file) {
            collection.add(&file.path, inspect(&file.path, &text));
        }
    }
    let step = format!("read {} of {} files", reader.read_files, files.paths.len());
    let mut risks = files.risks;
    risks.extend(reader.risks());
    risks.extend(collection.risks());
    let mut summary = collection.summary(reader.read_files, "Nothing dangerous found");
    if reader.read_files == 0 {
        risks.push("no file was looked at, so nothing can be said about the project".to_owned());
    }
    let prior = file_findings::compose(&handoff);
    if let Some(prior) = &prior {
        summary.push_str("\n\n");
        summary.push_str(prior);
    }
    Outcome::completed(summary).step(step).findings(collection.into_findings()).risks(risks)
}
