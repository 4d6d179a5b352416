//! A reply that is text: a JSON object with whatever a model put into it, or plain words.
//!
//! This turns it into a typed [`Reply`]; ranges, paths and limits are checked there, by the same rules as for a
//! component.

use serde_json::{Map, Value};

use super::{Reply, extract, failed, notes::Repairs, review};
use crate::{
    context::{ContextRef, ContextRefKind, TaskProgress, TaskStatus},
    direction::{FromAgent, ToBrain},
    handoff::HandoffPacket,
    limits::MAX_REPLY_BYTES,
    result::{CoverageStatus, Finding, ReviewCoverage, ReviewDecision, Severity, Verdict, WorkerResult},
    terminal::quoted,
};

type Object = Map<String, Value>;

/// The fields of a review, which a reviewer may also write beside the summary instead of into `review`.
const REVIEW_FIELDS: [&str; 7] =
    ["decision", "confidence", "rationale", "requiredChanges", "blockingIssues", "residualRisks", "coverage"];
/// Those of them that no other reply has: one is enough to take the reply for a review.
const REVIEW_MARKS: [&str; 3] = ["decision", "requiredChanges", "blockingIssues"];

/// The result of a worker that answered with text.
///
/// - An object, alone, in a fence or in prose, is read field by field. What is missing gets its default, what is of the
///   wrong type or unknown is dropped. A status that is none of the five counts as completed.
/// - Any other text is a completed result whose summary it is.
/// - Blank text is a failed result: there is no answer.
#[must_use]
pub fn reply_text(handoff: &HandoffPacket, reply: &str) -> WorkerResult {
    let reply = reply.trim();
    if reply.is_empty() {
        return failed(handoff, "the reply was empty", &[]);
    }
    let mut repairs = Repairs::default();
    let object = if reply.len() > MAX_REPLY_BYTES {
        let problem = format!("{} bytes, the most that is searched for JSON is {MAX_REPLY_BYTES}", reply.len());
        repairs.once("reply", problem, "its text became the summary");
        None
    } else {
        let object = extract::object(reply);
        if object.is_none() {
            repairs.once("reply", "not a JSON object", "its text became the summary");
        }
        object
    };
    let typed = match object {
        Some(object) => Reader { repairs: &mut repairs }.reply(object, reply),
        None => Reply::new(TaskStatus::Completed, reply),
    };
    typed.settle(handoff, repairs)
}

/// Reads fields of the types that they should have, and notes those that have another.
struct Reader<'a> {
    repairs: &'a mut Repairs,
}

