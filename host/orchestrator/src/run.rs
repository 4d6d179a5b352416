//! The run: from a request to a report.
//!
//! expand the references, route, plan, ask back or hand off; the support workers side by side, each with the results of
//! those it waits for; then the primary with all of them; then the report. Every step is a record in the journal before
//! the next begins. A worker that fails is part of the report; only a broken promise of Brain's own ends a run early.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use brain_journal::{
    ClarificationRequest, Journal, Phase, ProjectSupport, Record, RunEnd, RunLock, RunStart, TodoItem,
};
use brain_manifest::{Config, Manifest};
use brain_packet::{BrainTaskContext, ContextRef, ContextRefKind, RoleName, TaskStatus, limits::MAX_GOAL_CHARS};
use brain_plan::{Clarification, Mode, Plan, PlanPhase, Request, WorkerPlan};
use brain_sandbox::{CancelToken, GlobLayer, LoadError, Role, Sandbox, WORKSPACE, WorkspaceGrant};

use crate::checking;
use crate::compose::{Done, compose};
use crate::confirmed::{Confirmed, consent};
use crate::continued::Continued;
use crate::crew::Crew;
use crate::error::RunError;
use crate::git;
use crate::references::{self, References};
use crate::report::{Fault, REPORT_VERSION, Routing, RunReport, RunStatus};
use crate::roles::{Catalogue, Installed, Origin};
use crate::sweep;
use crate::worker::{Bench, CHANGES, ContextFile, Git, task_id};

/// Hidden files that are named; the rest is counted.
const MAX_NAMED: usize = 8;

/// Something that happened in a run, for whoever watches.
#[derive(Clone, Debug)]
pub enum Event {
    /// The plan is made.
    Planned(Box<Plan>),
    /// A role that the operator added is used for the first time: what it asks for is confirmed from now on.
    FirstUse(RoleName),
    /// A role is being loaded; one that is not in the cache is compiled, which takes its time.
    Loading(RoleName),
    /// A role was not in the cache and has been compiled, which took this time.
    Compiled(RoleName, Duration),
    /// A check of the project's runs: its command line.
    Checking(String),
    /// A worker is called.
    Started(RoleName, PlanPhase),
    /// A worker has ended, with this status, after this wall time in milliseconds.
    Ended(RoleName, TaskStatus, f64),
}

/// What is needed for runs.
pub struct Orchestrator {
    /// The sandbox that roles run in.
    pub sandbox: Sandbox,
    /// The roles that there are.
    pub catalogue: Catalogue,
    /// The configuration in force.
    pub config: Config,
    /// `BRAIN_HOME`.
    pub home: PathBuf,
    /// The project's folder.
    pub project: PathBuf,
    /// How wide a run may go.
    pub mode: Mode,
    /// The project's own checks may run on what is proposed.
    pub may_check: bool,
    /// Interrupts the run.
    pub cancel: CancelToken,
}

impl Orchestrator {
    /// What a run of `request` would do. Runs nothing and records nothing.
    ///
    /// # Errors
    /// The request cannot be worked on, or there are no roles.
    pub fn preview(&self, request: &str) -> Result<Plan, RunError> {
        let request = checked(request)?;
        let references = references::resolve(request, &self.project, &self.home);
        let mut plan = self.plan(request, &references, false)?;
        let confirmed = Confirmed::read(&self.home)?;
        let refused = self.roles_of(&plan).filter_map(|role| confirmed.allows(role).err());
        let refused: Vec<String> = refused.map(|error| error.to_string()).collect();
        plan.missing.extend(refused);
        Ok(plan)
    }

