//! Tasks and the edges between them, in order: ids that are unique, an owner for each, edges that can be kept, and no
//! cycle.

use std::collections::{BTreeMap, BTreeSet};

use brain_journal::{TodoDependency, TodoItem};
use brain_packet::{RoleName, TaskStatus};

use crate::clarify::slug;
use crate::draft::{Draft, DraftTodo, Edge};
use crate::plan::{PlanError, PlanPhase};
use crate::rules::REVIEW;

/// A worker with its tasks.
pub(crate) struct Owner {
    pub role: RoleName,
    pub phase: PlanPhase,
    pub goal: String,
    pub reason: String,
    pub todo_ids: Vec<String>,
}

/// What the tasks of a draft come to.
pub(crate) struct Ordered {
    pub owners: Vec<Owner>,
    pub todos: Vec<TodoItem>,
    pub dependencies: Vec<TodoDependency>,
}

/// Puts the tasks of a draft in order. Every worker has at least one, and every task has one worker.
pub(crate) fn order(draft: &Draft, request: &str, primary: &RoleName) -> Ordered {
    let (mut todos, known) = unique(&draft.todos);
    let mut owners: Vec<Owner> = Vec::new();
    let mut taken = BTreeSet::new();
    for worker in &draft.workers {
        let said = worker.todo_ids.iter().filter_map(|id| known.get(id.as_str()).or_else(|| known.get(&slug(id))));
        let mut ids: Vec<String> = said.filter(|id| !taken.contains(*id)).cloned().collect();
        if ids.is_empty() {
            let own = todos.iter().filter(|todo| todo.role == worker.role && !taken.contains(&todo.id));
            ids.extend(own.map(|todo| todo.id.clone()));
        }
        let goal = worker.goal.clone().unwrap_or_else(|| request.to_owned());
        if ids.is_empty() {
            let title = worker.goal.clone().unwrap_or_else(|| crate::rules::title(worker.role.as_str()));
            let todo =
                DraftTodo { id: String::new(), title, role: worker.role.clone(), reason: Some(worker.reason.clone()) };
            let id = fresh(&todo, todos.len() + 1, &todos);
            todos.push(item(&todo, id.clone()));
            ids.push(id);
        }
        ids.dedup();
        taken.extend(ids.iter().cloned());
        let phase = match worker.role.as_str() {
            _ if worker.role == *primary => PlanPhase::Primary,
            REVIEW if draft.requires_review => PlanPhase::Review,
            _ => PlanPhase::Support,
        };
        owners.push(Owner { role: worker.role.clone(), phase, goal, reason: worker.reason.clone(), todo_ids: ids });
    }
    // What nobody has taken is the primary's.
    if let Some(owner) = owners.iter_mut().find(|owner| owner.phase == PlanPhase::Primary) {
        owner.todo_ids.extend(todos.iter().filter(|todo| !taken.contains(&todo.id)).map(|todo| todo.id.clone()));
    }
    for owner in &owners {
        for todo in todos.iter_mut().filter(|todo| owner.todo_ids.contains(&todo.id)) {
            todo.role = owner.role.clone();
        }
    }
    // In the order in which they are called.
    owners.sort_by_key(|owner| owner.phase);
    let dependencies = edges(&draft.edges, &known, &owners);
    Ordered { owners, todos, dependencies }
}

/// The tasks with their final ids, and the final id for each that was given.
fn unique(drafts: &[DraftTodo]) -> (Vec<TodoItem>, BTreeMap<String, String>) {
    let (mut todos, mut known) = (Vec::new(), BTreeMap::new());
    for (n, draft) in drafts.iter().filter(|draft| !draft.title.trim().is_empty()).enumerate() {
        let id = fresh(draft, n + 1, &todos);
        for given in [draft.id.clone(), slug(&draft.id)] {
            if !given.is_empty() {
                known.entry(given).or_insert_with(|| id.clone());
            }
        }
        todos.push(item(draft, id));
    }
    (todos, known)
}

