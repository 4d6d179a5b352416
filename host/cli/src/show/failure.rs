//! An error, as its reader gets it.

use std::io::Write;

use brain_packet::terminal_safe;
use console::style;
use miette::Diagnostic;

/// Prints what failed, why, what to do about it, and the code to look it up by, on standard error.
pub fn failure(error: &dyn Diagnostic) {
    let mut text = format!("{} {}\n", style("error:").for_stderr().red().bold(), terminal_safe(&error.to_string()));
    let mut cause = error.source();
    while let Some(why) = cause {
        let why_text = why.to_string();
        // Some messages quote their cause.
        if !text.contains(&why_text) {
            text.push_str(&format!("    why: {}\n", terminal_safe(&why_text)));
        }
        cause = why.source();
    }
    if let Some(help) = error.help() {
        text.push_str(&format!("   help: {}\n", terminal_safe(&help.to_string())));
    }
    if let Some(code) = error.code() {
        text.push_str(&format!("   code: {}\n", terminal_safe(&code.to_string())));
    }
    // Nobody is left to tell when standard error is gone.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
