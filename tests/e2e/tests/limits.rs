//! Every limit can be reached, says so by its name, and neither zero nor a huge value of it harms the host.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use brain_sandbox::{Ended, LimitName, Limits, Reached, Run};
use brain_tests::Bench;
use brain_tests::components::{component, core, module, role};

/// The limits with one of them changed.
fn with(limit: LimitName, value: u64) -> Limits {
    let mut json = serde_json::to_value(Limits::default()).unwrap();
    json[limit.key().unwrap()] = value.into();
    serde_json::from_value(json).unwrap()
}

#[track_caller]
fn assert_killed(run: &Run, limit: LimitName, value: u64) {
    assert!(
        matches!(&run.ended, Ended::Killed { limit: hit, value: bound, .. } if (*hit, *bound) == (limit, value)),
        "{}: {}",
        run.ended.code(),
        run.ended.message()
    );
    assert_eq!(run.receipt.ended, limit.code());
    assert!(run.ended.remedy().unwrap().contains(limit.key().unwrap()));
}

/// The call went on, and the receipt says what it ran into.
#[track_caller]
fn assert_reached(run: &Run, limit: LimitName, value: u64) {
    assert_eq!(run.ended, Ended::Returned, "{}", run.ended.message());
    let [reached] = run.receipt.reached.as_slice() else { panic!("{:?}", run.receipt.reached) };
    assert!(reached.times > 0);
    assert_eq!(reached, &Reached { limit, value, times: reached.times, remedy: limit.remedy() });
}

#[test]
fn computing_ends_at_the_cpu_limit_and_waiting_does_not_count() {
    let (mut bench, role) = Bench::misbehaving();
    bench.limits.cpu_ms = 200;
    let run = bench.run(&role, "spin");
    assert_killed(&run, LimitName::Cpu, 200);
    assert!(run.receipt.cpu_ms >= 200.0, "{:?}", run.receipt);
    let run = bench.run(&role, "sleep 400");
    assert_eq!(run.ended, Ended::Returned, "{}", run.ended.message());
    assert!(run.receipt.wall_ms >= 400.0 && run.receipt.cpu_ms < 200.0, "{:?}", run.receipt);
}

#[test]
fn a_guest_that_lives_with_a_refused_allocation_is_told_of_in_the_receipt() {
    let (mut bench, role) = Bench::misbehaving();
    bench.limits.memory_bytes = 16 << 20;
    let run = bench.run(&role, "alloc-politely");
    assert_reached(&run, LimitName::Memory, 16 << 20);
    let json = serde_json::to_value(&run.receipt).unwrap();
    assert_eq!(json["reached"][0]["limit"], "memory");
    assert!(json["reached"][0]["remedy"].as_str().unwrap().contains("`memory_bytes`"));
    // One that dies of it names it twice: it ended the call, and it refused something before.
    let run = bench.run(&role, "alloc");
    assert_killed(&run, LimitName::Memory, 16 << 20);
    assert_eq!(run.receipt.reached.len(), 1);
    bench.limits = Limits::default();
    let json = serde_json::to_value(bench.run(&role, "env").receipt).unwrap();
    assert!(json.get("reached").is_none(), "nothing was refused: {json}");
}

#[test]
fn growth_that_its_own_maximum_stops_is_not_counted() {
    let bench = Bench::new();
    let grows = "(local $n i32)
        (loop $more
            (drop (memory.grow (i32.const 60000)))
            (local.set $n (i32.add (local.get $n) (i32.const 1)))
            (br_if $more (i32.lt_u (local.get $n) (i32.const 100))))
        (i32.store8 (i32.const 1056) (i32.const 2)) (i32.const 1024)";
    let run =
        bench.run(&bench.load_component(&role(&module("", "(memory (export \"memory\") 1 2)", grows))), "anything");
    assert_eq!(run.ended, Ended::Returned, "{}", run.ended.message());
    assert_eq!((run.receipt.peak_memory_bytes, run.receipt.reached), (64 << 10, Vec::new()));
}

#[test]
fn a_table_that_may_not_grow_is_told_of_in_the_receipt() {
    let mut bench = Bench::new();
    bench.limits.table_elements = 10;
    let grows = "(drop (table.grow $t (ref.null func) (i32.const 11))) (i32.const 1024)";
    let run = bench.run(&bench.load_component(&role(&core("(table $t 0 funcref)", grows))), "anything");
    assert_reached(&run, LimitName::TableElements, 10);
}

