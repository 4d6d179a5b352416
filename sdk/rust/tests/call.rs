//! One call, from the contract's packet to the contract's result: what the macro exports.

use brain_role::__private::{HandoffPacket, WorkerResult as Wire, call};
use brain_role::bindings::brain::role::packets as wire;
use brain_role::testing::Bench;
use brain_role::{
    ContextRef, ContextRefKind, CoverageStatus, Finding, Handoff, MAX_PRIOR_RESULTS, Outcome, ReviewDecision, Severity,
    TaskProgress, TaskStatus, Verdict, WorkerResult,
};

fn packet() -> HandoffPacket {
    HandoffPacket {
        transfer: wire::BrainToAgent::BrainToAgent,
        id: "h-é".to_owned(),
        task: wire::AgentTaskContext {
            id: "t-1".to_owned(),
            parent_id: "s-1".to_owned(),
            agent_role: "librarian".to_owned(),
            goal: "find it".to_owned(),
            progress: wire::TaskProgress {
                status: wire::TaskStatus::Pending,
                summary: Some("planned".to_owned()),
                current_step: None,
                completed_steps: vec!["routed".to_owned()],
                percent: Some(5.0),
            },
            context_refs: vec![
                wire::ContextRef { kind: wire::ContextRefKind::File, uri: "/workspace/a".to_owned(), label: None },
                wire::ContextRef {
                    kind: wire::ContextRefKind::Thread,
                    uri: "/context/threads/x.md".to_owned(),
                    label: Some("x".to_owned()),
                },
            ],
        },
        constraints: vec!["read only".to_owned()],
        expected_result: "a list".to_owned(),
    }
}

#[test]
fn a_role_sees_every_field_of_the_packet() {
    call(packet(), |handoff: Handoff| {
        assert_eq!((handoff.id(), handoff.task_id(), handoff.parent_id()), ("h-é", "t-1", "s-1"));
        assert_eq!((handoff.role(), handoff.goal(), handoff.expected_result()), ("librarian", "find it", "a list"));
        assert_eq!(handoff.constraints(), ["read only"]);
        assert_eq!(handoff.progress().completed_steps, ["routed"]);
        assert_eq!((handoff.progress().status, handoff.progress().percent), (TaskStatus::Pending, Some(5.0)));
        assert_eq!(handoff.refs().len(), 2);
        let threads: Vec<_> = handoff.refs_of(ContextRefKind::Thread).collect();
        assert_eq!(threads, [&ContextRef::new(ContextRefKind::Thread, "/context/threads/x.md").label("x")]);
        // In a component the guest paths are the paths.
        assert_eq!(handoff.workspace().path("a").to_str(), Some("/workspace/a"));
        Outcome::completed("")
    });
}

fn ids(result: &Wire) -> [&str; 3] {
    [&result.handoff_id, &result.task_id, &result.parent_id]
}

