#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]
use brain_tests::Bench;
#[test]
fn explore() {
    let mut bench = Bench::new();
    bench.limits.deadline_ms = 1000;
    std::fs::write(bench.workspace.path().join("a.txt"), "hello").unwrap();
    let role = bench.load("misbehave");
    println!("{}", role.report());
    for goal in ["open /workspace/a.txt", "open /workspace/b.txt", "open /workspace/../etc/passwd", "open /etc/passwd", "list /workspace", "write /workspace/x", "env", "spin", "alloc", "recurse", "flood-stdout", "return-100mb", "return-many", "trap", "panic boom", "exit 3", "sleep 100000", "echo", "pending", "artifact a.bin 1000", "artifact-flood", "many-files", "model", "tools", "random", "clock", "threads"] {
        let t = std::time::Instant::now();
        let run = bench.run(&role, goal);
        let s: String = run.result.summary.chars().take(200).collect();
        println!("== {goal}: {} {:?} | {} | {:?} | {s}", run.ended.code(), t.elapsed(), run.ended.message().chars().take(300).collect::<String>(), run.result.progress.status);
        println!("   files {:?} peak {} notes {:?}", run.receipt.files, run.receipt.peak_memory_bytes, run.result.notes.len());
    }
}
