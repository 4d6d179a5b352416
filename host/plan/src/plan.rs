//! The plan of a run, as it is shown, recorded and carried out.

use brain_files::GlobLayer;
use brain_journal::{Phase, PlannedWorker, RunPlan, TodoDependency, TodoItem};
use brain_manifest::{Config, EffectiveGrant, Manifest};
use brain_packet::RoleName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clarify::Clarification;
use crate::decision;
use crate::draft::{Draft, DraftWorker};
use crate::mode::{Mode, PlanLimits};
use crate::router::{Router, RouterPrompt};
use crate::rules::{self, REVIEW, todo_id};
use crate::todos::{order, waits};

/// What plans by rule calls itself in records and reports.
pub const BY_RULE: &str = "heuristic";
/// What plans by a model's word calls itself.
pub const BY_ROUTER: &str = "router-brain";
/// What an operator's own choice of a role calls itself.
pub const BY_OPERATOR: &str = "operator";

/// What is planned.
pub struct Request<'a> {
    /// What was asked.
    pub prompt: &'a str,
    /// The roles that there are.
    pub roles: &'a [&'a Manifest],
    /// How wide the run may go.
    pub mode: Mode,
    /// The configuration in force.
    pub config: &'a Config,
    /// Whether a change of files has to be reviewed.
    pub review_edits: bool,
    /// It continues a session, so that it says more than its words: it is not asked back by rule.
    pub continues: bool,
}

/// What Brain means to do about a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// What was asked.
    pub request: String,
    /// What planned: `heuristic` for the rules, `router-brain` for a model, `operator` for a role that was called by name.
    pub source: String,
    /// How wide the run goes.
    #[serde(default)]
    pub mode: Mode,
    /// Why this plan.
    #[serde(default)]
    pub reason: String,
    /// How sure the planner is of it, from 0 to 1; absent where it did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// What the mode and the operator allow.
    pub limits: PlanLimits,
    /// The workers, in the order of their phases, each after those that it waits for.
    pub workers: Vec<WorkerPlan>,
    /// The tasks.
    pub todos: Vec<TodoItem>,
    /// Which task waits for which.
    pub dependencies: Vec<TodoDependency>,
    /// The change has to be reviewed before it may be applied.
    #[serde(default)]
    pub requires_review: bool,
    /// What has to be asked back before any worker runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clarification: Option<Clarification>,
    /// What the request calls for and this run cannot do, and what it refers to and is not there.
    pub missing: Vec<String>,
}

/// One worker of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkerPlan {
    /// The role.
    pub role: RoleName,
    /// The part that it plays.
    pub phase: PlanPhase,
    /// What it is to achieve.
    pub goal: String,
    /// Why it takes part.
    pub reason: String,
    /// The tasks that it works on; at least one.
    pub todo_ids: Vec<String>,
    /// The roles whose results it waits for, and sees.
    pub after: Vec<RoleName>,
    /// Read globs that its manifest asks for.
    pub reads: Vec<String>,
    /// Write globs that its manifest asks for. What it writes is proposed, and applied by the operator alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// What narrows writing, the manifest first: a path may be written only if every layer matches it. None where it is
    /// granted nothing to write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write_grant: Vec<GlobLayer>,
}

/// The part that a worker plays. They come in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlanPhase {
    /// It prepares the primary's work.
    Support,
    /// It answers.
    Primary,
    /// It judges what the primary did.
    Review,
}

impl From<PlanPhase> for Phase {
    fn from(phase: PlanPhase) -> Self {
        match phase {
            PlanPhase::Support => Self::Support,
            PlanPhase::Primary => Self::Primary,
            PlanPhase::Review => Self::Review,
        }
    }
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum PlanError {
    /// There is no role.
    #[error("there is no role to hand the request to")]
    #[diagnostic(code("plan.no-role"), help("install one, or name a folder of role folders with --roles"))]
    NoRole,
    /// Roles wait for each other.
    #[error("the roles wait for each other: {}", shown(roles))]
    #[diagnostic(
        code("plan.cycle"),
        help("change what one of them comes after (`after` under [routing] in its role.toml)")
    )]
    Cycle {
        /// Each waits for the next, and the last for the first.
        roles: Vec<RoleName>,
    },
}

