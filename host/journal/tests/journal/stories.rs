//! What the journal alone tells of a session.

use brain_journal::{
    AuditSummary, ErrorStory, FindingCounts, MAX_STORY_ITEMS, Phase, Record, SessionStatus, SessionStory, Skipped,
    TodoDependency, TodoItem, read,
};
use brain_packet::{
    AgentMessage, BrainTaskContext, ContextRef, ContextRefKind, HandoffId, MessageId, Severity, TaskId, TaskStatus,
};
use serde_json::{Value, json};

use crate::support::{Fixture, finding, handoff, result, role, run_end, run_error, run_start, worker_end};

fn todo(id: &str, name: &str, status: TaskStatus) -> TodoItem {
    TodoItem { id: id.into(), title: format!("do {id}"), role: role(name), status, reason: None, summary: None }
}

fn update(name: &str, status: TaskStatus, ids: &[&str], todos: Vec<TodoItem>, summary: Option<&str>) -> Record {
    Record::TodoUpdate {
        phase: Phase::Support,
        role: Some(role(name)),
        status,
        todo_ids: ids.iter().map(|id| (*id).to_owned()).collect(),
        todos,
        summary: summary.map(str::to_owned),
        error: None,
    }
}

fn handed(name: &str, goal: &str) -> [Record; 2] {
    let packet = handoff(name, goal);
    let start = Record::WorkerStart {
        phase: Phase::Support,
        worker: role(name),
        goal: goal.into(),
        handoff_id: Some(packet.id.clone()),
        task_id: Some(packet.task.id.clone()),
        model: AuditSummary::default(),
        agent_session_id: None,
        attempt: None,
    };
    let message = AgentMessage::handoff(MessageId::new(format!("m-{name}")).unwrap(), packet);
    [Record::AgentMessage { phase: Phase::Support, worker: role(name), message, attempt: None }, start]
}

fn worker_error(name: &str, handoff: Option<HandoffId>) -> Record {
    Record::WorkerError {
        phase: Phase::Support,
        worker: role(name),
        handoff_id: handoff,
        code: Some("sandbox.deadline".into()),
        error: "it ran for more than 60000 ms".into(),
        attempt: None,
        will_fallback: false,
    }
}

fn story(records: &[Record]) -> SessionStory {
    let fixture = Fixture::new();
    fixture.append_all(records);
    let story = SessionStory::read(fixture.home(), fixture.id()).unwrap();
    let log = read(fixture.home(), fixture.id()).unwrap();
    assert_eq!(story, SessionStory::from_entries(fixture.id().clone(), log.records, log.skipped));
    story
}