#[test]
fn a_component_of_more_instances_than_allowed_is_not_called() {
    let (mut bench, role) = Bench::misbehaving();
    bench.limits.instances = 1;
    let run = bench.run(&role, "env");
    assert_killed(&run, LimitName::Instances, 1);
    bench.limits.instances = 0;
    assert_killed(&bench.run(&role, "env"), LimitName::Instances, 0);
}

#[test]
fn output_that_is_cut_is_told_of_in_the_receipt() {
    let (mut bench, role) = Bench::misbehaving();
    bench.limits.output_bytes = 4 << 10;
    assert_reached(&bench.run(&role, "flood-stderr 2000000"), LimitName::Output, 4 << 10);
    bench.limits.output_bytes = 0;
    let run = bench.run(&role, "say hello");
    assert_reached(&run, LimitName::Output, 0);
    assert_eq!(run.receipt.output.dropped_bytes, 12);
}

#[test]
fn what_a_host_call_is_handed_is_bounded() {
    let (mut bench, role) = Bench::misbehaving();
    assert_eq!(bench.run(&role, "tools-large 8000000").ended, Ended::Returned);
    assert_killed(&bench.run(&role, "tools-large 9000000"), LimitName::HostCall, 8 << 20);
    bench.limits.hostcall_bytes = 1 << 20;
    assert_killed(&bench.run(&role, "tools-large 1100000"), LimitName::HostCall, 1 << 20);
}

#[test]
fn a_result_names_the_bound_that_it_is_over() {
    let (mut bench, role) = Bench::misbehaving();
    assert_killed(&bench.run(&role, "return-100mb"), LimitName::Result, 1 << 20);
    bench.limits.result_bytes = 200 << 20;
    assert_killed(&bench.run(&role, "return-100mb"), LimitName::HostCall, 8 << 20);
    bench.limits.hostcall_bytes = 200 << 20;
    let run = bench.run(&role, "return-100mb");
    assert_eq!(run.ended, Ended::Returned, "{}", run.ended.message());
    assert!(run.receipt.result.bytes > 100 << 20 && run.receipt.result.repairs > 0, "{:?}", run.receipt.result);
}

#[test]
fn random_bytes_are_counted_over_the_whole_call() {
    let (mut bench, role) = Bench::misbehaving();
    let run = bench.run(&role, "random 16777216");
    assert_eq!(run.ended, Ended::Returned, "{}", run.ended.message());
    assert!(run.receipt.ambient.random_bytes >= 16 << 20);
    assert_killed(&bench.run(&role, "random 16777217"), LimitName::Random, 16 << 20);
    bench.limits.random_bytes = 1000;
    assert_eq!(bench.run(&role, "random-often 10 50").ended, Ended::Returned);
    let run = bench.run(&role, "random-often 100 50");
    assert_killed(&run, LimitName::Random, 1000);
    assert!(matches!(run.ended, Ended::Killed { reached: Some(1001..1100), .. }), "{:?}", run.ended);
    assert!(run.receipt.ambient.random_bytes <= 1000);
    assert_killed(&bench.run(&role, "random-numbers"), LimitName::Random, 1000);
    // More than fits into the guest is not made for it, whatever the limit on random bytes is.
    bench.limits.random_bytes = u64::MAX;
    for len in [1u64 << 40, u64::MAX] {
        let run = bench.run(&role, &format!("random {len}"));
        assert_killed(&run, LimitName::Memory, bench.limits.memory_bytes);
    }
}

#[test]
fn clock_and_randomness_are_real_where_they_are_granted_and_only_there() {
    let (mut bench, role) = Bench::misbehaving();
    let said = |run: &Run| run.result.summary.clone();
    let quiet = [bench.run(&role, "random 8"), bench.run(&role, "random 8")];
    assert_eq!(said(&quiet[0]), said(&quiet[1]), "the same handoff gets the same bytes");
    let clock = bench.run(&role, "clock");
    assert!(said(&clock).contains("wall=Ok(0)"), "{}", said(&clock));
    assert!(clock.receipt.ambient.wall_clock_reads > 0 && !clock.receipt.grants.wall_clock);

    bench.ambient.random = true;
    let real = [bench.run(&role, "random 8"), bench.run(&role, "random 8")];
    assert!(said(&real[0]) != said(&real[1]) && said(&real[0]) != said(&quiet[0]), "{}", said(&real[0]));
    assert!(real[0].receipt.grants.random && !real[0].receipt.grants.wall_clock);
    assert!(said(&bench.run(&role, "clock")).contains("wall=Ok(0)"), "one grant is not the other");

    bench.ambient.wall_clock = true;
    let clock = bench.run(&role, "clock");
    let millis = said(&clock).split_once("wall=Ok(").unwrap().1.split_once(')').unwrap().0.parse::<u64>().unwrap();
    assert!(millis > 1_700_000_000_000, "{millis}");
    assert_eq!(serde_json::to_value(&clock.receipt.grants).unwrap()["wallClock"], true);
}

