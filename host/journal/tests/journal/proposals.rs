//! What a journal tells of receipts, of proposed changes, and of the attempts to apply and to undo them.

use brain_journal::{
    ApplyDirection, ApplyOutcome, MAX_ATTEMPTS, Phase, ProposalState, ProposalStory, Record, Root, SessionStatus,
    SessionStory, SessionSummary, list,
};
use brain_packet::{Digest, HandoffId, TaskStatus};
use serde_json::{Value, json};

use crate::support::{Fixture, result, role, run_end, run_start, worker_end};

const A: &str = "/project";
const B: &str = "/elsewhere";

fn proposed(name: &str) -> Record {
    Record::ChangeSet {
        phase: Phase::Support,
        worker: role(name),
        handoff_id: HandoffId::new(format!("handoff-{name}")).unwrap(),
        digest: Digest::of(name.as_bytes()),
        files: 3,
        added_lines: 12,
        removed_lines: 4,
        folders: 1,
    }
}

fn intent(name: &str, id: &str, direction: ApplyDirection, root: &str) -> Record {
    Record::ApplyIntent {
        worker: role(name),
        direction,
        intent_id: id.into(),
        set: Digest::of(name.as_bytes()),
        plan: Digest::of(id.as_bytes()),
        files: 3,
        root: root.into(),
        root_file: None,
        proposal: None,
    }
}

fn commit(name: &str, id: &str, direction: ApplyDirection) -> Record {
    Record::ApplyCommit { worker: role(name), direction, intent_id: id.into() }
}

fn end(name: &str, id: &str, direction: ApplyDirection, outcome: ApplyOutcome) -> Record {
    Record::ApplyEnd {
        worker: role(name),
        direction,
        intent_id: id.into(),
        outcome,
        undo: Some(Digest::of(b"undo")),
        recovered: false,
    }
}

/// The records of one whole attempt.
fn attempt(name: &str, id: &str, direction: ApplyDirection, outcome: ApplyOutcome) -> Vec<Record> {
    vec![intent(name, id, direction, A), commit(name, id, direction), end(name, id, direction, outcome)]
}

fn told(records: &[Record]) -> SessionStory {
    let fixture = Fixture::new();
    fixture.append_all(records);
    SessionStory::read(fixture.home(), fixture.id()).unwrap()
}

/// The proposal of the one worker, after these records.
fn after(records: &[Vec<Record>]) -> ProposalStory {
    let mut all = vec![run_start("p", A), worker_end("editor", TaskStatus::Completed, vec![]), proposed("editor")];
    all.push(run_end("done"));
    all.extend(records.iter().flatten().cloned());
    let story = told(&all);
    assert_eq!((story.omitted, story.status, story.runs.len()), (0, SessionStatus::Completed, 1));
    story.runs[0].workers[0].proposal.clone().unwrap()
}

#[test]
fn a_proposal_is_what_its_last_attempt_made_of_it() {
    use ApplyDirection::{Apply, Undo};
    use ApplyOutcome::{Done, DoneExcept, RolledBack};
    let apply = || attempt("editor", "1", Apply, Done);
    let undo = || attempt("editor", "2", Undo, Done);
    for (records, state) in [
        (vec![], ProposalState::Proposed),
        (vec![apply()], ProposalState::Applied),
        (vec![apply(), undo()], ProposalState::Undone),
        (vec![attempt("editor", "1", Apply, DoneExcept)], ProposalState::Applied),
        (vec![apply(), attempt("editor", "2", Undo, DoneExcept)], ProposalState::Undone),
        (vec![apply(), undo(), attempt("editor", "3", Apply, Done)], ProposalState::Applied),
        (vec![attempt("editor", "1", Apply, RolledBack)], ProposalState::Proposed),
        (vec![apply(), attempt("editor", "2", Undo, RolledBack)], ProposalState::Applied),
        (vec![apply(), undo(), attempt("editor", "3", Apply, RolledBack)], ProposalState::Undone),
        (vec![vec![intent("editor", "1", Apply, A)]], ProposalState::Unfinished),
        (vec![apply(), vec![intent("editor", "2", Undo, A), commit("editor", "2", Undo)]], ProposalState::Unfinished),
    ] {
        let proposal = after(&records);
        assert_eq!(proposal.state, state, "{records:?}");
        assert_eq!(proposal.state_at(A), state);
        assert_eq!(proposal.state_at(B), ProposalState::Proposed, "each tree has a state of its own");
        assert_eq!(proposal.unfinished_at(A).is_some(), state == ProposalState::Unfinished);
        if state == ProposalState::Applied {
            assert_eq!(proposal.applied_at(A).unwrap().undo, Some(Digest::of(b"undo")));
            assert_eq!(proposal.applied_at(B), None);
        }
        assert_eq!((proposal.files, proposal.added_lines, proposal.removed_lines, proposal.folders), (3, 12, 4, 1));
    }
}

