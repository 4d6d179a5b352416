//! A plan before its tasks and edges are put in order: what the rules or a planner's reply say.

use brain_packet::RoleName;

use crate::clarify::Clarification;

/// What was chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Draft {
    /// The role that answers; among the workers as well.
    pub primary: Option<RoleName>,
    pub workers: Vec<DraftWorker>,
    pub todos: Vec<DraftTodo>,
    pub edges: Vec<Edge>,
    /// The change has to be reviewed.
    pub requires_review: bool,
    /// Why these.
    pub reason: String,
    pub confidence: Option<f64>,
    pub clarification: Option<Clarification>,
    /// What the request calls for and this run cannot do, in words.
    pub missing: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DraftWorker {
    pub role: RoleName,
    /// The request itself where there is none.
    pub goal: Option<String>,
    pub reason: String,
    /// Raw ids of tasks.
    pub todo_ids: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DraftTodo {
    /// As it was given; may be empty.
    pub id: String,
    pub title: String,
    pub role: RoleName,
    pub reason: Option<String>,
}

/// One task waits for another, by the ids as they were given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Edge {
    pub from: String,
    pub to: String,
    pub reason: Option<String>,
}