#[test]
fn no_value_of_a_limit_harms_the_host() {
    let (mut bench, role) = Bench::misbehaving();
    for limit in LimitName::SETTABLE {
        for value in [0, 1, u64::MAX] {
            bench.limits = with(*limit, value);
            let run = bench.run(&role, "say something");
            let code = run.ended.code();
            assert!(code == "returned" || code == limit.code(), "{limit} {value}: {code} {}", run.ended.message());
            assert!(code == "returned" || value < u64::MAX, "{limit}");
        }
    }
    let every = |value: u64| {
        let all = LimitName::SETTABLE.iter().map(|limit| (limit.key().unwrap().to_owned(), value.into())).collect();
        serde_json::from_value::<Limits>(serde_json::Value::Object(all)).unwrap()
    };
    bench.limits = every(0);
    assert_killed(&bench.run(&role, "say something"), LimitName::Deadline, 0);
    bench.limits = every(u64::MAX);
    assert_eq!(bench.run(&role, "say something").ended, Ended::Returned);
    bench.limits = every(u64::MAX);
    bench.limits.deadline_ms = 50;
    for goal in ["spin", "sleep 18446744073709551615"] {
        assert_killed(&bench.run(&role, goal), LimitName::Deadline, 50);
    }
}

#[test]
fn handles_that_a_guest_does_not_get_are_told_of_in_the_receipt() {
    let (mut bench, role) = Bench::misbehaving();
    bench.limits.open_handles = 50;
    let run = bench.run(&role, "handles 100");
    assert!(run.result.summary.contains("error OutOfMemory"), "{}", run.result.summary);
    assert_reached(&run, LimitName::OpenHandles, 50);
}

#[test]
fn handles_of_what_is_not_granted_count_too() {
    const SOCKETS: &str = "package wasi:sockets@0.2.0;
        interface network { resource network; }
        interface instance-network { use network.{network}; instance-network: func() -> network; }";
    const WORLD: &str = "package test:test;
        world hoards { include brain:role/role@1.0.0; import wasi:sockets/instance-network@0.2.0; }";
    let imports = r#"(import "wasi:sockets/instance-network@0.2.0" "instance-network" (func $network (result i32)))"#;
    let body = "(loop $more (drop (call $network)) (br $more)) unreachable";
    let mut bench = Bench::new();
    bench.limits.open_handles = 20;
    let packages = [brain_sandbox::CONTRACT_WIT, SOCKETS, WORLD];
    let hoards = bench.load_component(&component(&core(imports, body), &packages, "test:test/hoards"));
    let run = bench.run(&hoards, "anything");
    assert_killed(&run, LimitName::OpenHandles, 20);
    assert!(run.receipt.stubbed_calls.values().sum::<u64>() > 20);
}

#[test]
fn limits_on_files_refuse_the_operation_and_are_told_of_in_the_receipt() {
    for (limit, value, goal, said) in [
        (LimitName::ArtifactBytes, 100 << 10, "artifact-flood", "error "),
        (LimitName::ArtifactFiles, 10, "many-files 20", "after 10"),
        (LimitName::WrittenBytes, 100 << 10, "artifact-flood", "error "),
        (LimitName::CreatedFiles, 10, "many-files 20", "after 10"),
        (LimitName::ListedEntries, 2, "list /workspace", "error "),
        (LimitName::StagedBytes, 4, "write /workspace/new", "error "),
        (LimitName::StagedFiles, 0, "write /workspace/new", "error "),
    ] {
        let (mut bench, role) = Bench::misbehaving();
        bench.write = vec!["**".into()];
        for name in ["a", "b", "c"] {
            std::fs::write(bench.workspace.path().join(name), "x").unwrap();
        }
        bench.limits = with(limit, value);
        let run = bench.run(&role, goal);
        assert!(run.result.summary.contains(said), "{limit}: {}", run.result.summary);
        assert_reached(&run, limit, value);
        bench.limits = Limits::default();
        if !goal.ends_with("flood") {
            let run = bench.run(&role, goal);
            assert!(run.result.summary.contains(": ok"), "{limit}: {}", run.result.summary);
            assert_eq!(run.receipt.reached, Vec::new());
        }
    }
}