#[test]
fn a_tree_is_known_by_its_folder_wherever_it_was_moved() {
    let at = |id: &str, direction, path: &str, file| {
        let mut records = attempt("editor", id, direction, ApplyOutcome::Done);
        if let Some(Record::ApplyIntent { root, root_file, .. }) = records.first_mut() {
            (*root, *root_file) = (path.into(), Some(file));
        }
        records
    };
    let here = |path, file| Root { path, file: Some(file) };
    let proposal = after(&[at("1", ApplyDirection::Apply, A, (1, 7))]);
    for (root, state, why) in [
        (here(A, (1, 7)), ProposalState::Applied, "where it was"),
        (here(B, (1, 7)), ProposalState::Applied, "moved"),
        (here(A, (2, 7)), ProposalState::Applied, "the device has another number since the machine started anew"),
        (Root::from(A), ProposalState::Applied, "not known which folder it is"),
        (here(A, (1, 8)), ProposalState::Proposed, "another folder is there now"),
        (here(B, (2, 7)), ProposalState::Proposed, "another device and another path"),
    ] {
        assert_eq!(proposal.state_at(root), state, "{why}");
    }
    let places = |proposal: &ProposalStory| -> Vec<String> {
        proposal.applied().iter().map(|attempt| attempt.root.clone()).collect()
    };
    assert_eq!(places(&proposal), [A]);
    let both = [at("1", ApplyDirection::Apply, A, (1, 7)), at("2", ApplyDirection::Apply, B, (1, 8))];
    assert_eq!(places(&after(&both)), [B, A]);
    let moved_and_undone = [both.concat(), at("3", ApplyDirection::Undo, "/moved", (1, 7))];
    assert_eq!(places(&after(&moved_and_undone)), [B]);
}

#[test]
fn each_proposal_of_a_role_has_the_attempts_that_were_made_of_it() {
    let second = |record: Record| match record {
        Record::ChangeSet { phase, worker, files, added_lines, removed_lines, folders, .. } => Record::ChangeSet {
            phase,
            worker,
            handoff_id: HandoffId::new("handoff-2").unwrap(),
            digest: Digest::of(b"second"),
            files,
            added_lines,
            removed_lines,
            folders,
        },
        record => record,
    };
    let of = |digest: Digest, id: &str| {
        let mut records = attempt("editor", id, ApplyDirection::Apply, ApplyOutcome::Done);
        if let Some(Record::ApplyIntent { proposal, .. }) = records.first_mut() {
            *proposal = Some(digest);
        }
        records
    };
    let states = |runs: &[&[Record]]| -> Vec<ProposalState> {
        let story = told(&runs.concat());
        assert_eq!(story.omitted, 0);
        let workers = story.runs.iter().flat_map(|run| &run.workers);
        workers.filter_map(|worker| Some(worker.proposal.as_ref()?.state)).collect()
    };
    let first = proposed("editor");
    let (start, end, again) = (run_start("p", A), run_end("d"), second(first.clone()));
    let one_run = [start.clone(), first.clone(), again.clone(), end.clone()];
    let two_runs = [start.clone(), first, end.clone(), start, again, end];
    for begin in [&one_run[..], &two_runs[..]] {
        let of_first = of(Digest::of(b"editor"), "1");
        assert_eq!(states(&[begin, &of_first]), [ProposalState::Applied, ProposalState::Proposed]);
        let of_second = of(Digest::of(b"second"), "1");
        assert_eq!(states(&[begin, &of_second]), [ProposalState::Proposed, ProposalState::Applied]);
        let unsaid = attempt("editor", "1", ApplyDirection::Apply, ApplyOutcome::Done);
        assert_eq!(states(&[begin, &unsaid]), [ProposalState::Proposed, ProposalState::Applied], "the latest");
    }
}