fn shown(roles: &[RoleName]) -> String {
    let names: Vec<&str> = roles.iter().chain(roles.first()).map(RoleName::as_str).collect();
    names.join(" → ")
}

/// Plans a request: by the router's word where there is one and it gives a plan, else by rule. What was wrong with the
/// router's word is among what is missing.
///
/// # Errors
/// There is no role, or the manifests of the chosen ones say that they wait for each other.
pub fn plan(request: &Request<'_>, router: Option<&dyn Router>) -> Result<Plan, PlanError> {
    let mut by_rule = rules::plan(request.prompt, request.roles, request.review_edits).ok_or(PlanError::NoRole)?;
    if request.continues {
        by_rule.clarification = None;
    }
    let Some(router) = router else { return built(request, by_rule, BY_RULE) };
    let why = match routed(request, router, &by_rule) {
        Ok(plan) => return Ok(plan),
        Err(why) => why,
    };
    by_rule.missing.push(format!("the router gave no plan, so that the rules did: {why}"));
    built(request, by_rule, BY_RULE)
}

fn routed(request: &Request<'_>, router: &dyn Router, by_rule: &Draft) -> Result<Plan, String> {
    let limits = request.mode.plan_limits(request.config.max_parallel);
    let reply = router.route(&RouterPrompt::new(request, limits)).map_err(|error| error.to_string())?;
    let allowed: Vec<RoleName> = request.roles.iter().map(|role| role.name.clone()).collect();
    let draft = decision::read(&reply, request.prompt, by_rule, limits, &allowed).map_err(|error| error.to_string())?;
    built(request, draft, BY_ROUTER).map_err(|error| error.to_string())
}

/// The plan that calls one role by name.
pub fn of_one(prompt: &str, role: &Manifest, config: &Config) -> Plan {
    let draft = Draft {
        primary: Some(role.name.clone()),
        reason: "the operator called it by name".into(),
        todos: vec![crate::draft::DraftTodo {
            id: "answer".into(),
            title: "answer".into(),
            role: role.name.clone(),
            reason: None,
        }],
        workers: vec![DraftWorker {
            role: role.name.clone(),
            goal: None,
            reason: "the operator called it by name".into(),
            todo_ids: vec!["answer".into()],
        }],
        ..Draft::default()
    };
    let roles = [role];
    let request = Request { prompt, roles: &roles, config, mode: Mode::Auto, review_edits: false, continues: true };
    assemble(&request, draft, BY_OPERATOR, &role.name, Vec::new())
}

/// Adds the review that a change needs, and puts the tasks in order.
fn built(request: &Request<'_>, mut draft: Draft, source: &str) -> Result<Plan, PlanError> {
    let primary = draft.primary.clone().ok_or(PlanError::NoRole)?;
    if primary.as_str() == REVIEW {
        draft.requires_review = false;
    }
    let reviewer = request.roles.iter().find(|role| role.name.as_str() == REVIEW);
    if draft.requires_review {
        match reviewer {
            Some(role) if !draft.workers.iter().any(|worker| worker.role == role.name) => {
                draft.workers.push(DraftWorker {
                    role: role.name.clone(),
                    goal: Some(REVIEW_GOAL.into()),
                    reason: "a change of files has to be reviewed".into(),
                    todo_ids: vec![todo_id(REVIEW)],
                });
                draft.todos.push(crate::draft::DraftTodo {
                    id: todo_id(REVIEW),
                    title: rules::title(REVIEW),
                    role: role.name.clone(),
                    reason: Some("a change of files has to be reviewed".into()),
                });
            }
            Some(_) => {}
            None => {
                draft.requires_review = false;
                draft.missing.push("a change has to be reviewed, and the role `review` is not installed".into());
            }
        }
    }
    let ordered = order(&draft, request.prompt, &primary);
    let after = waits(&ordered)?;
    Ok(assembled(request, draft, source, ordered, after))
}

