//! What the role that answers shows of the others.
#![allow(clippy::unwrap_used)]

use brain_role::testing::Bench;
use brain_role::{Finding, Handoff, MAX_COMPOSED, MAX_COMPOSED_CHARS, Outcome, Severity, compose};

#[test]
fn each_result_is_one_line_with_status_and_findings() {
    let security = Bench::new().run(|_: Handoff| {
        Outcome::completed("\nTwo places.\nMore text.")
            .finding(Finding::new(Severity::Low, "a"))
            .finding(Finding::new(Severity::High, "b"))
            .finding(Finding::new(Severity::Low, "c"))
    });
    let review = Bench::new().run(|_: Handoff| Outcome::failed("no diff"));
    let bench = Bench::new()
        .prior_result("security", &security)
        .prior_result("review", &review)
        .context("results/broken.json", "{");
    let text = compose(&bench.handoff().prior_results());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "Other roles:");
    assert!(lines[1].starts_with("- broken: its result cannot be read: "), "{text}");
    assert_eq!(lines[2], "- review (failed): no diff [no findings]");
    assert_eq!(lines[3], "- security (completed): Two places. [3 findings: 1 high, 2 low]");
    assert_eq!(lines.len(), 4);
}

#[test]
fn without_results_there_is_no_heading() {
    assert_eq!(compose(&[]), "");
}

#[test]
fn what_another_role_says_is_bounded_and_cannot_forge_a_line() {
    let long = Bench::new().run(|_: Handoff| Outcome::completed(format!("\u{1b}[31ma\rb{}", "x".repeat(5_000))));
    let bench = (0..MAX_COMPOSED + 3).fold(Bench::new(), |bench, n| bench.prior_result(&format!("r{n:03}"), &long));
    let text = compose(&bench.handoff().prior_results());
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text}");
    assert_eq!(text.lines().count(), 1 + MAX_COMPOSED + 1);
    assert!(text.ends_with("\n- 3 more are not shown"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() < MAX_COMPOSED_CHARS + 60));
    assert!(text.contains("[31mab") && text.contains('…'), "{text}");
}