#[test]
fn a_whole_run_is_told_from_its_records() {
    let fixture = Fixture::new();
    let mut context = BrainTaskContext::new(fixture.id().clone(), "is it safe?");
    context.child_context_ids = vec![TaskId::new("task-librarian").unwrap(), TaskId::new("task-security").unwrap()];
    context.context_refs.push(ContextRef::new(ContextRefKind::File, "/workspace/README.md"));
    let findings = vec![
        finding(Severity::High, "a key"),
        finding(Severity::Low, "a word"),
        finding(Severity::High, "another key"),
    ];
    let mut records = vec![
        run_start("is it safe?", "/p"),
        Record::ContextPlan { context },
        Record::TodoPlan {
            todos: vec![
                todo("t1", "librarian", TaskStatus::Pending),
                todo("t2", "security", TaskStatus::Pending),
                todo("t3", "review", TaskStatus::Pending),
            ],
            dependencies: vec![TodoDependency { from_todo_id: "t1".into(), to_todo_id: "t3".into(), reason: None }],
            reason: None,
        },
    ];
    records.extend(handed("librarian", "map it"));
    records.push(update("librarian", TaskStatus::Running, &["t1"], vec![], None));
    records.extend(handed("security", "find secrets"));
    records.push(worker_end("security", TaskStatus::Completed, findings));
    records.push(update("security", TaskStatus::Completed, &["t2"], vec![], Some("2 keys")));
    records.push(worker_end("librarian", TaskStatus::Failed, vec![]));
    records.push(worker_error("librarian", Some(HandoffId::new("handoff-librarian").unwrap())));
    records.push(update(
        "librarian",
        TaskStatus::Failed,
        &["t1"],
        vec![todo("t1", "librarian", TaskStatus::Failed), todo("t4", "review", TaskStatus::Blocked)],
        None,
    ));
    records.push(Record::FinalReport { final_report: json!({ "version": 1, "status": "answered" }), attempt: None });
    records.push(run_end("two keys are committed"));

    let story = story(&records);
    assert_eq!((story.status, story.omitted, story.truncated_records), (SessionStatus::Completed, 0, 0));
    assert_eq!(story.skipped, Skipped::default());
    let [run] = &story.runs[..] else { panic!("{} runs", story.runs.len()) };
    assert_eq!(run.prompt.as_deref(), Some("is it safe?"));
    assert_eq!(run.project_root.as_deref(), Some("/p"));
    assert_eq!(run.plan.as_ref().unwrap().primary_role, role("review"));
    assert_eq!(run.context_refs[0].uri, "file:README.md");
    assert_eq!(run.summary.as_deref(), Some("two keys are committed"));
    assert_eq!(run.final_report.as_ref().unwrap()["status"], "answered");
    assert!(run.started > 0 && run.updated >= run.started);
    assert_eq!(run.dependencies.len(), 1);
    let states: Vec<_> =
        run.todos.iter().map(|todo| (todo.id.as_str(), todo.status, todo.summary.as_deref())).collect();
    assert_eq!(
        states,
        [
            ("t1", TaskStatus::Failed, None),
            ("t2", TaskStatus::Completed, Some("2 keys")),
            ("t3", TaskStatus::Pending, None),
            ("t4", TaskStatus::Blocked, None)
        ]
    );

    let [librarian, security] = &run.workers[..] else { panic!("{} workers", run.workers.len()) };
    assert_eq!(security.goal.as_deref(), Some("find secrets"));
    assert_eq!(security.granted[0].uri, "file:src/main.rs");
    assert_eq!(security.status, Some(TaskStatus::Completed));
    assert_eq!(security.summary.as_deref(), Some("security is done"));
    assert_eq!(security.findings, FindingCounts { total: 3, high: 2, medium: 0, low: 1 });
    assert_eq!(security.receipt["wallMs"], 12);
    assert_eq!(security.artifacts[0].label.as_deref(), Some("the report"));
    assert!(security.ended >= security.started && security.started.is_some());
    assert_eq!(librarian.status, Some(TaskStatus::Failed));
    assert_eq!(librarian.error.as_deref(), Some("it ran for more than 60000 ms"));
    let [ErrorStory { worker, code, .. }] = &run.errors[..] else { panic!("{:?}", run.errors) };
    assert_eq!((worker, code.as_deref()), (&Some(role("librarian")), Some("sandbox.deadline")));

    let json = serde_json::to_value(&story).unwrap();
    assert_eq!(json["runs"][0]["workers"][1]["findings"]["high"], 2);
    assert_eq!(json["sessionId"], Value::from(story.session_id.as_str()));
}

#[test]
fn a_run_that_was_cut_off_is_incomplete_and_its_worker_without_a_status() {
    let mut records = vec![run_start("is it safe?", "/p")];
    records.extend(handed("librarian", "map it"));
    let story = story(&records);
    assert_eq!(story.status, SessionStatus::Incomplete);
    assert_eq!(story.runs[0].workers[0].status, None);
    assert_eq!(story.runs[0].workers[0].ended, None);
}