#[test]
fn an_outcome_arrives_with_every_field_and_the_ids_of_the_handoff() {
    let result = call(packet(), |_| {
        Outcome::completed("found")
            .step("read")
            .percent(50.0)
            .file_ref("src/a.rs", "why")
            .artifact(ContextRef::artifact("map.json"))
            .risk("a risk")
            .question("a question")
            .finding(
                Finding::new(Severity::High, "bad").rule("a/b").at("/workspace/src/a.rs", 3).evidence("e").suggest("s"),
            )
            .finding(Finding::new(Severity::Low, "whole file").at("b", 0))
            .review(
                ReviewDecision::new(Verdict::ChangesRequested, "why")
                    .confidence(7.0)
                    .required_change("change")
                    .blocking_issue("issue")
                    .residual_risk("rest")
                    .covered("a", CoverageStatus::Inspected)
                    .not_covered("b", CoverageStatus::PartiallyInspected, "large"),
            )
    });
    assert_eq!(ids(&result), ["h-é", "t-1", "s-1"]);
    let text = |text: &str| Some(text.to_owned());
    let finding = |severity, issue: &str| wire::Finding {
        severity,
        rule: None,
        issue: issue.to_owned(),
        file: None,
        line: None,
        evidence: None,
        suggestion: None,
    };
    let expected = Wire {
        transfer: wire::AgentToBrain::AgentToBrain,
        handoff_id: "h-é".to_owned(),
        task_id: "t-1".to_owned(),
        parent_id: "s-1".to_owned(),
        progress: wire::TaskProgress {
            status: wire::TaskStatus::Completed,
            summary: text("found"),
            current_step: None,
            completed_steps: vec!["read".to_owned()],
            percent: Some(50.0),
        },
        summary: "found".to_owned(),
        artifacts: vec![
            wire::ContextRef {
                kind: wire::ContextRefKind::File,
                uri: "/workspace/src/a.rs".to_owned(),
                label: text("why"),
            },
            wire::ContextRef {
                kind: wire::ContextRefKind::Artifact,
                uri: "/artifacts/map.json".to_owned(),
                label: None,
            },
        ],
        risks: vec!["a risk".to_owned()],
        next_questions: vec!["a question".to_owned()],
        findings: vec![
            wire::Finding {
                rule: text("a/b"),
                file: text("src/a.rs"),
                line: Some(3),
                evidence: text("e"),
                suggestion: text("s"),
                ..finding(wire::Severity::High, "bad")
            },
            wire::Finding { file: text("b"), ..finding(wire::Severity::Low, "whole file") },
        ],
        review: Some(wire::ReviewDecision {
            decision: wire::Verdict::ChangesRequested,
            confidence: Some(1.0),
            rationale: "why".to_owned(),
            required_changes: vec!["change".to_owned()],
            blocking_issues: vec!["issue".to_owned()],
            residual_risks: vec!["rest".to_owned()],
            coverage: vec![
                wire::ReviewCoverage { file: "a".to_owned(), status: wire::CoverageStatus::Inspected, reason: None },
                wire::ReviewCoverage {
                    file: "b".to_owned(),
                    status: wire::CoverageStatus::PartiallyInspected,
                    reason: text("large"),
                },
            ],
        }),
    };
    assert_eq!(result, expected);
}

#[test]
fn an_error_is_a_failed_result_with_its_message() {
    let result = call(packet(), |handoff: Handoff| -> std::io::Result<Outcome> {
        handoff.read_text(&ContextRef::new(ContextRefKind::File, "/nowhere"))?;
        Ok(Outcome::completed("never"))
    });
    assert_eq!(result.progress.status, wire::TaskStatus::Failed);
    assert_eq!(result.summary, "\"/nowhere\" is not below /workspace, /context or /artifacts");
    assert_eq!(ids(&result), ["h-é", "t-1", "s-1"]);

    let result = call(packet(), |_| Err::<Outcome, _>("plain words"));
    assert_eq!((result.progress.status, result.summary.as_str()), (wire::TaskStatus::Failed, "plain words"));
    assert_eq!(result.progress.percent, None);
}

#[test]
fn a_blocked_outcome_says_where_it_stopped() {
    let result =
        call(packet(), |_| Outcome::blocked("which branch?").stopped_at("reading the diff").question("main or dev?"));
    assert_eq!(result.progress.status, wire::TaskStatus::Blocked);
    assert_eq!(result.progress.current_step.as_deref(), Some("reading the diff"));
}

#[test]
fn numbers_out_of_range_are_clamped_and_what_is_no_number_is_left_out() {
    for (given, sent) in [(f64::NAN, None), (f64::INFINITY, Some(100.0)), (-0.1, Some(0.0)), (33.3, Some(33.3))] {
        assert_eq!(call(packet(), |_| Outcome::completed("").percent(given)).progress.percent, sent, "{given}");
    }
    assert_eq!(ReviewDecision::new(Verdict::Approved, "").confidence(f64::NAN).confidence, None);
}

#[test]
fn a_whole_result_is_sent_as_it_is() {
    let bench = Bench::new();
    let mut given = Outcome::completed("x").into_result(&bench.handoff());
    given.task_id = "another".to_owned();
    given.progress.percent = Some(f64::INFINITY);
    given.progress.status = TaskStatus::Running;
    let sent = call(packet(), |_| given);
    assert_eq!(ids(&sent), ["handoff-1", "another", "session-1"]);
    assert_eq!((sent.progress.status, sent.progress.percent), (wire::TaskStatus::Running, Some(f64::INFINITY)));
}

