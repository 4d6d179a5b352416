//! Records of the system that Brain's journal comes from, in Brain's own shapes. What Brain writes never comes here: only what
//! does not read as it stands.
//!
//! The differences: a `run_start` has the whole runtime plan, roles are in camel case, a handoff stands where Brain has its ids,
//! a reviewer's verdict stands in `reviewDecision`, and an unknown word for a status has a meaning.

use brain_packet::RoleName;
use serde_json::{Map, Value, json};

use crate::record::Record;

/// Whether a record that did read lost something of a seed's line.
pub(crate) fn is_partial(record: &Record, text: &str) -> bool {
    match record {
        Record::WorkerStart { handoff_id: None, .. } | Record::WorkerError { handoff_id: None, .. } => {
            text.contains("\"handoff\"")
        }
        Record::WorkerEnd { result: Some(result), .. } => {
            result.review.is_none() && text.contains("\"reviewDecision\"")
        }
        _ => false,
    }
}

/// The record that a line of the seed is; `None` when it is none.
pub(crate) fn adapt(text: &str) -> Option<Record> {
    let mut value: Value = serde_json::from_str(text).ok()?;
    roles(&mut value);
    let record = value.as_object_mut()?;
    match record.get("type")?.as_str()? {
        "run_start" => run_start(record),
        "run_end" => {
            for result in record.get_mut("workerResults").and_then(Value::as_array_mut).into_iter().flatten() {
                worker_result(result);
            }
            drop_unless_object(record, &["patch", "checks", "reviewDecision"]);
        }
        "run_error" => words(record, "error"),
        "context_plan" => {
            if let Some(context) = record.get_mut("context") {
                references(context.get_mut("contextRefs"));
                progress(context, "pending");
            }
        }
        "todo_plan" => todos(record.get_mut("todos")),
        "todo_update" => {
            status(record, "pending");
            todos(record.get_mut("todos"));
        }
        "agent_message" => message(record.get_mut("message")?),
        "worker_start" | "worker_error" => {
            if let Some(handoff) = record.remove("handoff") {
                let ids = [("handoffId", handoff.get("id")), ("taskId", handoff.pointer("/task/id"))];
                for (name, id) in ids {
                    if let Some(id) = id {
                        record.entry(name).or_insert_with(|| id.clone());
                    }
                }
            }
            if record.get("type").and_then(Value::as_str) == Some("worker_error") {
                words(record, "error");
            }
        }
        "worker_end" => {
            if let Some(result) = record.get_mut("result") {
                worker_result(result);
            }
        }
        _ => {}
    }
    serde_json::from_value(value).ok()
}

/// Role names in the seed's camel case, wherever a role is named.
fn roles(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(roles),
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                match (name.as_str(), &mut *field) {
                    ("role" | "worker" | "primaryRole" | "agentRole" | "from" | "to", Value::String(role)) => {
                        *role = role_name(role);
                    }
                    _ => roles(field),
                }
            }
        }
        _ => {}
    }
}

/// `imageMaker` is `image-maker`.
fn role_name(role: &str) -> String {
    if RoleName::new(role).is_ok() {
        return role.to_owned();
    }
    let mut name = String::with_capacity(role.len() + 2);
    for c in role.chars() {
        match c {
            'A'..='Z' => {
                if !name.is_empty() {
                    name.push('-');
                }
                name.push(c.to_ascii_lowercase());
            }
            'a'..='z' | '0'..='9' => name.push(c),
            _ => name.push('-'),
        }
    }
    name
}

fn run_start(record: &mut Map<String, Value>) {
    if let Some(plan) = record.remove("plan")
        && let Some(plan) = run_plan(&plan)
    {
        record.insert("plan".into(), plan);
    }
    drop_unless_object(record, &["projectSupport"]);
    let has_root = |support: &Value| support.get("root").is_some_and(Value::is_string);
    if !record.get("projectSupport").is_some_and(has_root) {
        record.remove("projectSupport");
    }
    if let Some(Value::Object(support)) = record.get_mut("projectSupport") {
        support_files(support);
        if let Some(Value::Object(user)) = support.get_mut("user") {
            support_files(user);
        }
        drop_unless_object(support, &["user"]);
    }
}

fn support_files(support: &mut Map<String, Value>) {
    if let Some(agents) = support.get_mut("agents")
        && let Some(path) = agents.as_str()
    {
        *agents = json!({ "path": path });
    }
    drop_unless_object(support, &["agents", "mcp"]);
    if !support.get("skills").is_some_and(Value::is_array) {
        support.remove("skills");
    }
}

