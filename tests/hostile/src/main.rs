//! `hostile`: the whole suite as a table, how late the kills come, what the escape corpus finds, and what stays in memory.
//!
//! Exit status 0 when every bound was kept, 1 when one was not, 2 for arguments that are not understood.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that is run by hand")]
#![allow(clippy::print_stdout, reason = "its output is what it is for")]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use brain_hostile::case::{Suite, Verdict};
use brain_hostile::cases::GROUPS;
use brain_hostile::escapes::{self, Grant, Place, in_namespace};
use brain_hostile::measure::{quantile, resident};
use brain_sandbox::{TICK_MS, show_bytes};

/// Runs of each case that has no end.
const RUNS: usize = 200;
/// How late a kill may come, at the 99th percentile.
const LATE: Duration = Duration::from_millis(TICK_MS + 5);
/// What may stay in memory.
const KEPT: u64 = 8 << 20;
/// Makes the C library give back what is free, instead of keeping it for each thread, so that what is resident is what is held.
const GIVES_BACK: (&str, &str) = (
    "GLIBC_TUNABLES",
    "glibc.malloc.arena_max=1:glibc.malloc.trim_threshold=131072:glibc.malloc.mmap_threshold=131072",
);
/// What this process is started with again, to try what needs a mount namespace.
const BIND_MOUNTED: &str = "--bind-mounted";
/// What this process is started with again, so that every guest is in the compile cache.
const COMPILE: &str = "--compile";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runs = match words[..] {
        [] => RUNS,
        ["--runs", count] if count.parse::<usize>().is_ok_and(|count| count > 0) => count.parse().unwrap(),
        [BIND_MOUNTED] => return code(corpus_on(&Suite::new(), Place::BindMounted)),
        [COMPILE] => return compile(),
        _ => {
            eprintln!("hostile [--runs N]: N runs of each case that has no end; {RUNS} unless it is said");
            return ExitCode::from(2);
        }
    };
    if std::env::var_os(GIVES_BACK.0).is_none() {
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        let status = again.args(&arguments).env(GIVES_BACK.0, GIVES_BACK.1).status().unwrap();
        return code(status.success());
    }
    // Compiling is no part of what is measured, and happens once on a machine: another process does it.
    let compiled = std::process::Command::new(std::env::current_exe().unwrap()).arg(COMPILE).status().unwrap();
    if !compiled.success() {
        return code(false);
    }
    let suite = Suite::new();
    let before = resident();
    let cases = table(&suite);
    let once = resident();
    let again = GROUPS.iter().flat_map(|(_, cases)| cases()).all(|case| suite.run(&case).faults.is_empty());
    let kills = kills(&suite, runs);
    let corpus = corpus(&suite);
    let end = resident();
    println!("\nresident memory                       all, and without what files are mapped for");
    for (when, at) in
        [("before the first case", before), ("every case was run once", once), ("every case again, kills, corpus", end)]
    {
        println!("  {when:<36} {:>10} {:>10}", show_bytes(at.all), show_bytes(at.allocated));
    }
    // The first pass also brings in the program itself, file by file, and so all of it counts from there.
    let (kept, grown) = (end.allocated.saturating_sub(before.allocated), end.all.saturating_sub(once.all));
    let memory = kept.max(grown) <= KEPT;
    let (kept, grown) = (show_bytes(kept), show_bytes(grown));
    println!(
        "  {}: {kept} were not given back, and all of it grew by {grown} since the first pass; either may be {}",
        verdict(memory),
        show_bytes(KEPT)
    );
    if !again {
        println!("\nBROKEN: a case that kept its bounds at first did not when it was run again");
    }
    let passed = cases && again && kills && corpus && memory;
    println!("\n{}", if passed { "every bound was kept" } else { "NOT every bound was kept" });
    code(passed)
}

fn code(passed: bool) -> ExitCode {
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn verdict(kept: bool) -> &'static str {
    if kept { "ok" } else { "BROKEN" }
}

/// `12.3 ms`.
fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

