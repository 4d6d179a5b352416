//! One worker: its handoff, its context files, its call, and the records of all three.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brain_changes::{ChangeSet, Contents};
use brain_journal::{ArtifactDigests, AuditSummary, Journal, Phase, Record, TodoItem, journal_result};
use brain_manifest::{Config, EffectiveGrant, Manifest, Who};
use brain_packet::{
    AgentMessage, AgentTaskContext, ContextRef, ContextRefKind, HandoffId, HandoffPacket, MessageId, RoleName, TaskId,
    TaskStatus, WorkerResult, normalise,
};
use brain_plan::PlanPhase;
use brain_sandbox::{
    Ambient, Asked, CONTEXT, Call, CancelToken, Ended, FileGrants, GlobLayer, Receipt, Role, Run, WORKSPACE,
    WorkspaceGrant,
};
use serde_json::Value;

use crate::artifacts::{collect, private_file, private_folder};
use crate::error::RunError;
use crate::gate::gate_review;
use crate::git::{ChangedFile, Changes};
use crate::proposals::{self, ProposedChanges};
use crate::report::{Fault, WorkerReport};

/// Name of the change below `/context`.
pub(crate) const CHANGES: &str = "changes.diff";

/// The role whose answer must hold a decision.
const REVIEW: &str = "review";

/// The rules that every handoff carries.
const CONSTRAINTS: &[&str] = &[
    "Act as the assigned role, and as no other.",
    "This packet goes from Brain to you. Brain owns the orchestration; you own this one task.",
    "Use the packet and the files that it grants; nothing else of this run exists for you.",
    "Echo the ids as they are given; Brain's own values are kept in any case.",
    "Do not assume that you know what other workers saw or thought.",
    "Return findings that are short and typed, each with its place.",
];

const EXPECTED: &str = "A worker-result: a summary meant for the user; findings with file and line where they have one; \
    files worth reading as artifacts with the reason as label; risks and open questions.";

/// One context file of a handoff.
#[derive(Clone, Debug)]
pub(crate) struct ContextFile {
    /// Path below `/context`.
    pub path: String,
    pub kind: ContextRefKind,
    pub label: String,
    pub content: Vec<u8>,
}

/// What all workers of one run share.
pub(crate) struct Bench<'a> {
    pub project: &'a Path,
    pub home: &'a Path,
    pub journal: &'a Journal,
    pub config: &'a Config,
    pub cancel: &'a CancelToken,
    pub git: &'a Git,
    /// Which run of its session this is, from 1: a session that is continued has several.
    pub run: usize,
}

/// What git knows of the project.
#[derive(Debug, Default)]
pub(crate) struct Git {
    /// The tracked files.
    pub tracked: Arc<BTreeSet<String>>,
    /// The change, when a role of the run makes use of it and there is one.
    pub diff: Option<Changes>,
}

/// One worker that is to be called.
pub(crate) struct Job<'a> {
    pub role: &'a Role,
    pub manifest: &'a Manifest,
    pub phase: PlanPhase,
    pub goal: &'a str,
    pub todos: Vec<TodoItem>,
    /// What of the project is named: the project itself, or single files and folders.
    pub named: Vec<ContextRef>,
    pub context: Vec<ContextFile>,
}

/// Who does which task of a run.
pub(crate) struct Seat<'a> {
    role: &'a RoleName,
    phase: PlanPhase,
    todos: &'a [TodoItem],
}

impl Job<'_> {
    fn seat(&self) -> Seat<'_> {
        Seat { role: self.role.name(), phase: self.phase, todos: &self.todos }
    }
}

/// What came of one worker.
#[derive(Clone, Debug)]
pub(crate) struct Worked {
    pub result: WorkerResult,
    pub report: WorkerReport,
    /// What of the change it was not shown, in words.
    pub not_shown: Vec<String>,
    /// What it proposes to change.
    pub proposed: ChangeSet,
}

