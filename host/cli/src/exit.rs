//! How the command ends: its exit statuses, and what is printed on the way out.

use std::borrow::Cow;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use brain_journal::JournalError;
use brain_orchestrator::RunError;
use miette::Diagnostic;

/// The exit statuses. README lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It did what it was asked; what a report says of the project makes no difference.
    Done = 0,
    /// It could not: something failed, a check did not pass, or the answering role failed.
    Failed = 1,
    /// It was called wrongly, or the request says too little to work on.
    Usage = 2,
    /// A finding is at least as grave as `--fail-on` says.
    Findings = 3,
    /// It was interrupted.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// An error on its way to the reader.
pub struct Failure {
    /// What to print.
    pub error: Box<dyn Diagnostic + Send + Sync>,
    /// How to end.
    pub exit: Exit,
}

/// What a command comes to.
pub type Outcome = Result<Exit, Failure>;

impl Failure {
    /// A failure that is not the caller's fault.
    pub fn new(error: impl Diagnostic + Send + Sync + 'static) -> Self {
        Self { error: Box::new(error), exit: Exit::Failed }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let exit = match &error {
            RunError::Interrupted => Exit::Interrupted,
            RunError::Role(brain_orchestrator::RoleError::NotFound { .. }) => Exit::Usage,
            RunError::Journal(
                JournalError::NotFound { .. } | JournalError::Ambiguous { .. } | JournalError::BadReference { .. },
            ) => Exit::Usage,
            error if error.is_usage() => Exit::Usage,
            _ => Exit::Failed,
        };
        Self { error: Box::new(error), exit }
    }
}

/// Standard output, or a file that was named, cannot be written.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{what} cannot be written: {source}")]
#[diagnostic(code("cli.output"), help("check the disk, and that you may write there"))]
pub struct OutputError {
    /// What.
    pub what: String,
    /// What the system said.
    pub source: std::io::Error,
}

/// Prints to standard output. A reader that has gone away (`brain … | head`) is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    print_bytes(text.as_bytes()).map(|_| ())
}

/// Prints to standard output, and tells whether anybody reads it.
pub fn print_bytes(bytes: &[u8]) -> Result<Reader, Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Ok(Reader::Listens),
        Err(source) if source.kind() == ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(source) => Err(Failure::new(OutputError { what: "the output".into(), source })),
    }
}

/// Whether somebody reads what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// As far as can be told.
    Listens,
    /// No more: what else would be printed is for nobody.
    Gone,
}

/// Prints a value as JSON.
pub fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|e| Failure::new(OutputError { what: "the output".into(), source: e.into() }))?;
    print(&format!("{}\n", harmless_json(&text)))
}

/// A value as harmless JSON on one line.
pub fn json_line(value: &impl serde::Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string(value)
        .map_err(|e| Failure::new(OutputError { what: "the output".into(), source: e.into() }))?;
    Ok(format!("{}\n", harmless_json(&text)))
}

/// JSON that says the same and that a terminal cannot obey: what lies outside of ASCII and is hidden is inside of a string,
/// and stands there as its escape. (serde_json escapes the control characters below U+0020.)
fn harmless_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let hidden = c != '\n' && matches!(brain_packet::terminal_safe(c.encode_utf8(&mut [0; 4])), Cow::Owned(_));
        if hidden {
            out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out
}