#[test]
fn prior_results_are_read_from_brains_json() {
    // As Brain writes it: camelCase, direction tags and notes that a role has no use for.
    let json = r#"{"fromLayer":"agent","toLayer":"brain","handoffId":"h","taskId":"t","parentId":"s",
        "progress":{"status":"completed","completedSteps":["a"],"percent":100},"summary":"done",
        "artifacts":[{"kind":"file","uri":"/workspace/a","label":"l"}],"risks":[],"nextQuestions":["q"],
        "findings":[{"severity":"high","issue":"i","line":4}],
        "review":{"decision":"changes_requested","rationale":"r","requiredChanges":[],"blockingIssues":[],"residualRisks":[],
            "coverage":[{"file":"a","status":"partially_inspected"}]},
        "notes":[{"field":"percent","problem":"p","action":"a"}]}"#;
    let bench = Bench::new()
        .context("results/security.json", json)
        .context("results/broken.json", "{")
        .context("results/README", "");
    let prior = bench.handoff().prior_results();
    assert_eq!(prior.iter().map(|prior| prior.role.as_str()).collect::<Vec<_>>(), ["broken", "security"]);
    let error = prior[0].result.as_ref().unwrap_err();
    assert!(error.to_string().starts_with("/context/results/broken.json: not a result: "), "{error}");
    let result = prior[1].result.as_ref().unwrap();
    assert_eq!(
        result.progress,
        TaskProgress {
            percent: Some(100.0),
            completed_steps: vec!["a".to_owned()],
            ..TaskProgress::new(TaskStatus::Completed)
        }
    );
    assert_eq!(result.findings, [Finding { line: Some(4), ..Finding::new(Severity::High, "i") }]);
    let review = result.review.as_ref().unwrap();
    assert_eq!(
        (review.decision, review.coverage[0].status),
        (Verdict::ChangesRequested, CoverageStatus::PartiallyInspected)
    );
}

#[test]
fn prior_results_round_trip_and_are_bounded() {
    assert!(Bench::new().handoff().prior_results().is_empty());

    let result = Outcome::completed("x").finding(Finding::new(Severity::Low, "i")).into_result(&Bench::new().handoff());
    let bench = (0..MAX_PRIOR_RESULTS).fold(Bench::new(), |bench, n| bench.prior_result(&format!("r{n:03}"), &result));
    let prior = bench.handoff().prior_results();
    assert_eq!(prior.len(), MAX_PRIOR_RESULTS);
    assert_eq!(prior[7].result.as_ref().unwrap(), &result);

    let prior = bench.prior_result("one-more", &result).handoff().prior_results();
    assert_eq!(prior.len(), MAX_PRIOR_RESULTS + 1);
    assert_eq!(prior[0].result.as_ref().unwrap_err().to_string(), "/context/results: only 256 results are read");
}

#[test]
fn the_bench_refers_to_what_it_puts_into_the_context() {
    let bench = Bench::new()
        .context("request.md", "")
        .context("changes.diff", "")
        .context("threads/a.md", "")
        .ref_file("src/a.rs")
        .constraint("c")
        .expected_result("e")
        .role("r")
        .goal("g");
    let handoff = bench.handoff();
    let refs: Vec<_> = handoff.refs().iter().map(|reference| (reference.kind, reference.uri.as_str())).collect();
    assert_eq!(
        refs,
        [
            (ContextRefKind::Summary, "/context/request.md"),
            (ContextRefKind::Artifact, "/context/changes.diff"),
            (ContextRefKind::Thread, "/context/threads/a.md"),
            (ContextRefKind::File, "/workspace/src/a.rs"),
        ]
    );
    let whole: WorkerResult =
        bench.run(|handoff: Handoff| Outcome::completed(format!("{} {}", handoff.role(), handoff.goal())));
    assert_eq!(whole.summary, "r g");
}

#[test]
fn the_bench_shows_a_folder_in_place() {
    let other = Bench::new().file("x", "seen");
    let bench = Bench::new().workspace_dir(other.handoff().workspace().root());
    assert_eq!(
        bench.run(|handoff: Handoff| handoff.workspace().read_text("x").map(Outcome::completed)).summary,
        "seen"
    );
}

#[test]
#[should_panic(expected = "would write into the folder given to workspace_dir")]
fn the_bench_never_writes_into_a_folder_that_it_was_shown() {
    let other = Bench::new();
    let _ = Bench::new().workspace_dir(other.handoff().workspace().root()).file("x", "");
}
