//! A session that the system before Brain wrote, record for record: it is listed, told, snapshotted and paid for as it was.

use brain_journal::{
    CheckStatus, ContextEntry, DispatchPhase, FixTrigger, Phase, Record, SessionContext, SessionStatus, SessionStory,
    UsageScope, list, read, usage,
};
use brain_packet::{TaskStatus, Verdict};
use serde_json::json;

use crate::support::{Fixture, role};

const SEED: &[u8] = include_bytes!("fixtures/seed.jsonl");

fn seed() -> Fixture {
    let fixture = Fixture::new();
    fixture.write(SEED);
    fixture
}

#[test]
fn every_line_is_read_but_the_one_that_is_none_and_the_one_of_no_known_type() {
    let fixture = seed();
    let log = read(fixture.home(), fixture.id()).unwrap();
    assert_eq!((log.skipped.malformed, log.skipped.unknown, log.skipped.lines()), (1, 1, 2));
    assert_eq!(log.records.len(), SEED.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count() - 2);
    let starts = log.records.iter().filter_map(|entry| match &entry.record {
        Record::WorkerStart { handoff_id, task_id, model, .. } => Some((handoff_id, task_id, model)),
        _ => None,
    });
    let [(Some(handoff), Some(task), model), (None, None, _)] = starts.collect::<Vec<_>>()[..] else { panic!() };
    assert_eq!(handoff.as_str(), "22222222-2222-4222-8222-222222222222");
    assert_eq!(task.as_str(), "0f8fad5b-d9cb-469f-a165-70867728950e");
    assert_eq!(model.value()["id"], "image-1");
}

#[test]
fn the_list_has_its_row() {
    let fixture = seed();
    let row = list(fixture.home(), 5, Some(std::path::Path::new("/p"))).unwrap().sessions.remove(0);
    assert_eq!(row.status, SessionStatus::Failed);
    assert_eq!(row.prompt.as_deref(), Some("Make a logo\n and a login page"));
    assert_eq!(row.primary_role, Some(role("frontend")));
    assert_eq!(row.summary.as_deref(), Some("The page is there; the review wants a label."));
    assert_eq!(row.error.as_deref(), Some("no model answered"));
    assert_eq!(row.project_root.as_deref(), Some("/p"));
    assert_eq!((row.skipped.malformed, row.skipped.unknown), (1, 1));
}

#[test]
fn the_story_has_both_runs_with_all_that_happened() {
    let fixture = seed();
    let story = SessionStory::read(fixture.home(), fixture.id()).unwrap();
    assert_eq!((story.status, story.omitted, story.journal_version), (SessionStatus::Failed, 0, None));
    let handoff = story.handoff.as_ref().unwrap();
    assert_eq!(
        (handoff.fresh, handoff.timestamp, handoff.brief.focus.as_deref()),
        (false, 1_767_322_800_340, Some("the label"))
    );
    let [first, second] = &story.runs[..] else { panic!("{} runs", story.runs.len()) };

    assert_eq!((first.status, first.events.attempts), (SessionStatus::Completed, 2));
    let plan = first.plan.as_ref().unwrap();
    assert_eq!(
        (&plan.primary_role, plan.requires_review, plan.source.as_str()),
        (&role("frontend"), true, "router-brain")
    );
    let phases: Vec<_> = plan.workers.iter().map(|worker| (worker.role.as_str(), worker.phase)).collect();
    assert_eq!(phases, [("image-maker", Phase::Support), ("frontend", Phase::Primary), ("review", Phase::Review)]);
    assert_eq!(first.project_root.as_deref(), Some("/p"));
    let todos: Vec<_> = first.todos.iter().map(|todo| (todo.id.as_str(), todo.status)).collect();
    assert_eq!(
        todos,
        [
            ("draw-logo", TaskStatus::Completed),
            ("build-page", TaskStatus::Pending),
            ("review-page", TaskStatus::Pending)
        ]
    );
    let artist = first.workers.iter().find(|worker| worker.role == role("image-maker")).unwrap();
    assert_eq!((artist.goal.as_deref(), artist.status), (Some("Draw the logo"), Some(TaskStatus::Completed)));
    assert_eq!(artist.risks, ["large file"]);
    let reviewer = first.workers.iter().find(|worker| worker.handoff_id.is_some() && worker.role == role("review"));
    let reviewer = reviewer.unwrap();
    assert_eq!((reviewer.status, reviewer.findings.high), (Some(TaskStatus::Completed), 1));
    assert_eq!(reviewer.review.as_ref().unwrap().decision, Verdict::ChangesRequested);

    let events = &first.events;
    assert_eq!(events.hooks.len(), 2);
    assert_eq!(events.hooks[1].blocked_reason.as_deref(), Some("not so fast"));
    assert_eq!(events.plan_review.as_ref().unwrap().proposed_side_effects[0].target, "login.html");
    assert_eq!(events.mcp["toolCount"], 3);
    let [dispatch] = &events.dispatches[..] else { panic!() };
    assert_eq!(
        (dispatch.phase, dispatch.goal.as_deref(), dispatch.summary.as_deref()),
        (DispatchPhase::Result, Some("Look at the form"), Some("The form is sound."))
    );
    assert_eq!((events.approvals.len(), events.tools[0].calls, events.tools[0].failed), (1, 1, 1));
    let checks: Vec<_> = events.checks.iter().map(|checks| checks.status).collect();
    assert_eq!(checks, [CheckStatus::Failed, CheckStatus::Skipped]);
    assert_eq!(events.checks[0].results[0].duration_ms, 1_234);
    assert_eq!(events.fix_iterations[0].trigger, FixTrigger::ChecksFailed);
    assert_eq!(events.review_artifacts[0].changed_files[0].path, "login.html");
    assert_eq!(events.reviews[0].required_changes, ["add a label"]);
    assert_eq!(events.patch.as_ref().unwrap().diff_stats.as_ref().unwrap().insertions, 20);
    assert_eq!(events.tool_calls.as_ref().unwrap().total, 1);
    assert_eq!((events.usage.calls, events.usage.tokens.total), (3, 3_250));
    assert_eq!(first.final_report.as_ref().unwrap()["status"], json!("changes_requested"));
    assert_eq!(first.errors.iter().map(|error| error.error.as_str()).collect::<Vec<_>>(), ["provider overloaded"]);

    assert_eq!((second.status, second.prompt.as_deref()), (SessionStatus::Failed, Some("Add the label")));
    assert_eq!(second.events.clarification.as_ref().unwrap().question, "Which form?");
    assert_eq!(second.events.usage.tokens.total, 50);
    let errors: Vec<_> = second.errors.iter().map(|error| error.error.as_str()).collect();
    assert_eq!(errors, ["(no error recorded)", "no model answered"]);
    assert_eq!(second.workers[0].handoff_id.as_ref().unwrap().as_str(), "55555555-5555-4555-8555-555555555555");
}