impl Bench<'_> {
    /// Hands one job over and waits for its end. Fails only when a record or a file of Brain's own cannot be written.
    pub(crate) fn work(&self, job: &Job<'_>) -> Result<Worked, RunError> {
        let name = job.role.name();
        let grant = self.grant(job);
        let workspace = self.workspace(&grant);
        let (diff, not_shown) = self.diff(job, workspace.as_ref());
        let handoff = self.handoff(job, diff.as_ref());
        let private = self.private_of_run();
        if self.run > 1 {
            self.folder(private.clone())?;
        }
        let private = self.folder(private.join(name.as_str()))?;
        let context = self.folder(private.join("context"))?;
        for file in job.context.iter().chain(&diff) {
            let path = context.join(&file.path);
            if let Some(parent) = path.parent() {
                self.folder(parent.to_owned())?;
            }
            private_file(&path, &file.content).map_err(|source| RunError::State {
                what: "a context file",
                path: path.clone(),
                source,
            })?;
        }
        let artifacts = self.folder(private.join("artifacts"))?;
        self.started(job, &handoff)?;
        let run = job.role.run(Call {
            files: FileGrants {
                workspace,
                context: Some(context),
                artifacts: Some(artifacts.clone()),
                staging: Some(private.clone()),
                contents: Some(self.journal.paths().contents()),
            },
            limits: grant.in_force().clone(),
            ambient: Ambient { wall_clock: grant.wall_clock.effective, random: grant.random.effective },
            log: Some(private.join("output.log")),
            cancel: self.cancel.clone(),
            ..Call::new(&handoff)
        });
        self.ended(job, &handoff, run, &artifacts, not_shown)
    }

    /// A worker that is not called, since what it waits for did not complete.
    pub(crate) fn blocked(&self, job: &Job<'_>, reason: &str) -> Result<Worked, RunError> {
        let handoff = self.handoff(job, None);
        let result = normalise::blocked(&handoff, reason);
        self.conclude(&job.seat(), &handoff, result, None, None, &ArtifactDigests::default())
    }

    /// A role that could not be loaded, and so is not called.
    pub(crate) fn unloaded(
        &self,
        role: &RoleName,
        phase: PlanPhase,
        goal: &str,
        todos: &[TodoItem],
        fault: Fault,
    ) -> Result<Worked, RunError> {
        let handoff = self.handoff_for(role, goal, Vec::new());
        let result = normalise::failed(&handoff, &fault.message, &[]);
        self.conclude(&Seat { role, phase, todos }, &handoff, result, None, Some(fault), &ArtifactDigests::default())
    }

    /// Where the workers of this run keep what is theirs. A role's name begins with a letter, so that a number is none.
    fn private_of_run(&self) -> PathBuf {
        let private = self.journal.paths().private();
        if self.run > 1 { private.join(self.run.to_string()) } else { private }
    }

    fn folder(&self, path: PathBuf) -> Result<PathBuf, RunError> {
        let at = path.clone();
        private_folder(path).map_err(|source| RunError::State { what: "a private folder", path: at, source })
    }

    fn handoff(&self, job: &Job<'_>, diff: Option<&ContextFile>) -> HandoffPacket {
        let mut refs = job.named.clone();
        refs.extend(
            job.context.iter().chain(diff).map(|file| {
                ContextRef::new(file.kind, format!("{CONTEXT}/{}", file.path)).labelled(file.label.clone())
            }),
        );
        self.handoff_for(job.role.name(), job.goal, refs)
    }

    fn handoff_for(&self, role: &RoleName, goal: &str, refs: Vec<ContextRef>) -> HandoffPacket {
        let session = self.journal.id();
        let mut task =
            AgentTaskContext::new(task_id(session.as_str(), role, self.run), session.clone(), role.clone(), goal);
        task.context_refs = refs;
        let mut handoff = HandoffPacket::new(handoff_id(session.as_str(), role, self.run), task, EXPECTED);
        handoff.constraints = CONSTRAINTS.iter().map(|c| (*c).to_owned()).collect();
        handoff
    }

    /// What the role may do: what its manifest asks, of what the operator grants and the handoff names.
    fn grant(&self, job: &Job<'_>) -> EffectiveGrant {
        EffectiveGrant::new(job.manifest, self.config).narrowed(&handoff_layer(&job.named))
    }

    /// The part of a grant that is the project's files.
    fn workspace(&self, grant: &EffectiveGrant) -> Option<WorkspaceGrant> {
        grant.has_workspace().then(|| WorkspaceGrant {
            root: self.project.to_owned(),
            read: grant.read.clone(),
            write: grant.write_layers().to_vec(),
            deny: self.config.deny_globs().chain(self.home_in_project()).collect(),
            honour_gitignore: !grant.gitignored.effective,
            tracked: Arc::clone(&self.git.tracked),
        })
    }

    /// The change, as far as the role may see its files, and what of it that leaves out. A diff is content of files: it
    /// must not show what the files themselves are not shown for.
    fn diff(&self, job: &Job<'_>, workspace: Option<&WorkspaceGrant>) -> (Option<ContextFile>, Vec<String>) {
        let Some(changes) = self.git.diff.as_ref().filter(|_| job.manifest.context.wants(CHANGES)) else {
            return (None, Vec::new());
        };
        let visible = workspace.and_then(|workspace| workspace.visibility().ok());
        let shown = |file: &&ChangedFile| {
            visible.as_ref().is_some_and(|visible| file.paths.iter().all(|path| visible.shows(path)))
        };
        let files: Vec<&ChangedFile> = changes.files.iter().filter(shown).collect();
        let mut not_shown = Vec::new();
        match changes.files.len() - files.len() {
            0 => {}
            1 => not_shown.push("1 changed file is not shown to it, since it is not granted".to_owned()),
            n => not_shown.push(format!("{n} changed files are not shown to it, since they are not granted")),
        }
        let file = ContextFile {
            path: CHANGES.into(),
            kind: ContextRefKind::Artifact,
            label: changes.of.clone(),
            content: files.iter().flat_map(|file| file.patch.iter().copied()).collect(),
        };
        (Some(file), not_shown)
    }

    /// Brain's own state is no part of the project, even where it lies inside it: it holds what other roles saw.
    fn home_in_project(&self) -> Option<String> {
        let home = self.home.canonicalize().ok()?;
        let inside = home.strip_prefix(self.project).ok()?.to_str().filter(|path| !path.is_empty())?;
        Some(format!("/{}", escape(inside)))
    }

    fn started(&self, job: &Job<'_>, handoff: &HandoffPacket) -> Result<(), RunError> {
        let (phase, worker) = (Phase::from(job.phase), job.role.name().clone());
        let message = AgentMessage::handoff(message_id(handoff, "out"), handoff.clone());
        self.journal.append(&Record::AgentMessage { phase, worker: worker.clone(), message, attempt: None })?;
        self.todo(&job.seat(), TaskStatus::Running, None, None)?;
        self.journal.append(&Record::WorkerStart {
            phase,
            worker,
            goal: job.goal.to_owned(),
            handoff_id: Some(handoff.id.clone()),
            task_id: Some(handoff.task.id.clone()),
            model: AuditSummary::default(),
            agent_session_id: None,
            attempt: None,
        })?;
        Ok(())
    }

    fn ended(
        &self,
        job: &Job<'_>,
        handoff: &HandoffPacket,
        run: Run,
        artifacts: &Path,
        not_shown: Vec<String>,
    ) -> Result<Worked, RunError> {
        let Run { mut result, ended, changes, mut receipt } = run;
        make_fixes_exact(&mut receipt, job.manifest, self.config);
        if job.role.name().as_str() == REVIEW {
            result = normalise::expect_review(result);
        }
        // Any role may decide; what it decides on is what it was handed, whatever it is called.
        let handed = self.git.diff.as_ref().filter(|_| job.manifest.context.wants(CHANGES));
        let cut = handed.map(|changes| [changes.cut.as_slice(), &not_shown].concat());
        result = gate_review(result, cut.as_deref());
        let store = self.journal.paths().artifacts();
        let digests = collect(artifacts, &store, &mut result).map_err(|source| RunError::State {
            what: "an artifact",
            path: store,
            source,
        })?;
        let proposed = self.keep_changes(&job.seat(), handoff, &changes)?;
        let fault = (ended != Ended::Returned).then(|| Fault {
            code: ended.code().into(),
            message: ended.message(),
            remedy: self.remedy(job.manifest, &ended),
        });
        let mut worked = self.conclude(&job.seat(), handoff, result, Some(receipt), fault, &digests)?;
        worked.report.changes = proposed;
        Ok(Worked { not_shown, proposed: changes, ..worked })
    }

    /// What to do about an end. A limit that the operator lowered is raised where it was lowered; what a guest printed
    /// lies with the session.
    fn remedy(&self, manifest: &Manifest, ended: &Ended) -> Option<String> {
        match ended {
            Ended::Killed { limit, value, .. } if limit.value_in(&manifest.limits) > *value => {
                let key = limit.key()?;
                Some(format!(
                    "the role asks for more: raise `{key}` below `[limits]` of config.toml in BRAIN_HOME, or of the project's .brain/brain.toml if that lowers it"
                ))
            }
            Ended::Trapped { .. } => {
                let run = if self.run > 1 { format!("{}/", self.run) } else { String::new() };
                let log = format!("sessions/{}/private/{run}{}/output.log", self.journal.id(), manifest.name);
                Some(format!("this is a fault of the role: report it to its author, with {log} of BRAIN_HOME"))
            }
            other => other.remedy(),
        }
    }

    fn conclude(
        &self,
        seat: &Seat<'_>,
        handoff: &HandoffPacket,
        result: WorkerResult,
        receipt: Option<Receipt>,
        fault: Option<Fault>,
        digests: &ArtifactDigests,
    ) -> Result<Worked, RunError> {
        let (phase, worker) = (Phase::from(seat.phase), seat.role.clone());
        let message = AgentMessage::result(message_id(handoff, "in"), worker.clone(), result.clone());
        self.journal
            .append_with(&Record::AgentMessage { phase, worker: worker.clone(), message, attempt: None }, digests)?;
        if let Some(fault) = &fault {
            self.journal.append(&Record::WorkerError {
                phase,
                worker: worker.clone(),
                handoff_id: Some(handoff.id.clone()),
                code: Some(fault.code.clone()),
                error: fault.message.clone(),
                attempt: None,
                will_fallback: false,
            })?;
        }
        if let Some(receipt) = &receipt {
            self.journal.append_with(
                &Record::RoleReceipt {
                    phase,
                    worker: worker.clone(),
                    handoff_id: handoff.id.clone(),
                    receipt: serde_json::to_value(receipt).unwrap_or_default(),
                },
                digests,
            )?;
        }
        let end = Record::WorkerEnd {
            phase,
            worker: worker.clone(),
            result: Some(result.clone()),
            receipt: Value::Null,
            attempt: None,
        };
        self.journal.append_with(&end, digests)?;
        let status = result.progress.status;
        let error = fault.as_ref().map(|f| f.message.clone());
        self.todo(seat, status, Some(result.summary.clone()).filter(|_| error.is_none()), error)?;
        let kept = journal_result(result.clone(), digests);
        Ok(Worked {
            report: WorkerReport {
                role: worker,
                phase: seat.phase,
                status,
                handoff_id: handoff.id.clone(),
                task_id: handoff.task.id.clone(),
                summary: result.summary.clone(),
                artifacts: kept.artifacts,
                risks: result.risks.clone(),
                next_questions: result.next_questions.clone(),
                findings: result.findings.len(),
                notes: result.notes.clone(),
                fault,
                changes: None,
                receipt,
            },
            result,
            not_shown: Vec::new(),
            proposed: ChangeSet::default(),
        })
    }

    /// Keeps what a role proposes to change with the session. Nothing is kept of a proposal of nothing.
    fn keep_changes(
        &self,
        seat: &Seat<'_>,
        handoff: &HandoffPacket,
        changes: &ChangeSet,
    ) -> Result<Option<ProposedChanges>, RunError> {
        if changes.is_empty() {
            return Ok(None);
        }
        let paths = self.journal.paths();
        let kept = Contents::open(paths.contents())
            .map_err(std::io::Error::other)
            .and_then(|contents| proposals::keep(paths, seat.role, changes, &contents));
        kept.map_err(|source| RunError::State { what: "a proposed change", path: paths.changes(), source })?;
        let proposed = ProposedChanges::of(changes);
        self.journal.append(&Record::ChangeSet {
            phase: seat.phase.into(),
            worker: seat.role.clone(),
            handoff_id: handoff.id.clone(),
            digest: proposed.digest.clone(),
            files: proposed.files,
            added_lines: proposed.added_lines,
            removed_lines: proposed.removed_lines,
            folders: proposed.folders,
        })?;
        Ok(Some(proposed))
    }

    fn todo(
        &self,
        seat: &Seat<'_>,
        status: TaskStatus,
        summary: Option<String>,
        error: Option<String>,
    ) -> Result<(), RunError> {
        let todos: Vec<TodoItem> =
            seat.todos.iter().map(|todo| TodoItem { status, summary: summary.clone(), ..todo.clone() }).collect();
        self.journal.append(&Record::TodoUpdate {
            phase: seat.phase.into(),
            role: Some(seat.role.clone()),
            status,
            todo_ids: todos.iter().map(|todo| todo.id.clone()).collect(),
            todos,
            summary,
            error,
        })?;
        Ok(())
    }
}

