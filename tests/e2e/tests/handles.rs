//! Open files belong to the whole process: no role may use them up. Alone in its process, since it changes its limits.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use brain_sandbox::Ended;
use brain_tests::Bench;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[test]
fn a_role_that_hoards_handles_leaves_some_to_others() {
    // What many systems start a process with.
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(1024), maximum }).unwrap();
    let bench = Bench::new();
    let role = bench.load("misbehave");
    let run = bench.run(&role, "handles 5000");
    assert_eq!(run.ended, Ended::Returned, "a guest gets an ordinary error: {}", run.ended.message());
    let held: u64 = run.result.summary.rsplit_once(" after ").unwrap().1.parse().unwrap();
    assert!(run.result.summary.contains("error OutOfMemory"), "{}", run.result.summary);
    let limit = bench.limits.open_handles;
    assert!(held <= limit && held > limit - 16, "{held} of {limit}");
    assert!(
        getrlimit(Resource::Nofile).current.is_none_or(|current| current > 2 * limit),
        "room for more than one role"
    );
    let again = bench.run(&role, "handles 10");
    assert!(again.result.summary.ends_with("ok 10 handles"), "{}", again.result.summary);
}
