//! Debug output and debugger stops that were left in added lines.

use super::{Findings, View};
use crate::code::{calls, has_word, split};
use crate::lang::Lang;
use crate::model::{Found, Severity};

/// Calls that exist for debugging only.
fn debug_only(lang: Lang) -> &'static [&'static str] {
    match lang {
        Lang::Rust => &["dbg!"],
        Lang::Js => &["console.debug", "console.trace"],
        Lang::Php => &["var_dump", "var_export", "dd", "dump"],
        Lang::Go => &["spew.Dump"],
        _ => &[],
    }
}

/// Calls that print, which a library or a service should leave to its log.
fn prints(lang: Lang) -> &'static [&'static str] {
    match lang {
        Lang::Rust => &["println!", "print!", "eprintln!", "eprint!"],
        Lang::Python => &["print", "pprint", "pprint.pprint"],
        Lang::Js => &["console.log", "console.dir", "console.table", "alert"],
        Lang::Go => &["fmt.Println", "fmt.Printf", "fmt.Print", "println", "print"],
        Lang::Java => {
            &["System.out.println", "System.out.print", "System.out.printf", "System.err.println", "System.err.printf"]
        }
        Lang::Kotlin | Lang::Swift => &["println", "print"],
        Lang::CSharp => &["Console.WriteLine", "Console.Write", "Debug.WriteLine"],
        Lang::Php => &["print_r", "error_log"],
        _ => &[],
    }
}

/// Words that stop the program in a debugger.
fn stops(lang: Lang) -> &'static [&'static str] {
    match lang {
        Lang::Python => &["pdb.set_trace", "ipdb.set_trace", "pudb.set_trace", "breakpoint"],
        Lang::Js => &["debugger"],
        Lang::Ruby => &["binding.pry", "binding.irb", "byebug"],
        Lang::CSharp => &["Debugger.Break"],
        Lang::Php => &["xdebug_break"],
        Lang::Go => &["runtime.Breakpoint"],
        _ => &[],
    }
}

/// Looks at the added lines of a source file.
pub fn debug_output(view: &View<'_>, findings: &mut Findings) {
    for (number, text) in view.added() {
        let code = split(&text, view.lang).code;
        if code.trim().is_empty() {
            continue;
        }
        if let Some(stop) = stops(view.lang).iter().find(|word| stops_here(&code, word)) {
            findings.push(
                Found::new(
                    Severity::Medium,
                    "review/debugger",
                    &view.path,
                    format!("`{stop}` stops the program in a debugger"),
                )
                .at(number)
                .evidence(text.as_ref())
                .suggest("Remove the line"),
            );
        } else if let Some(call) = debug_only(view.lang).iter().find(|name| calls(&code, name)) {
            findings.push(debug(view, number, &text, Severity::Medium, call));
        } else if !view.prints
            && !view.is_test_line(number)
            && let Some(call) = prints(view.lang).iter().find(|name| calls(&code, name))
        {
            let severity = if speaks_of_debugging(&text) { Severity::Medium } else { Severity::Low };
            findings.push(debug(view, number, &text, severity, call));
        }
    }
}

/// `breakpoint` is a plain word of many programs: it counts only when it is called.
fn stops_here(code: &str, word: &str) -> bool {
    if matches!(word, "breakpoint" | "xdebug_break") || word.contains("set_trace") {
        return calls(code, word);
    }
    if word == "debugger" {
        return code.trim().trim_end_matches(';') == word;
    }
    has_word(code, word)
}

fn debug(view: &View<'_>, line: u32, text: &str, severity: Severity, call: &str) -> Found {
    Found::new(
        severity,
        "review/debug-output",
        &view.path,
        format!("`{call}` looks like debug output that was left in"),
    )
    .at(line)
    .evidence(text)
    .suggest("Remove it, or use the project's logger")
}

fn speaks_of_debugging(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["debug", "xxx", "here!", "\"here\"", "'here'", ">>>", "!!!", "###"].iter().any(|hint| lower.contains(hint))
}