/// Makes the edits that would grant what was denied exact. The sandbox knows neither which role a grant is for, nor what its
/// manifest asks, nor whose a deny glob is.
fn make_fixes_exact(receipt: &mut Receipt, manifest: &Manifest, config: &Config) {
    let role = receipt.role.to_string();
    let write = toml::Value::from(manifest.files.write.clone());
    for denial in &mut receipt.files.denied {
        let denied_by = config.deny.iter().find(|deny| denial.why.contains(&format!("the deny glob `{}`", deny.glob)));
        if let Some(deny) = denied_by {
            denial.fix =
                deny.who.file().map(|file| format!("take `{}` off `deny` below `[files]` of {file}", deny.glob));
        } else if denial.asked == Asked::Write && receipt.grants.write.is_empty() && !manifest.files.write.is_empty() {
            denial.fix = Some(format!(
                "grant what it asks: `write = {write}` below `[grants.{role}]` of config.toml in BRAIN_HOME"
            ));
        } else if let Some(fix) = &mut denial.fix {
            *fix = fix.replace("<role>", &role);
        }
    }
}

/// What a handoff names of the project, as globs: `/workspace` is all of it, anything below is itself and all below that.
pub(crate) fn handoff_layer(refs: &[ContextRef]) -> GlobLayer {
    let below = format!("{WORKSPACE}/");
    let mut globs = Vec::new();
    for reference in refs {
        if reference.uri == WORKSPACE {
            globs.push("**".to_owned());
        } else if let Some(path) = reference.uri.strip_prefix(&below) {
            let literal = escape(path);
            // A glob without wildcards covers what is below it; one that had to be escaped has to be told.
            if literal != path {
                globs.push(format!("{literal}/**"));
            }
            globs.push(literal);
        }
    }
    GlobLayer::new(Who::Handoff.as_str(), globs)
}