/// The goal of a review that no planner asked for.
const REVIEW_GOAL: &str =
    "Review the change: is it correct, does it break anything, what is not verified, and is it safe?";

fn assemble(request: &Request<'_>, draft: Draft, source: &str, primary: &RoleName, after: Vec<Vec<RoleName>>) -> Plan {
    let ordered = order(&draft, request.prompt, primary);
    assembled(request, draft, source, ordered, after)
}

fn assembled(
    request: &Request<'_>,
    draft: Draft,
    source: &str,
    ordered: crate::todos::Ordered,
    after: Vec<Vec<RoleName>>,
) -> Plan {
    let mut after = after.into_iter();
    let workers = ordered.owners.into_iter().map(|owner| {
        let role = request.roles.iter().find(|role| role.name == owner.role);
        WorkerPlan {
            role: owner.role,
            phase: owner.phase,
            goal: owner.goal,
            reason: owner.reason,
            todo_ids: owner.todo_ids,
            after: after.next().unwrap_or_default(),
            reads: role.map(|role| role.files.read.clone()).unwrap_or_default(),
            writes: role.map(|role| role.files.write.clone()).unwrap_or_default(),
            write_grant: role
                .map(|role| EffectiveGrant::new(role, request.config).write_layers().to_vec())
                .unwrap_or_default(),
        }
    });
    Plan {
        request: request.prompt.to_owned(),
        source: source.into(),
        mode: request.mode,
        reason: draft.reason,
        confidence: draft.confidence,
        limits: request.mode.plan_limits(request.config.max_parallel),
        workers: in_turn(workers.collect()),
        todos: ordered.todos,
        dependencies: ordered.dependencies,
        requires_review: draft.requires_review,
        clarification: draft.clarification,
        missing: draft.missing,
    }
}

/// Workers in an order in which each comes after those that it waits for; otherwise as they were.
fn in_turn(mut left: Vec<WorkerPlan>) -> Vec<WorkerPlan> {
    let mut turn: Vec<WorkerPlan> = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let came = |role: &RoleName| turn.iter().any(|worker| worker.role == *role);
        // There is no cycle; if there were one, its workers would stay in their order.
        let next = left.iter().position(|worker| worker.after.iter().all(came)).unwrap_or(0);
        turn.push(left.remove(next));
    }
    turn
}

impl Plan {
    /// The workers of one phase, each with its place among all.
    pub fn of(&self, phase: PlanPhase) -> impl Iterator<Item = (usize, &WorkerPlan)> {
        self.workers.iter().enumerate().filter(move |(_, worker)| worker.phase == phase)
    }

    /// The worker that answers; none only in a plan that was made by hand.
    pub fn primary(&self) -> Option<&WorkerPlan> {
        self.of(PlanPhase::Primary).map(|(_, worker)| worker).next()
    }

    /// The tasks of a worker.
    pub fn todos_of<'a>(&'a self, worker: &'a WorkerPlan) -> impl Iterator<Item = &'a TodoItem> {
        self.todos.iter().filter(|todo| worker.todo_ids.contains(&todo.id))
    }

    /// The plan as the journal keeps it.
    pub fn record(&self) -> Option<RunPlan> {
        let primary = self.primary()?;
        let worker = |worker: &WorkerPlan| PlannedWorker {
            role: worker.role.clone(),
            phase: worker.phase.into(),
            goal: worker.goal.clone(),
            reason: worker.reason.clone(),
            todo_ids: worker.todo_ids.clone(),
        };
        Some(RunPlan {
            primary_role: primary.role.clone(),
            workers: self.workers.iter().map(worker).collect(),
            requires_review: self.requires_review,
            reason: self.reason.clone(),
            source: self.source.clone(),
        })
    }
}