    /// Plans a request. What continues a session is not asked back by rule.
    fn plan(&self, request: &str, references: &References, continues: bool) -> Result<Plan, RunError> {
        let roles: Vec<&Manifest> = self.catalogue.iter().map(|role| &role.manifest).collect();
        if roles.is_empty() {
            return Err(self.catalogue.get("").err().map_or(RunError::Empty, RunError::from));
        }
        let planned = brain_plan::plan(
            &Request {
                prompt: request,
                roles: &roles,
                config: &self.config,
                mode: self.mode,
                review_edits: true,
                continues,
            },
            None,
        );
        let mut plan = planned?;
        plan.missing.extend(references.missing.iter().cloned());
        plan.missing
            .extend(self.catalogue.faults.iter().map(|fault| format!("a role cannot be used: {}", fault.error)));
        Ok(plan)
    }

    /// Runs `request` and returns the report, which is in the journal too.
    ///
    /// With `session`, the run continues that session: its snapshot is context of the workers, and where its last run asked
    /// back, `request` is the answer.
    ///
    /// # Errors
    /// The request cannot be worked on, there are no roles, a record or a file of Brain's own cannot be written, or the
    /// run is interrupted. There is no such session, or `request` is no answer to what it asked.
    pub fn run(
        &self,
        request: &str,
        session: Option<&str>,
        watch: &(dyn Fn(Event) + Sync),
    ) -> Result<RunReport, RunError> {
        let request = checked(request)?;
        let continued = session.map(|word| Continued::find(&self.home, word, &self.project)).transpose()?;
        let request = match &continued {
            Some(continued) => continued.request(request)?,
            None => request.to_owned(),
        };
        let request = checked(&request)?;
        let mut references = references::resolve(request, &self.project, &self.home);
        let mut plan = self.plan(request, &references, continued.is_some())?;
        let (journal, run, _lock) = match continued {
            Some(Continued { id, lock, elsewhere, snapshot, runs, .. }) => {
                references.threads.retain(|(known, _)| *known != id);
                references.threads.push((id.clone(), snapshot));
                plan.missing
                    .extend(elsewhere.map(|root| format!("the session was last about another project: {root}")));
                (Journal::open(&self.home, &id)?, runs + 1, lock)
            }
            None => self.begun()?,
        };
        self.recorded(&journal, || match plan.clarification.clone() {
            Some(clarification) => self.ask_back(&journal, run, references, plan, clarification),
            None => self.work(&journal, run, request, references, plan, watch),
        })
    }

    /// Calls one role by name, as the primary of a run of its own.
    ///
    /// `refs` are what the handoff names of the project, and so all of it that the role can see; with none, the whole.
    ///
    /// # Errors
    /// As [`Orchestrator::run`]; and there is no such role, or a reference does not exist.
    pub fn run_role(
        &self,
        name: &str,
        goal: &str,
        refs: &[String],
        watch: &(dyn Fn(Event) + Sync),
    ) -> Result<RunReport, RunError> {
        let goal = checked(goal)?;
        let role = self.catalogue.get(name)?;
        let files = refs
            .iter()
            .map(|path| {
                references::file(&self.project, path)
                    .map_err(|why| RunError::Reference { reference: path.clone(), why })
            })
            .collect::<Result<Vec<_>, _>>()?;
        let plan = brain_plan::of_one(goal, &role.manifest, &self.config);
        let (journal, _, _lock) = self.begun()?;
        let references = References { files, ..References::default() };
        self.recorded(&journal, || self.work(&journal, 1, goal, references, plan, watch))
    }

    /// A new session, which is this run's alone, and its first.
    fn begun(&self) -> Result<(Journal, usize, RunLock), RunError> {
        let journal = Journal::start(&self.home)?;
        let lock = RunLock::take(&self.home, journal.id())?;
        Ok((journal, 1, lock))
    }

    /// Whatever ends a run early is its last record.
    fn recorded(
        &self,
        journal: &Journal,
        run: impl FnOnce() -> Result<RunReport, RunError>,
    ) -> Result<RunReport, RunError> {
        run().inspect_err(|error| {
            let code = miette::Diagnostic::code(error).map(|code| code.to_string());
            // When the journal itself is what broke, the error that is returned says so.
            let _ = journal.append(&Record::RunError {
                code,
                error: error.to_string(),
                attempt: None,
                will_fallback: false,
            });
        })
    }

