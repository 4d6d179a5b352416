//! A plan as a planner's reply gives it, made sound: what it leaves out comes from the plan by rule, and what it cannot
//! decide is not taken from it.
//!
//! - Only roles that are installed take part; a primary that is not is the rules' primary.
//! - The list of workers is cut to what the mode allows, and the primary is always in it.
//! - Tasks of roles that do not take part are the primary's.
//! - **Whether a change is reviewed is never the planner's decision**: it is the rules'.

use brain_packet::RoleName;
use serde_json::{Map, Value};

use crate::clarify;
use crate::draft::{Draft, DraftTodo, DraftWorker, Edge};
use crate::mode::PlanLimits;
use crate::reply::{list, text};

/// Bytes of a reply that are looked at.
pub const MAX_REPLY_BYTES: usize = 256 << 10;
/// Characters of one goal, title or reason in a reply.
const MAX_CHARS: usize = 4_000;

/// Why a reply is no plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// It is longer than a plan can be.
    #[error("the reply has more than {MAX_REPLY_BYTES} bytes")]
    TooLong,
    /// There is no JSON object in it.
    #[error("the reply holds no JSON object")]
    NoObject,
}

/// The plan in `reply`. `by_rule` is the plan by rule for the same request.
pub(crate) fn read(
    reply: &str,
    request: &str,
    by_rule: &Draft,
    limits: PlanLimits,
    allowed: &[RoleName],
) -> Result<Draft, ReplyError> {
    if reply.len() > MAX_REPLY_BYTES {
        return Err(ReplyError::TooLong);
    }
    let object = brain_packet::normalise::json_object(reply).ok_or(ReplyError::NoObject)?;
    let role = |value: Option<&Value>| {
        let name = text(value)?;
        allowed.iter().find(|role| role.as_str() == name).cloned()
    };
    let primary = role(object.get("role")).or_else(|| by_rule.primary.clone());
    let mut workers = workers(&object, by_rule, role);
    if let Some(primary) = &primary {
        if !workers.iter().any(|worker| worker.role == *primary) {
            workers.insert(0, worker(primary, None, by_rule));
        }
        cut(&mut workers, limits.max_workers.max(1), primary, by_rule);
    }
    let takes_part = |role: &RoleName| workers.iter().any(|worker| worker.role == *role);
    let todos = list(object.get("todos")).iter().take(limits.max_todos).filter_map(|item| {
        let item = item.as_object()?;
        let title = ["title", "task", "goal"].iter().find_map(|key| text(item.get(*key)))?;
        let owner = role(item.get("role")).filter(takes_part).or_else(|| primary.clone())?;
        Some(DraftTodo {
            id: text(item.get("id")).unwrap_or_default(),
            title: clip(title),
            role: owner,
            reason: text(item.get("reason")).map(clip),
        })
    });
    let todos: Vec<DraftTodo> = todos.collect();
    let edges = list(object.get("dependencies")).iter().take(limits.max_todos * limits.max_todos);
    let edges = edges.filter_map(|item| {
        let item = item.as_object()?;
        let end = |keys: [&str; 2]| keys.iter().find_map(|key| text(item.get(*key)));
        let (from, to) = (end(["from", "fromTodoId"])?, end(["to", "toTodoId"])?);
        (from != to).then(|| Edge { from, to, reason: text(item.get("reason")).map(clip) })
    });
    Ok(Draft {
        edges: edges.collect(),
        todos,
        workers,
        primary,
        requires_review: by_rule.requires_review,
        reason: text(object.get("reason")).map_or_else(|| "the planner gave no reason".into(), clip),
        confidence: object
            .get("confidence")
            .and_then(Value::as_f64)
            .filter(|c| c.is_finite())
            .map(|c| c.clamp(0.0, 1.0)),
        clarification: clarify::from_reply(object.get("clarification"), request)
            .or_else(|| by_rule.clarification.clone()),
        missing: by_rule.missing.clone(),
    })
}

/// The workers of the reply, one for each role: the last that is said of a role, at the place of the first.
fn workers(
    object: &Map<String, Value>,
    by_rule: &Draft,
    role: impl Fn(Option<&Value>) -> Option<RoleName>,
) -> Vec<DraftWorker> {
    let mut workers: Vec<DraftWorker> = Vec::new();
    for item in list(object.get("workers")).iter().filter_map(Value::as_object) {
        let Some(name) = role(item.get("role")) else { continue };
        let said = worker(&name, Some(item), by_rule);
        match workers.iter_mut().find(|worker| worker.role == name) {
            Some(known) => *known = said,
            None => workers.push(said),
        }
    }
    workers
}

/// What the reply says of a worker; what it does not say is the rules'.
fn worker(role: &RoleName, item: Option<&Map<String, Value>>, by_rule: &Draft) -> DraftWorker {
    let known = by_rule.workers.iter().find(|worker| worker.role == *role);
    let said = |key| item.and_then(|item| text(item.get(key))).map(clip);
    let todo_ids = item.map(|item| list(item.get("todoIds"))).unwrap_or_default();
    DraftWorker {
        role: role.clone(),
        goal: said("goal").or_else(|| known.and_then(|known| known.goal.clone())),
        reason: said("reason")
            .or_else(|| known.map(|known| known.reason.clone()))
            .unwrap_or_else(|| format!("the planner chose {role}")),
        todo_ids: todo_ids.iter().filter_map(|id| text(Some(id))).collect(),
    }
}

/// Cuts the list to `most`, with the primary in it.
fn cut(workers: &mut Vec<DraftWorker>, most: usize, primary: &RoleName, by_rule: &Draft) {
    let lost = workers.iter().position(|worker| worker.role == *primary).filter(|at| *at >= most);
    let primary_worker = lost.and_then(|at| workers.get(at).cloned());
    workers.truncate(most);
    if let Some(first) = workers.first_mut().filter(|_| lost.is_some()) {
        *first = primary_worker.unwrap_or_else(|| worker(primary, None, by_rule));
    }
}

fn clip(text: String) -> String {
    if text.chars().count() <= MAX_CHARS { text } else { text.chars().take(MAX_CHARS - 1).chain(['…']).collect() }
}