fn fresh(todo: &DraftTodo, number: usize, taken: &[TodoItem]) -> String {
    let id = slug(&todo.id);
    let id = if id.is_empty() { format!("todo-{number:02}-{}", slug(todo.role.as_str())) } else { id };
    let free = |id: &String| !taken.iter().any(|todo| todo.id == *id);
    let numbered = (2..).map(|n| format!("{id}-{n}"));
    std::iter::once(id.clone()).chain(numbered).find(free).unwrap_or(id)
}

fn item(todo: &DraftTodo, id: String) -> TodoItem {
    TodoItem {
        id,
        title: todo.title.clone(),
        role: todo.role.clone(),
        status: TaskStatus::Pending,
        reason: todo.reason.clone(),
        summary: None,
    }
}

/// The edges that can be kept, and those that follow from the phases: all support comes before the primary, and both before
/// the review, which is to see what they found.
fn edges(drafts: &[Edge], known: &BTreeMap<String, String>, owners: &[Owner]) -> Vec<TodoDependency> {
    let owner = |id: &str| owners.iter().find(|owner| owner.todo_ids.iter().any(|own| own == id));
    let mut edges: Vec<TodoDependency> = Vec::new();
    let mut add = |from: &str, to: &str, reason: Option<String>| {
        if !edges.iter().any(|edge| edge.from_todo_id == from && edge.to_todo_id == to) {
            edges.push(TodoDependency { from_todo_id: from.into(), to_todo_id: to.into(), reason });
        }
    };
    for edge in drafts {
        let find = |id: &str| known.get(id).or_else(|| known.get(&slug(id)));
        let (Some(from), Some(to)) = (find(&edge.from), find(&edge.to)) else { continue };
        let (Some(source), Some(target)) = (owner(from), owner(to)) else { continue };
        // A supporting task cannot wait for one that comes after it.
        if from != to && source.phase <= target.phase {
            add(from, to, edge.reason.clone());
        }
    }
    let of = |phase| owners.iter().filter(move |owner| owner.phase == phase).flat_map(|owner| &owner.todo_ids);
    for to in of(PlanPhase::Primary) {
        of(PlanPhase::Support).for_each(|from| add(from, to, None));
    }
    for to in of(PlanPhase::Review) {
        of(PlanPhase::Support).chain(of(PlanPhase::Primary)).for_each(|from| add(from, to, None));
    }
    edges
}

/// For each owner, the roles of those that it waits for.
///
/// # Errors
/// Some wait for each other.
pub(crate) fn waits(ordered: &Ordered) -> Result<Vec<Vec<RoleName>>, PlanError> {
    let owners = &ordered.owners;
    let owner = |id: &str| owners.iter().position(|owner| owner.todo_ids.iter().any(|own| own == id));
    let mut waits: Vec<BTreeSet<usize>> = owners.iter().map(|_| BTreeSet::new()).collect();
    for edge in &ordered.dependencies {
        if let (Some(from), Some(to)) = (owner(&edge.from_todo_id), owner(&edge.to_todo_id))
            && from != to
            && let Some(waits) = waits.get_mut(to)
        {
            waits.insert(from);
        }
    }
    if let Some(cycle) = cycle(&waits) {
        let roles = cycle.into_iter().filter_map(|at| owners.get(at)).map(|owner| owner.role.clone()).collect();
        return Err(PlanError::Cycle { roles });
    }
    let roles = |waits: BTreeSet<usize>| {
        waits.into_iter().filter_map(|at| owners.get(at)).map(|owner| owner.role.clone()).collect()
    };
    Ok(waits.into_iter().map(roles).collect())
}

/// Some that wait for each other: each for the next, and the last for the first.
fn cycle(waits: &[BTreeSet<usize>]) -> Option<Vec<usize>> {
    let mut left: BTreeSet<usize> = (0..waits.len()).collect();
    // What waits for nothing that is left can go.
    while let Some(free) = left.iter().copied().find(|at| waits.get(*at).is_none_or(|w| w.is_disjoint(&left))) {
        left.remove(&free);
    }
    let mut path = vec![*left.first()?];
    loop {
        let last = *path.last()?;
        let next = *waits.get(last)?.intersection(&left).next()?;
        if let Some(start) = path.iter().position(|at| *at == next) {
            return Some(path.split_off(start));
        }
        path.push(next);
    }
}