    /// Asks back instead of working: no role is called, and the tasks wait.
    fn ask_back(
        &self,
        journal: &Journal,
        run: usize,
        references: References,
        plan: Plan,
        clarification: Clarification,
    ) -> Result<RunReport, RunError> {
        self.start(journal, &plan.request, Some(&plan))?;
        self.record_plan(journal, run, &plan, &references.files)?;
        journal.append(&Record::ClarificationRequest(ClarificationRequest {
            clarification: (&clarification).into(),
            attempt: None,
        }))?;
        let waits = "it waits for the operator's answer";
        let todos = plan.todos.iter().map(|todo| TodoItem {
            status: TaskStatus::Blocked,
            summary: Some(waits.into()),
            ..todo.clone()
        });
        journal.append(&Record::TodoUpdate {
            phase: Phase::Planning,
            role: None,
            status: TaskStatus::Blocked,
            todo_ids: plan.todos.iter().map(|todo| todo.id.clone()).collect(),
            todos: todos.collect(),
            summary: Some(waits.into()),
            error: None,
        })?;
        let report = RunReport {
            version: REPORT_VERSION,
            status: RunStatus::NeedsClarification,
            task: plan.request,
            session_id: journal.id().clone(),
            routing: Routing { source: plan.source, primary_role: None, reason: clarification.reason.clone() },
            workers: Vec::new(),
            findings: Vec::new(),
            review: None,
            checks: None,
            changes: None,
            missing: references.missing,
            warnings: vec!["no role was asked: the request says too little".into()],
            summary: clarification.question.clone(),
            clarification: Some(clarification),
        };
        self.finish(journal, report)
    }

    fn start(&self, journal: &Journal, request: &str, plan: Option<&Plan>) -> Result<(), RunError> {
        if self.home.canonicalize().is_ok_and(|home| self.project.starts_with(home)) {
            return Err(RunError::OwnHome(self.project.clone()));
        }
        sweep::sessions(&self.home);
        journal.append(&Record::RunStart(RunStart {
            plan: plan.and_then(Plan::record),
            project_support: Some(ProjectSupport::at(self.project.to_string_lossy())),
            ..RunStart::new(request)
        }))?;
        Ok(())
    }

    fn finish(&self, journal: &Journal, report: RunReport) -> Result<RunReport, RunError> {
        let final_report = serde_json::to_value(&report).unwrap_or_default();
        journal.append(&Record::FinalReport { final_report, attempt: None })?;
        journal.append(&Record::RunEnd(RunEnd::new(&report.summary)))?;
        Ok(report)
    }