/// A plan of Brain's out of a runtime plan.
fn run_plan(plan: &Value) -> Option<Value> {
    let first = |paths: &[&str]| paths.iter().find_map(|path| plan.pointer(path)).cloned();
    let primary = first(&["/primaryRole", "/agentPlan/primaryRole", "/role"])?;
    let requires_review = first(&["/requiresReview", "/agentPlan/requiresReview"]).unwrap_or(json!(false));
    let planned = first(&["/workers", "/agentPlan/workers"]).unwrap_or(json!([]));
    let workers: Vec<Value> = planned
        .as_array()?
        .iter()
        .filter_map(|worker| {
            let role = worker.get("role")?.as_str()?;
            let phase = worker.get("phase").and_then(Value::as_str).unwrap_or_else(|| {
                if primary.as_str() == Some(role) {
                    "primary"
                } else if role == "review" {
                    "review"
                } else {
                    "support"
                }
            });
            let text = |name: &str| worker.get(name).and_then(Value::as_str).unwrap_or_default();
            let todo_ids = worker.get("todoIds").filter(|ids| ids.is_array()).cloned().unwrap_or(json!([]));
            Some(json!({
                "role": role, "phase": phase, "goal": text("goal"), "reason": text("reason"), "todoIds": todo_ids,
            }))
        })
        .collect();
    let text = |paths: &[&str]| first(paths).filter(Value::is_string).unwrap_or(json!(""));
    Some(json!({
        "primaryRole": primary,
        "workers": workers,
        "requiresReview": requires_review,
        "reason": text(&["/reason", "/agentPlan/reason", "/routing/reason"]),
        "source": text(&["/source", "/routing/source"]),
    }))
}

fn message(message: &mut Value) {
    references(message.get_mut("contextRefs"));
    if let Some(payload) = message.get_mut("payload") {
        if let Some(task) = payload.get_mut("task") {
            references(task.get_mut("contextRefs"));
            progress(task, "pending");
        } else if payload.get("handoffId").is_some() {
            worker_result(payload);
        }
    }
}

fn worker_result(result: &mut Value) {
    progress(result, "completed");
    references(result.get_mut("artifacts"));
    let Some(fields) = result.as_object_mut() else { return };
    for list in ["artifacts", "risks", "nextQuestions"] {
        fields.entry(list).or_insert(json!([]));
    }
    if let Some(Value::Object(mut review)) = fields.remove("reviewDecision") {
        let known = matches!(
            review.get("decision").and_then(Value::as_str),
            Some("approved" | "changes_requested" | "blocked")
        );
        if !known {
            review.insert("decision".into(), json!("blocked"));
        }
        review.entry("rationale").or_insert(json!(""));
        if let Some(findings) = review.remove("findings") {
            fields.entry("findings").or_insert(findings);
        }
        fields.entry("review").or_insert(Value::Object(review));
    }
}

fn progress(of: &mut Value, fallback: &str) {
    if let Some(Value::Object(progress)) = of.get_mut("progress") {
        progress.retain(|name, _| {
            matches!(name.as_str(), "status" | "summary" | "currentStep" | "completedSteps" | "percent")
        });
        status(progress, fallback);
    }
}

fn todos(todos: Option<&mut Value>) {
    for todo in todos.and_then(Value::as_array_mut).into_iter().flatten() {
        if let Value::Object(todo) = todo {
            status(todo, "pending");
        }
    }
}

fn status(fields: &mut Map<String, Value>, fallback: &str) {
    let word = fields.get("status").and_then(Value::as_str);
    if !matches!(word, Some("pending" | "running" | "completed" | "blocked" | "failed")) {
        fields.insert("status".into(), json!(fallback));
    }
}

fn references(references: Option<&mut Value>) {
    for reference in references.and_then(Value::as_array_mut).into_iter().flatten() {
        if let Value::Object(reference) = reference {
            reference.retain(|name, _| matches!(name.as_str(), "kind" | "uri" | "label"));
        }
    }
}

/// An error in words, whatever it is.
fn words(record: &mut Map<String, Value>, name: &str) {
    let words = match record.get(name) {
        Some(Value::String(_)) => return,
        None | Some(Value::Null) => "(no error recorded)".to_owned(),
        Some(other) => match other.get("message").and_then(Value::as_str) {
            Some(message) => message.to_owned(),
            None => other.to_string(),
        },
    };
    record.insert(name.into(), Value::from(words));
}

fn drop_unless_object(fields: &mut Map<String, Value>, names: &[&str]) {
    for name in names {
        if !fields.get(*name).is_some_and(Value::is_object) {
            fields.remove(*name);
        }
    }
}