fn compile() -> ExitCode {
    let suite = Suite::new();
    GROUPS.iter().flat_map(|(_, cases)| cases()).for_each(|case| drop(suite.ready(&case)));
    ExitCode::SUCCESS
}

/// Every case once.
fn table(suite: &Suite) -> bool {
    println!("{:<34} {:<30} {:>10} {:>9} {:>10}  verdict  attack", "case", "ended by", "wall", "late", "memory");
    let (mut passed, mut count, begun) = (0, 0, Instant::now());
    for (group, cases) in GROUPS {
        println!("\n{group}");
        for case in cases() {
            let Verdict { ended, wall, overshoot, peak_memory, faults } = suite.run(&case);
            let late = overshoot.map(millis).unwrap_or_default();
            let (wall, peak) = (millis(wall), show_bytes(peak_memory));
            let name = case.name;
            println!(
                "  {name:<32} {ended:<30} {wall:>10} {late:>9} {peak:>10}  {:<7}  {}",
                verdict(faults.is_empty()),
                case.attack
            );
            faults.iter().for_each(|fault| println!("      {fault}"));
            passed += usize::from(faults.is_empty());
            count += 1;
        }
    }
    println!("\n{passed} of {count} cases kept their bounds, in {:.1} s", begun.elapsed().as_secs_f64());
    passed == count
}

/// The cases without end, over and over: how late each is stopped.
fn kills(suite: &Suite, runs: usize) -> bool {
    println!(
        "\nhow late a call ends that is stopped at its deadline: {runs} runs each, at most {} at p99",
        millis(LATE)
    );
    println!("  {:<32} {:>9} {:>9} {:>9}  verdict", "case", "p50", "p99", "most");
    let mut all = Vec::new();
    let mut passed = true;
    for case in GROUPS.iter().flat_map(|(_, cases)| cases()).filter(|case| case.is_endless()) {
        let ready = suite.ready(&case);
        let (mut late, mut faults) = (Vec::new(), Vec::new());
        for _ in 0..runs {
            let verdict = ready.kill();
            late.extend(verdict.overshoot);
            faults.extend(verdict.faults);
        }
        late.sort();
        faults.dedup();
        let kept = faults.is_empty() && late.len() == runs && quantile(&late, 0.99) <= LATE;
        passed &= kept;
        if late.is_empty() {
            println!("  {:<32} was never stopped at its deadline", case.name);
        } else {
            let [p50, p99, most] = [0.5, 0.99, 1.0].map(|q| millis(quantile(&late, q)));
            println!("  {:<32} {p50:>9} {p99:>9} {most:>9}  {}", case.name, verdict(kept));
        }
        faults.iter().take(5).for_each(|fault| println!("      {fault}"));
        all.extend(late);
    }
    all.sort();
    let [p50, p99, most] = [0.5, 0.99, 1.0].map(|q| millis(quantile(&all, q)));
    println!("  {:<32} {p50:>9} {p99:>9} {most:>9}", format!("all {} runs", all.len()));
    passed
}

/// The escape corpus, everywhere.
fn corpus(suite: &Suite) -> bool {
    println!("\nescape corpus");
    let mut passed = corpus_on(suite, Place::Plain) & corpus_on(suite, Place::BelowLink);
    match in_namespace(&[BIND_MOUNTED]) {
        Ok(Some((ok, said))) => {
            print!("{said}");
            passed &= ok;
        }
        Ok(None) => passed &= corpus_on(suite, Place::BindMounted),
        Err(why) => {
            println!("  NOT TRIED on a bind-mounted folder: this machine allows no mount namespace ({why})");
            passed = false;
        }
    }
    passed
}

fn corpus_on(suite: &Suite, place: Place) -> bool {
    let mut passed = true;
    for grant in [Grant::Read, Grant::Write] {
        let report = escapes::run(suite, place, grant);
        let faults = report.faults();
        passed &= faults.is_empty();
        let title = format!("{}, granted to {grant:?}", place.words());
        println!("  {title:<34} {}  {}", report.counts(), verdict(faults.is_empty()));
        faults.iter().take(20).for_each(|fault| println!("      {fault}"));
    }
    passed
}