#[test]
fn an_attempt_says_how_far_it_came_and_who_ended_it() {
    let interrupted =
        vec![intent("editor", "1", ApplyDirection::Apply, A), commit("editor", "1", ApplyDirection::Apply)];
    let proposal = after(std::slice::from_ref(&interrupted));
    let unfinished = proposal.unfinished_at(A).unwrap();
    assert_eq!((unfinished.committed, unfinished.plan.clone()), (true, Digest::of(b"1")));
    let recovered = Record::ApplyEnd {
        worker: role("editor"),
        direction: ApplyDirection::Apply,
        intent_id: "1".into(),
        outcome: ApplyOutcome::Done,
        undo: None,
        recovered: true,
    };
    let proposal = after(&[interrupted, vec![recovered]]);
    assert_eq!((proposal.state, proposal.attempts[0].recovered), (ProposalState::Applied, true));
    let json = serde_json::to_value(&proposal).unwrap();
    assert_eq!((&json["state"], &json["attempts"][0]["outcome"]), (&"applied".into(), &"done".into()));
}

#[test]
fn what_is_applied_later_does_not_make_the_run_longer() {
    let fixture = Fixture::new();
    let artifacts = brain_journal::ArtifactDigests::default();
    let early =
        [run_start("p", A), worker_end("editor", TaskStatus::Completed, vec![]), proposed("editor"), run_end("d")];
    for record in &early {
        fixture.journal.append_at(record, &artifacts, 1_000).unwrap();
    }
    for record in attempt("editor", "1", ApplyDirection::Apply, ApplyOutcome::Done) {
        fixture.journal.append_at(&record, &artifacts, 9_000).unwrap();
    }
    let story = SessionStory::read(fixture.home(), fixture.id()).unwrap();
    assert_eq!(story.runs[0].updated, 1_000);
    assert_eq!(story.runs[0].workers[0].proposal.as_ref().unwrap().attempts[0].started, 9_000);
    let SessionSummary { status, summary, .. } = list(fixture.home(), 1, None).unwrap().sessions.remove(0);
    assert_eq!((status, summary.as_deref()), (SessionStatus::Completed, Some("d")));
}

#[test]
fn records_of_attempts_that_belong_to_nothing_are_counted() {
    let stray = attempt("stranger", "1", ApplyDirection::Apply, ApplyOutcome::Done);
    let mut records = vec![run_start("p", A), worker_end("editor", TaskStatus::Completed, vec![]), proposed("editor")];
    records.extend(stray);
    records.push(end("editor", "never begun", ApplyDirection::Apply, ApplyOutcome::Done));
    let story = told(&records);
    assert_eq!(story.omitted, 4);
    assert_eq!(story.runs[0].workers[0].proposal.as_ref().unwrap().state, ProposalState::Proposed);
}

#[test]
fn the_latest_attempts_are_kept() {
    let all: Vec<Vec<Record>> =
        (0..MAX_ATTEMPTS + 2).map(|n| vec![intent("editor", &n.to_string(), ApplyDirection::Apply, A)]).collect();
    let line = |record: &Record| {
        let mut json = serde_json::to_value(record).unwrap();
        json["timestamp"] = Value::from(1);
        format!("{json}\n").into_bytes()
    };
    let fixture = Fixture::new();
    let begin = [run_start("p", A), worker_end("editor", TaskStatus::Completed, vec![]), proposed("editor")];
    let bytes: Vec<u8> = begin.iter().chain(all.iter().flatten()).flat_map(line).collect();
    fixture.write(&bytes);
    let story = SessionStory::read(fixture.home(), fixture.id()).unwrap();
    let attempts = &story.runs[0].workers[0].proposal.as_ref().unwrap().attempts;
    assert_eq!((attempts.len(), attempts[0].intent_id.as_str()), (MAX_ATTEMPTS, "2"));
}

#[test]
fn a_receipt_is_a_record_of_its_own_and_an_old_one_is_still_read() {
    let receipt = Record::RoleReceipt {
        phase: Phase::Support,
        worker: role("editor"),
        handoff_id: HandoffId::new("handoff-editor").unwrap(),
        receipt: json!({ "wallMs": 7, "files": { "uri": "/workspace/a", "kind": "file" } }),
    };
    let end = Record::WorkerEnd {
        phase: Phase::Support,
        worker: role("editor"),
        result: Some(result("editor", TaskStatus::Completed, vec![])),
        attempt: None,
        receipt: Value::Null,
    };
    let line = serde_json::to_value(&end).unwrap();
    assert!(line.get("receipt").is_none(), "{line}");
    let story = told(&[run_start("p", A), receipt, end]);
    let worker = &story.runs[0].workers[0];
    assert_eq!((&worker.receipt["wallMs"], worker.status), (&json!(7), Some(TaskStatus::Completed)));
    assert_eq!(worker.receipt["files"]["uri"], "file:a", "its references are in the journal's form");

    let old = told(&[run_start("p", A), worker_end("editor", TaskStatus::Completed, vec![])]);
    assert_eq!(old.runs[0].workers[0].receipt["wallMs"], 12);
}