    /// Hands a plan's work off. Files that the request names are all that the handoffs grant of the project.
    fn work(
        &self,
        journal: &Journal,
        run: usize,
        request: &str,
        references: References,
        plan: Plan,
        watch: &(dyn Fn(Event) + Sync),
    ) -> Result<RunReport, RunError> {
        let mut missing = plan.missing.clone();
        missing.extend(self.config.by_project.iter().cloned());
        let mut named = references.files.clone();
        if named.is_empty() && references.names_files {
            missing.push("none of the files that the request names is there, and roles see nothing else".into());
        } else if named.is_empty() {
            named.push(ContextRef::new(ContextRefKind::File, WORKSPACE).labelled("the project"));
        }
        let shared = context(request, &references);
        // First of all: a run that is cut off while git is read has its request.
        self.start(journal, request, Some(&plan))?;
        let git = self.git(&plan, &mut missing);
        self.record_plan(journal, run, &plan, &named)?;
        watch(Event::Planned(Box::new(plan.clone())));

        let loaded = self.load(&plan, watch)?;
        let bench = Bench {
            project: &self.project,
            home: &self.home,
            journal,
            config: &self.config,
            cancel: &self.cancel,
            git: &git,
            run,
        };
        let crew = Crew { orchestrator: self, bench, plan: &plan, loaded, named, shared, watch };
        let support = crew.support()?;
        if self.cancel.is_cancelled() {
            return Err(RunError::Interrupted);
        }
        let primary = crew.primary(&support)?;
        if self.cancel.is_cancelled() {
            return Err(RunError::Interrupted);
        }
        let mut before = support.clone();
        before.push(primary.clone());
        let reviewed = plan.of(PlanPhase::Review).next().is_some();
        let checked = checking::check(&crew.bench, &before, self.may_check, reviewed, &mut missing, watch)?;
        let judges = crew.review(&before, checked.as_ref())?;
        let checks = checked.map(|checked| checked.summary);
        if self.cancel.is_cancelled() {
            return Err(RunError::Interrupted);
        }
        let changes = git.diff.map(|changes| changes.of);
        let done = Done { support, primary, judges, checks, changes, missing };
        self.finish(journal, compose(journal, &plan, done))
    }

    fn record_plan(&self, journal: &Journal, run: usize, plan: &Plan, named: &[ContextRef]) -> Result<(), RunError> {
        let mut context = BrainTaskContext::new(journal.id().clone(), &plan.request);
        context.context_refs = named.to_vec();
        context.child_context_ids =
            plan.workers.iter().map(|worker| task_id(journal.id().as_str(), &worker.role, run)).collect();
        journal.append(&Record::ContextPlan { context })?;
        journal.append(&Record::TodoPlan {
            todos: plan.todos.clone(),
            dependencies: plan.dependencies.clone(),
            reason: Some(plan.reason.clone()),
        })?;
        Ok(())
    }

    /// What git knows of the project; the change only where a role makes use of it.
    fn git(&self, plan: &Plan, missing: &mut Vec<String>) -> Git {
        let wanted =
            plan.workers.iter().any(|w| self.manifest_of(&w.role).is_some_and(|r| r.manifest.context.wants(CHANGES)));
        match git::view(&self.project, &self.cancel) {
            Ok(view) => {
                missing.extend(self.hidden_from_roles(&view.tracked));
                if view.is_part {
                    missing.push("the project is a folder of a larger work tree: roles see that folder alone".into());
                }
                if wanted {
                    missing.extend(view.changes.cut.iter().map(|cut| format!("the diff: {cut}")));
                }
                Git { tracked: view.tracked, diff: Some(view.changes).filter(|_| wanted) }
            }
            Err(why) => {
                if wanted {
                    missing.push(format!("no diff to review: {why}"));
                }
                Git::default()
            }
        }
    }

