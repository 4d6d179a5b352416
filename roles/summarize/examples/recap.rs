//! Summarises natively: `cargo run --example recap -- <folder> <request> [<session.md> …]`.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use brain_role::testing::Bench;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(goal)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: recap <folder> <request> [<session.md> …]");
        return Ok(());
    };
    let mut bench = Bench::new().workspace_dir(folder).goal(goal);
    for path in arguments {
        let name = path.rsplit('/').next().unwrap_or(&path);
        bench = bench.context(format!("threads/{name}"), std::fs::read(&path)?);
    }
    let result = bench.run(summarize::run);
    println!("{}\n", result.summary);
    for risk in &result.risks {
        println!("risk: {risk}");
    }
    Ok(())
}
