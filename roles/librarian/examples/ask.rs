//! Asks the librarian about a folder, natively: `cargo run --example ask -- <folder> <question>`.
#![allow(clippy::print_stdout, clippy::expect_used)]

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("a folder");
    let goal = arguments.collect::<Vec<_>>().join(" ");
    let result = brain_role::testing::Bench::new().workspace_dir(folder).goal(goal).run(librarian::run);
    println!("{}\n", result.summary);
    for artifact in &result.artifacts {
        println!("{}  {}", artifact.uri, artifact.label.as_deref().unwrap_or(""));
    }
    for risk in &result.risks {
        println!("risk: {risk}");
    }
}