    /// Says which tracked files no role sees: what nobody may look at, nobody has looked at.
    fn hidden_from_roles(&self, tracked: &Arc<BTreeSet<String>>) -> Option<String> {
        let everything = WorkspaceGrant {
            root: self.project.clone(),
            read: vec![GlobLayer::new("everything", ["**"])],
            write: Vec::new(),
            deny: self.config.deny_globs().collect(),
            honour_gitignore: false,
            tracked: Arc::clone(tracked),
        };
        let visible = everything.visibility().ok()?;
        let hidden: Vec<&String> = tracked.iter().filter(|path| !visible.shows(path)).collect();
        let more = hidden.len().saturating_sub(MAX_NAMED);
        let named: Vec<&str> = hidden.iter().take(MAX_NAMED).map(|path| path.as_str()).collect();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!named.is_empty()).then(|| format!("tracked by git, and shown to no role: {}{more}", named.join(", ")))
    }

    fn manifest_of(&self, role: &RoleName) -> Option<&Installed> {
        self.catalogue.iter().find(|installed| installed.manifest.name == *role)
    }

    /// The roles of a plan, as far as they are installed.
    fn roles_of<'a>(&'a self, plan: &'a Plan) -> impl Iterator<Item = &'a Installed> + Clone {
        plan.workers.iter().filter_map(|worker| self.manifest_of(&worker.role))
    }

    /// Loads the roles of a plan side by side: the first time, each is compiled. One that asks for more than was
    /// confirmed of it is not loaded.
    fn load(&self, plan: &Plan, watch: &(dyn Fn(Event) + Sync)) -> Result<Vec<Result<Role, Fault>>, RunError> {
        let consent = consent(&self.home, self.roles_of(plan))?;
        for role in self.roles_of(plan).filter(|role| role.origin != Origin::Shipped) {
            if consent.pinned.contains(&role.manifest.name) {
                watch(Event::FirstUse(role.manifest.name.clone()));
            }
        }
        let load = |worker: &WorkerPlan| -> Result<Role, Fault> {
            if let Some(refused) = consent.refused.get(&worker.role) {
                return Err(fault(refused));
            }
            watch(Event::Loading(worker.role.clone()));
            let installed = self.catalogue.get(worker.role.as_str()).map_err(|e| fault(&e))?;
            let bytes = installed.bytes().map_err(|e| fault(&e))?;
            let role = self.sandbox.load(&worker.role, &bytes).map_err(|e: LoadError| fault(&e))?;
            if let Some(took) = role.compiled_in() {
                watch(Event::Compiled(worker.role.clone(), took));
            }
            Ok(role)
        };
        let loaded = std::thread::scope(|scope| {
            let threads: Vec<_> = plan.workers.iter().map(|worker| scope.spawn(|| load(worker))).collect();
            threads
                .into_iter()
                .map(|thread| {
                    thread.join().unwrap_or_else(|_| {
                        Err(Fault {
                            code: "role.load".into(),
                            message: "loading the role failed inside the host".into(),
                            remedy: Some("report it: this is a fault of Brain".into()),
                        })
                    })
                })
                .collect()
        });
        Ok(loaded)
    }
}

/// The context files that every worker may make use of.
fn context(request: &str, references: &References) -> Vec<ContextFile> {
    let mut text = format!("# Request\n\n{request}\n");
    if !references.missing.is_empty() {
        text.push_str("\n# Referred to, and not there\n\n");
        for missing in &references.missing {
            text.push_str(&format!("- {missing}\n"));
        }
    }
    let mut files = vec![ContextFile {
        path: "request.md".into(),
        kind: ContextRefKind::Summary,
        label: "the request".into(),
        content: text.into_bytes(),
    }];
    files.extend(references.threads.iter().map(|(id, snapshot)| ContextFile {
        path: format!("threads/{id}.md"),
        kind: ContextRefKind::Thread,
        label: format!("session {id}"),
        content: snapshot.clone().into_bytes(),
    }));
    files
}

fn checked(request: &str) -> Result<&str, RunError> {
    let request = request.trim();
    if request.is_empty() {
        return Err(RunError::Empty);
    }
    let found = request.chars().count();
    if found > MAX_GOAL_CHARS {
        return Err(RunError::TooLong { limit: MAX_GOAL_CHARS });
    }
    Ok(request)
}

/// The project's folder, as runs use it: absolute, and readable.
///
/// # Errors
/// It does not exist, is no folder, or cannot be listed.
pub fn open_project(path: &Path) -> Result<PathBuf, RunError> {
    let fail = |source| RunError::Project { path: path.to_owned(), source };
    let project = path.canonicalize().map_err(fail)?;
    std::fs::read_dir(&project).map_err(fail)?;
    Ok(project)
}

fn fault(error: &dyn miette::Diagnostic) -> Fault {
    Fault {
        code: error.code().map(|code| code.to_string()).unwrap_or_default(),
        message: error.to_string(),
        remedy: error.help().map(|help| help.to_string()),
    }
}