impl Reader<'_> {
    fn reply(&mut self, mut object: Object, whole: &str) -> Reply {
        let object = &mut object;
        self.direction(object);
        let summary = self.string(object, "summary", "summary").filter(|summary| !summary.trim().is_empty());
        let summary = summary.unwrap_or_else(|| {
            self.repairs.once("summary", "missing", "the whole reply was used");
            whole.to_owned()
        });
        let progress = self.progress(object.remove("progress"));
        let reply = Reply {
            handoff_id: self.string(object, "handoffId", "handoffId"),
            task_id: self.string(object, "taskId", "taskId"),
            parent_id: self.string(object, "parentId", "parentId"),
            artifacts: self.objects(object, "artifacts", "artifacts", Self::artifact),
            risks: self.strings(object, "risks", "risks"),
            next_questions: self.strings(object, "nextQuestions", "nextQuestions"),
            findings: self.objects(object, "findings", "findings", Self::finding),
            review: self.review(object, progress.status),
            progress,
            summary,
            notes: Vec::new(),
        };
        self.rest("reply", object);
        reply
    }

    fn direction(&mut self, object: &mut Object) {
        for (field, expected) in [("fromLayer", FromAgent::VALUE), ("toLayer", ToBrain::VALUE)] {
            let said = object.remove(field).unwrap_or(Value::Null);
            if !said.is_null() && said != expected {
                self.repairs.once(field, format!("not {}", quoted(expected)), "a result goes from agent to brain");
            }
        }
    }

    fn progress(&mut self, value: Option<Value>) -> TaskProgress {
        let mut object = match value {
            Some(Value::Object(object)) => object,
            None | Some(Value::Null) => {
                self.repairs.once("progress", "missing", "counted as completed");
                return TaskProgress::new(TaskStatus::Completed);
            }
            Some(_) => {
                self.repairs.once("progress", "not an object", "counted as completed");
                return TaskProgress::new(TaskStatus::Completed);
            }
        };
        let object = &mut object;
        let status = self.string(object, "status", "progress.status");
        let status = match status.as_deref().map(|said| said.trim().to_ascii_lowercase()).as_deref() {
            Some("pending") => TaskStatus::Pending,
            Some("running") => TaskStatus::Running,
            Some("completed") => TaskStatus::Completed,
            Some("blocked") => TaskStatus::Blocked,
            Some("failed") => TaskStatus::Failed,
            Some(other) => {
                self.repairs.once("progress.status", format!("{} is unknown", quoted(other)), "counted as completed");
                TaskStatus::Completed
            }
            None => {
                self.repairs.once("progress.status", "missing", "counted as completed");
                TaskStatus::Completed
            }
        };
        let progress = TaskProgress {
            status,
            summary: self.string(object, "summary", "progress.summary"),
            current_step: self.string(object, "currentStep", "progress.currentStep"),
            completed_steps: self.strings(object, "completedSteps", "progress.completedSteps"),
            percent: self.number(object, "percent", "progress.percent"),
        };
        self.rest("progress", object);
        progress
    }

    fn artifact(&mut self, object: &mut Object) -> Option<ContextRef> {
        let kind = match object.remove("kind").as_ref().and_then(Value::as_str).map(str::trim) {
            Some("file") => ContextRefKind::File,
            Some("thread") => ContextRefKind::Thread,
            Some("summary") => ContextRefKind::Summary,
            Some("artifact") => ContextRefKind::Artifact,
            _ => {
                self.repairs.item("artifacts", "kind missing or unknown", "dropped");
                return None;
            }
        };
        let label = self.item_string(object, "label", "artifacts.label");
        let Some(uri) = self.item_string(object, "uri", "artifacts.uri") else {
            self.repairs.item("artifacts", "without a uri", "dropped");
            return None;
        };
        Some(ContextRef { kind, uri: uri.trim().to_owned(), label })
    }

    fn finding(&mut self, object: &mut Object) -> Option<Finding> {
        let severity = self.item_string(object, "severity", "findings.severity");
        let severity = match severity.map(|said| said.trim().to_ascii_lowercase()).as_deref() {
            Some("low") => Severity::Low,
            Some("medium") => Severity::Medium,
            Some("high") => Severity::High,
            _ => {
                self.repairs.item("findings.severity", "missing or unknown", "set to medium");
                Severity::Medium
            }
        };
        Some(Finding {
            severity,
            rule: self.item_string(object, "rule", "findings.rule"),
            issue: self.item_string(object, "issue", "findings.issue").unwrap_or_default(),
            file: self.item_string(object, "file", "findings.file").map(|file| file.trim().to_owned()),
            line: self.line(object.remove("line")),
            evidence: self.item_string(object, "evidence", "findings.evidence"),
            suggestion: self.item_string(object, "suggestion", "findings.suggestion"),
        })
    }

    fn line(&mut self, value: Option<Value>) -> Option<u32> {
        let value = value.filter(|value| !value.is_null())?;
        // JSON has one kind of number, so a whole one may arrive as `12.0`.
        let whole = value.as_u64().or_else(|| {
            let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
            (0.0..=f64::from(u32::MAX)).contains(&number).then_some(number as u64)
        });
        let line = whole.and_then(|whole| u32::try_from(whole).ok());
        if line.is_none() {
            self.repairs.item("findings.line", "not a line number", "dropped");
        }
        line
    }

    /// The review, from `review` or from fields beside the summary. A reply that is a review and does not decide is not
    /// approved.
    fn review(&mut self, object: &mut Object, status: TaskStatus) -> Option<ReviewDecision> {
        let mut fields = match object.remove("review") {
            Some(Value::Object(fields)) => fields,
            Some(Value::Null) | None => {
                if !REVIEW_MARKS.iter().any(|mark| object.contains_key(*mark)) {
                    return None;
                }
                REVIEW_FIELDS.iter().filter_map(|name| object.remove_entry(*name)).collect()
            }
            Some(_) => {
                self.repairs.once("review", "not an object", "dropped");
                Object::new()
            }
        };
        let fields = &mut fields;
        let mut required_changes = self.strings(fields, "requiredChanges", "review.requiredChanges");
        let said = fields.remove("decision").unwrap_or(Value::Null);
        let decision = match said.as_str() {
            Some("approved") => Verdict::Approved,
            Some("changes_requested") => Verdict::ChangesRequested,
            Some("blocked") => Verdict::Blocked,
            _ => {
                let problem = match &said {
                    Value::Null => "missing".to_owned(),
                    Value::String(other) => format!("{} is unknown", quoted(other)),
                    _ => "not a string".to_owned(),
                };
                self.repairs.once("review.decision", problem, "counted as not approved");
                required_changes.insert(0, review::NO_DECISION.to_owned());
                review::undecided_verdict(status)
            }
        };
        let decision = ReviewDecision {
            decision,
            confidence: self.number(fields, "confidence", "review.confidence"),
            rationale: self.string(fields, "rationale", "review.rationale").unwrap_or_default(),
            required_changes,
            blocking_issues: self.strings(fields, "blockingIssues", "review.blockingIssues"),
            residual_risks: self.strings(fields, "residualRisks", "review.residualRisks"),
            coverage: self.objects(fields, "coverage", "review.coverage", Self::coverage),
        };
        self.rest("review", fields);
        Some(decision)
    }

    fn coverage(&mut self, object: &mut Object) -> Option<ReviewCoverage> {
        let status = match object.remove("status").as_ref().and_then(Value::as_str).map(str::trim) {
            Some("skipped") => CoverageStatus::Skipped,
            Some("partially_inspected") => CoverageStatus::PartiallyInspected,
            Some("inspected") => CoverageStatus::Inspected,
            _ => {
                self.repairs.item("review.coverage", "status missing or unknown", "dropped");
                return None;
            }
        };
        let reason = self.item_string(object, "reason", "review.coverage.reason");
        let Some(file) = self.item_string(object, "file", "review.coverage.file") else {
            self.repairs.item("review.coverage", "without a file", "dropped");
            return None;
        };
        Some(ReviewCoverage { file: file.trim().to_owned(), status, reason })
    }

    fn string(&mut self, object: &mut Object, name: &str, field: &'static str) -> Option<String> {
        match object.remove(name) {
            Some(Value::String(text)) => Some(text),
            Some(Value::Null) | None => None,
            Some(_) => {
                self.repairs.once(field, "not a string", "dropped");
                None
            }
        }
    }

    fn item_string(&mut self, object: &mut Object, name: &str, field: &'static str) -> Option<String> {
        match object.remove(name) {
            Some(Value::String(text)) => Some(text),
            Some(Value::Null) | None => None,
            Some(_) => {
                self.repairs.item(field, "not a string", "dropped");
                None
            }
        }
    }

    fn number(&mut self, object: &mut Object, name: &str, field: &'static str) -> Option<f64> {
        let value = object.remove(name).filter(|value| !value.is_null())?;
        if value.as_f64().is_none() {
            self.repairs.once(field, "not a number", "dropped");
        }
        value.as_f64()
    }

    fn list(&mut self, object: &mut Object, name: &str, field: &'static str) -> Vec<Value> {
        match object.remove(name) {
            Some(Value::Array(items)) => items,
            Some(Value::Null) | None => Vec::new(),
            Some(_) => {
                self.repairs.once(field, "not a list", "dropped");
                Vec::new()
            }
        }
    }

    fn strings(&mut self, object: &mut Object, name: &str, field: &'static str) -> Vec<String> {
        let mut strings = Vec::new();
        for item in self.list(object, name, field) {
            match item {
                Value::String(text) => strings.push(text),
                _ => self.repairs.item(field, "not a string", "dropped"),
            }
        }
        strings
    }

    fn objects<T>(
        &mut self,
        object: &mut Object,
        name: &str,
        field: &'static str,
        read: impl Fn(&mut Self, &mut Object) -> Option<T>,
    ) -> Vec<T> {
        let mut read_items = Vec::new();
        for item in self.list(object, name, field) {
            match item {
                Value::Object(mut item) => {
                    if let Some(read_item) = read(self, &mut item) {
                        read_items.push(read_item);
                        self.rest(field, &item);
                    }
                }
                _ => self.repairs.item(field, "not an object", "dropped"),
            }
        }
        read_items
    }

    /// What nobody has taken out of the object is unknown.
    fn rest(&mut self, field: &'static str, object: &Object) {
        for name in object.keys() {
            self.repairs.unknown_field(field, name);
        }
    }
}
