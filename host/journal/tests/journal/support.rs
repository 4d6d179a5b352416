//! Records and homes for the tests.

use std::path::{Path, PathBuf};

use brain_journal::{
    Appended, Journal, Phase, ProjectSupport, Record, RunEnd, RunPlan, RunStart, SessionPaths, parse_session_id,
};
use brain_packet::{
    AgentTaskContext, ContextRef, ContextRefKind, Finding, HandoffId, HandoffPacket, RoleName, SessionId, Severity,
    TaskId, TaskStatus, WorkerResult,
};
use serde_json::json;
use tempfile::TempDir;

/// A home with one open journal in it.
pub struct Fixture {
    pub home: TempDir,
    pub journal: Journal,
}

impl Fixture {
    pub fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let journal = Journal::start(home.path()).unwrap();
        // Without its header, so that a test finds in the file what it put there.
        std::fs::write(journal.paths().journal(), b"").unwrap();
        Self { home, journal }
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    pub fn id(&self) -> &SessionId {
        self.journal.id()
    }

    pub fn file(&self) -> PathBuf {
        self.journal.paths().journal().to_path_buf()
    }

    pub fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.file()).unwrap()
    }

    pub fn write(&self, bytes: &[u8]) {
        std::fs::write(self.file(), bytes).unwrap();
    }

    pub fn append(&self, record: &Record) -> Appended {
        self.journal.append(record).unwrap()
    }

    pub fn append_all(&self, records: &[Record]) {
        for record in records {
            self.append(record);
        }
    }

    pub fn records(&self) -> Vec<Record> {
        let log = brain_journal::read(self.home(), self.id()).unwrap();
        log.records.into_iter().map(|entry| entry.record).collect()
    }
}

/// A journal under a chosen id.
pub fn session(home: &Path, id: &str) -> Journal {
    Journal::create(home, &session_id(id)).unwrap()
}

pub fn session_id(id: &str) -> SessionId {
    parse_session_id(id).unwrap()
}

pub fn journal_path(home: &Path, id: &str) -> PathBuf {
    SessionPaths::new(home, &session_id(id)).unwrap().journal().to_path_buf()
}

pub fn role(name: &str) -> RoleName {
    RoleName::new(name).unwrap()
}

pub fn run_start(prompt: &str, root: &str) -> Record {
    Record::RunStart(RunStart {
        plan: Some(RunPlan {
            primary_role: role("review"),
            workers: Vec::new(),
            requires_review: false,
            reason: "the words of the request".into(),
            source: "heuristic".into(),
        }),
        project_support: Some(ProjectSupport::at(root)),
        ..RunStart::new(prompt)
    })
}

pub fn run_end(summary: &str) -> Record {
    Record::RunEnd(RunEnd::new(summary))
}

pub fn run_error(error: &str) -> Record {
    Record::RunError { code: Some("run.stopped".into()), error: error.into(), attempt: None, will_fallback: false }
}

/// A handoff to `name` with one granted file.
pub fn handoff(name: &str, goal: &str) -> HandoffPacket {
    let task_id = TaskId::new(format!("task-{name}")).unwrap();
    let mut task = AgentTaskContext::new(task_id, session_id("20260102-030405-abcdef"), role(name), goal);
    task.context_refs.push(ContextRef::new(ContextRefKind::File, "/workspace/src/main.rs"));
    HandoffPacket::new(HandoffId::new(format!("handoff-{name}")).unwrap(), task, "findings")
}

pub fn finding(severity: Severity, issue: &str) -> Finding {
    Finding {
        severity,
        rule: Some("secret/aws-access-key".into()),
        issue: issue.into(),
        file: Some("src/main.rs".into()),
        line: Some(7),
        evidence: Some("AKIA…".into()),
        suggestion: None,
    }
}

pub fn result(name: &str, status: TaskStatus, findings: Vec<Finding>) -> WorkerResult {
    let mut result = WorkerResult::answering(&handoff(name, "look"), status, format!("{name} is done"));
    result.findings = findings;
    result.artifacts.push(ContextRef::new(ContextRefKind::Artifact, "/artifacts/report.md").labelled("the report"));
    result
}

pub fn worker_end(name: &str, status: TaskStatus, findings: Vec<Finding>) -> Record {
    Record::WorkerEnd {
        phase: Phase::Support,
        worker: role(name),
        result: Some(result(name, status, findings)),
        receipt: json!({ "wallMs": 12, "peakMemoryBytes": 1_048_576 }),
        attempt: None,
    }
}
