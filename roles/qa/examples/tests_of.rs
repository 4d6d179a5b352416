//! Asks about a folder natively: `cargo run --example tests_of -- <folder> <question> [<diff>]`.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use brain_role::testing::Bench;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(goal)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: tests_of <folder> <question> [<diff>]");
        return Ok(());
    };
    let mut bench = Bench::new().workspace_dir(folder).goal(goal);
    if let Some(diff) = arguments.next() {
        bench = bench.context("changes.diff", std::fs::read(diff)?);
    }
    let result = bench.run(qa::run);
    println!("{}\n", result.summary);
    for finding in &result.findings {
        let file = finding.file.as_deref().unwrap_or("-");
        let line = finding.line.map_or(String::new(), |line| format!(":{line}"));
        println!("{:?} {file}{line} {}", finding.severity, finding.issue);
        println!("    {}", finding.evidence.as_deref().unwrap_or(""));
        println!("    {}", finding.suggestion.as_deref().unwrap_or(""));
    }
    for risk in &result.risks {
        println!("risk: {risk}");
    }
    Ok(())
}
