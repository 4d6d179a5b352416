#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]
use brain_tests::Bench;
#[test]
fn explore() {
    let mut bench = Bench::new();
    bench.limits.deadline_ms = 3000;
    std::fs::write(bench.workspace.path().join("a.txt"), "hello").unwrap();
    std::fs::write(bench.workspace.path().join(".env"), "hello").unwrap();
    let role = bench.load("misbehave");
    for goal in ["open /workspace/a.txt", "open /workspace/b.txt", "open /workspace/.env", "open /workspace/../etc/passwd", "open /etc/passwd", "list /workspace", "write /workspace/x", "append /workspace/a.txt", "truncate /workspace/a.txt","remove /workspace/a.txt","mkdir /workspace/d","rename /workspace/a.txt -> /artifacts/a", "symlink a -> /workspace/l", "symlink a -> /artifacts/l", "hardlink /workspace/a.txt -> /artifacts/l", "preopens", "env", "stdin", "spin", "alloc", "recurse", "recurse-memory", "flood-stdout", "flood-stderr", "return-100mb", "return-many", "return-findings", "trap", "panic boom", "exit 3", "exit 0", "echo", "pending", "artifact a.bin 1000", "artifact-flood", "many-files", "handles", "model", "tools", "random 2000000", "clock", "threads", "connect 127.0.0.1:80", "resolve localhost"] {
        let t = std::time::Instant::now();
        let run = bench.run(&role, goal);
        let s: String = run.result.summary.chars().take(400).collect();
        println!("== {goal}: {} {:?} | {} | {:?} | {s}", run.ended.code(), t.elapsed(), run.ended.message().chars().take(300).collect::<String>(), run.result.progress.status);
        println!("   files {:?} peak {} notes {:?} stubs {:?}", run.receipt.files, run.receipt.peak_memory_bytes, run.result.notes.len(), run.receipt.stubbed_calls);
    }
}