#[test]
fn the_snapshot_has_the_entries_in_the_order_in_which_they_came_to_their_end() {
    let fixture = seed();
    let context = SessionContext::read(fixture.home(), fixture.id()).unwrap();
    assert_eq!((context.status, context.truncated, context.updated), (SessionStatus::Failed, false, 1_767_322_900_050));
    assert_eq!(context.prompt.as_deref(), Some("Make a logo\n and a login page"));
    assert_eq!(context.summary.as_deref(), Some("The page is there; the review wants a label."));
    assert!(!context.handoff.as_ref().unwrap().fresh);
    let kinds: Vec<_> = context
        .entries
        .iter()
        .map(|entry| match entry {
            ContextEntry::Run { status, .. } => format!("run {status}"),
            ContextEntry::Worker { role, .. } => format!("worker {role}"),
            ContextEntry::Todo { id, .. } => format!("todo {id}"),
            ContextEntry::Check { status, .. } => format!("check {status}"),
            ContextEntry::Review { .. } => "review".into(),
            ContextEntry::Handoff { .. } => "handoff".into(),
            ContextEntry::Error { .. } => "error".into(),
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "worker image-maker",
            "todo draw-logo",
            "error",
            "check failed",
            "check skipped",
            "worker review",
            "review",
            "run completed",
            "handoff",
            "worker qa",
            "run failed"
        ]
    );
    let text = context.to_string();
    for line in [
        "Status: failed\nUpdated: 2026-01-02T03:01:40.05Z",
        "## Request\n\nMake a logo\n and a login page\n\n## Request\n\nAdd the label\n\n## Answer\n\nThe page is there;",
        "- worker image-maker (support) completed; summary: The logo is drawn.",
        "- todo completed: Draw the logo; summary: The logo is drawn.",
        "- checks failed; results: typecheck:failed:2",
        "- checks skipped; reason: nothing to run",
        "- review changes requested; rationale: no label; required: add a label",
        "- run completed; role: frontend; prompt: Make a logo and a login page; summary: The page is there",
        "- handoff brief; focus: the label; summary: A login page",
        "- run failed; prompt: Add the label; error: no model answered",
    ] {
        assert!(text.contains(line), "{line}\nis not in\n{text}");
    }
}

#[test]
fn its_usage_is_added_up() {
    let fixture = seed();
    let stats = usage(fixture.home(), UsageScope::Session(fixture.id())).unwrap();
    assert_eq!((stats.totals.calls, stats.totals.tokens.total), (4, 3_300));
    let labels = |groups: &[brain_journal::UsageGroup]| {
        groups.iter().map(|group| (group.label.clone(), group.totals.tokens.total)).collect::<Vec<_>>()
    };
    assert_eq!(labels(&stats.by_phase), [("primary".into(), 2_200), ("router".into(), 1_050), ("support".into(), 50)]);
    assert_eq!(
        labels(&stats.by_role),
        [("frontend".into(), 2_200), ("route-brain".into(), 1_050), ("image-maker".into(), 50)]
    );
    // 1500 of 900 + 40 + 500 + 50 + 1500.
    assert_eq!(stats.cache_hit_percent, 50);
    assert_eq!(stats.recent[0].timestamp, 1_767_322_900_000);
    let of_project = usage(fixture.home(), UsageScope::Project(std::path::Path::new("/p"))).unwrap();
    assert_eq!(of_project.totals, stats.totals);
    let elsewhere = usage(fixture.home(), UsageScope::Project(std::path::Path::new("/q"))).unwrap();
    assert_eq!((elsewhere.totals.calls, elsewhere.sessions), (0, 0));
}