/// A glob that matches `path` and nothing else.
pub(crate) fn escape(path: &str) -> String {
    let mut glob = String::with_capacity(path.len());
    for c in path.chars() {
        match c {
            '*' | '?' | '[' | ']' | '{' | '}' => glob.extend(['[', c, ']']),
            '\\' => glob.push_str("[\\\\]"),
            _ => glob.push(c),
        }
    }
    glob
}

// A session's id and a role's name hold only characters that these ids take, and together stay below their length.
pub(crate) fn task_id(session: &str, role: &RoleName, run: usize) -> TaskId {
    if run > 1 { named(&format!("{session}:{role}:{run}")) } else { named(&format!("{session}:{role}")) }
}

fn handoff_id(session: &str, role: &RoleName, run: usize) -> HandoffId {
    named(&format!("{session}:{role}:{run}"))
}

fn message_id(handoff: &HandoffPacket, direction: &str) -> MessageId {
    named(&format!("{}:{direction}", handoff.id))
}

#[allow(clippy::unwrap_used, reason = "see the comment above the callers; a test covers the longest names")]
fn named<T: std::str::FromStr<Err = brain_packet::IdError>>(id: &str) -> T {
    id.parse().unwrap()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn ids_hold_for_the_longest_names() {
        let role: RoleName = "r".repeat(64).parse().unwrap();
        let session = "20260101-000000-abcdef";
        assert_eq!(task_id(session, &role, 1).as_str().len(), 22 + 1 + 64);
        assert!(task_id(session, &role, usize::MAX).as_str().ends_with(":18446744073709551615"));
        assert!(handoff_id(session, &role, 1).as_str().ends_with(":1"));
    }

    #[test]
    fn a_named_file_is_itself_whatever_its_name() {
        let refs = [ContextRef::new(ContextRefKind::File, "/workspace/a[1]*{x}?.rs")];
        let layer = handoff_layer(&refs);
        let glob = globset::Glob::new(layer.globs.last().unwrap()).unwrap().compile_matcher();
        assert!(glob.is_match("a[1]*{x}?.rs"));
        assert!(!glob.is_match("a1xx.rs"));
    }

    #[test]
    fn a_handoff_without_a_place_in_the_project_grants_none_of_it() {
        let refs = [ContextRef::new(ContextRefKind::Summary, "/context/request.md")];
        assert_eq!(handoff_layer(&refs).globs, Vec::<String>::new());
    }
}