#[test]
fn each_run_has_a_story_of_its_own() {
    let story = story(&[
        run_start("one", "/p"),
        worker_end("security", TaskStatus::Completed, vec![]),
        run_end("first"),
        run_start("two", "/p"),
        worker_error("librarian", None),
        run_error("it stopped"),
    ]);
    let [first, second] = &story.runs[..] else { panic!("{} runs", story.runs.len()) };
    assert_eq!((first.status, second.status), (SessionStatus::Completed, SessionStatus::Failed));
    assert_eq!(story.status, SessionStatus::Failed);
    assert_eq!((first.workers.len(), first.errors.len()), (1, 0));
    assert_eq!(second.workers[0].status, Some(TaskStatus::Failed));
    assert_eq!(
        second.errors.iter().map(|error| error.error.as_str()).collect::<Vec<_>>(),
        ["it ran for more than 60000 ms", "it stopped"]
    );
}

#[test]
fn plans_and_support_work_before_the_start_belong_to_the_run_that_starts() {
    let plan = |title: &str| Record::TodoPlan {
        todos: vec![todo(title, "review", TaskStatus::Pending)],
        dependencies: vec![],
        reason: None,
    };
    let story = story(&[
        plan("a"),
        worker_end("security", TaskStatus::Completed, vec![]),
        run_start("one", "/p"),
        run_end("first"),
        plan("b"),
        run_start("two", "/p"),
        run_end("second"),
    ]);
    let [first, second] = &story.runs[..] else { panic!("{} runs", story.runs.len()) };
    assert_eq!((first.prompt.as_deref(), first.workers.len(), first.todos[0].id.as_str()), (Some("one"), 1, "a"));
    assert_eq!((second.prompt.as_deref(), second.todos[0].id.as_str()), (Some("two"), "b"));
}

#[test]
fn a_role_that_works_twice_is_told_twice() {
    let again = |number: usize| {
        let mut again = result("review", TaskStatus::Completed, vec![]);
        again.handoff_id = HandoffId::new(format!("h{number}")).unwrap();
        Record::WorkerEnd {
            phase: Phase::Review,
            worker: role("review"),
            result: Some(again),
            receipt: Value::Null,
            attempt: None,
        }
    };
    assert_eq!(story(&[run_start("p", "/p"), again(1), again(2), again(2)]).runs[0].workers.len(), 2);
}

#[test]
fn a_story_is_bounded_and_says_what_it_leaves_out() {
    let fixture = Fixture::new();
    let mut bytes = Vec::new();
    let line = |record: &Record| {
        let mut json = serde_json::to_value(record).unwrap();
        json["timestamp"] = Value::from(1);
        format!("{json}\n").into_bytes()
    };
    bytes.extend(line(&run_start("p", "/p")));
    for number in 0..MAX_STORY_ITEMS + 3 {
        bytes.extend(line(&worker_error("librarian", Some(HandoffId::new(format!("h{number}")).unwrap()))));
    }
    bytes.extend(line(&run_end("s")));
    fixture.write(&bytes);
    let story = SessionStory::read(fixture.home(), fixture.id()).unwrap();
    assert_eq!(story.runs[0].workers.len(), MAX_STORY_ITEMS);
    assert_eq!(story.runs[0].errors.len(), MAX_STORY_ITEMS);
    assert_eq!((story.omitted, story.status), (3, SessionStatus::Completed));

    let mut bytes = Vec::new();
    for number in 0..MAX_STORY_ITEMS + 5 {
        bytes.extend(line(&run_start(&format!("run {number}"), "/p")));
    }
    let ids: Vec<TodoItem> =
        (0..MAX_STORY_ITEMS + 7).map(|number| todo(&format!("t{number}"), "review", TaskStatus::Pending)).collect();
    bytes.extend(line(&update("review", TaskStatus::Running, &[], ids, None)));
    fixture.write(&bytes);
    let story = SessionStory::read(fixture.home(), fixture.id()).unwrap();
    assert_eq!(story.runs.len(), MAX_STORY_ITEMS);
    let last = story.runs.last().unwrap();
    assert_eq!(last.prompt, Some(format!("run {}", MAX_STORY_ITEMS + 4)));
    assert_eq!((last.todos.len(), story.omitted), (MAX_STORY_ITEMS, 6));
}
