//! Planning by a model's word: what it is asked, and the trait behind which the model is.

use std::fmt::Write as _;

use crate::mode::PlanLimits;
use crate::plan::Request;

/// Something that answers a planner's prompt, such as a model.
pub trait Router {
    /// The reply to a prompt, as text: nothing of it is believed before it was read as a plan.
    ///
    /// # Errors
    /// There is no reply.
    fn route(&self, prompt: &RouterPrompt) -> Result<String, RouterError>;
}

/// Why there is no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RouterError(pub String);

/// What a planner is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterPrompt {
    /// Its standing orders.
    pub system: String,
    /// The request, with what may be decided about it.
    pub user: String,
}

const SYSTEM: &str = "\
You plan the work of a team of isolated roles. You choose who works on a request; you never work on it yourself and call no tool.
Each role works alone: it sees its own task, the files that it is granted, and the results of the roles that you say it comes after.
Answer with one JSON object and nothing else.";

const SCHEMA: &str = r#"{"role": "the one role that answers",
 "workers": [{"role": "…", "goal": "what it is to achieve", "reason": "why it takes part", "todoIds": ["…"]}],
 "todos": [{"id": "lower-case-id", "title": "…", "role": "…", "reason": "…"}],
 "dependencies": [{"from": "todo that comes first", "to": "todo that waits", "reason": "…"}],
 "clarification": {"required": true, "reason": "…", "question": "…", "missing": ["…"], "options": [{"id": "…", "label": "…", "description": "…"}]},
 "confidence": 0.8, "reason": "why this plan"}"#;

impl RouterPrompt {
    pub(crate) fn new(request: &Request<'_>, limits: PlanLimits) -> Self {
        let mut user = String::from("Plan this request.\n\nRoles, and what each does:\n");
        for role in request.roles {
            let edits = if role.files.write.is_empty() { "" } else { " (may propose changes of files)" };
            // Writing to a string does not fail.
            let _ = writeln!(user, "- {}: {}{edits}", role.name, role.description);
        }
        let PlanLimits { max_todos, max_workers, max_parallel } = limits;
        let _ = write!(
            user,
            "\nMode: {}. At most {max_workers} workers with the one that answers among them, at most {max_todos} todos, \
             {max_parallel} workers side by side.\n\n\
             Rules:\n\
             - First of all: where the request names no file, symptom or goal, ask back, with two or three options in the \
             request's language. Leave `clarification` out otherwise.\n\
             - Exactly one role answers. Others take part only where their part is needed.\n\
             - A dependency only where a task needs the result of another. No cycles.\n\
             - No role that is not listed; no model names. Ids in lower case. `confidence` from 0 to 1.\n\n\
             Form of the answer:\n{SCHEMA}\n\nUser prompt:\n{}\n",
            request.mode.as_str(),
            request.prompt
        );
        Self { system: SYSTEM.into(), user }
    }
}
