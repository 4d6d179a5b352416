//! References in the journal's own form.
//!
//! A packet's references are guest paths, which mean nothing once the role has returned. The journal keeps what they meant:
//!
//! | in a packet | in the journal |
//! |---|---|
//! | `/workspace/src/a.rs` | `file:src/a.rs`, relative to the project |
//! | `/context/changes.diff` | `context:changes.diff`, what the handoff granted |
//! | `/artifacts/report.md` | `artifact:<sha256>`, below the session's `artifacts` folder |
//! | anything else | `unknown:` and the text, for the reader alone: nothing resolves it |

use std::collections::BTreeMap;
use std::fmt;

use brain_packet::context::{ARTIFACTS_ROOT, CONTEXT_ROOT, WORKSPACE_ROOT};
use brain_packet::message::MessageBody;
use brain_packet::{AgentMessage, BrainTaskContext, ContextRef, HandoffPacket, WorkerResult};
use serde_json::Value;

use crate::cut::limit_depth;
use crate::record::Record;

const FILE: &str = "file:";
const CONTEXT: &str = "context:";
const ARTIFACT: &str = "artifact:";
const UNKNOWN: &str = "unknown:";

/// The SHA-256 of an artifact's content: 64 characters of lower-case hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArtifactDigest(String);

impl ArtifactDigest {
    /// Takes a digest as text; `None` when it is not 64 characters of `0-9a-f`.
    #[must_use]
    pub fn new(hex: &str) -> Option<Self> {
        let sound = hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        sound.then(|| Self(hex.to_owned()))
    }

    /// The digest as text; also the name of the artifact's file in [`crate::SessionPaths::artifacts`].
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ArtifactDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Under which digest each file that one worker left in `/artifacts` was stored. One map per call: every worker has an
/// `/artifacts` of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArtifactDigests(BTreeMap<String, ArtifactDigest>);

impl ArtifactDigests {
    /// Adds a file by its path below `/artifacts` (`report.md`) or by its guest path (`/artifacts/report.md`).
    pub fn insert(&mut self, path: &str, digest: ArtifactDigest) {
        let below = path.strip_prefix(ARTIFACTS_ROOT).filter(|rest| rest.starts_with('/')).unwrap_or(path);
        if let Some(relative) = relative(below) {
            self.0.insert(relative, digest);
        }
    }

    /// The digest of a file, by its path below `/artifacts`.
    #[must_use]
    pub fn get(&self, relative: &str) -> Option<&ArtifactDigest> {
        self.0.get(relative)
    }
}

/// The journal's form of a reference's uri. A uri that has it already stays as it is.
///
/// ```
/// use brain_journal::{ArtifactDigest, ArtifactDigests, journal_uri};
/// let mut artifacts = ArtifactDigests::default();
/// let digest = ArtifactDigest::new(&"5a".repeat(32)).ok_or("not a digest")?;
/// artifacts.insert("report.md", digest.clone());
/// assert_eq!(journal_uri("/workspace/src/a.rs", &artifacts), "file:src/a.rs");
/// assert_eq!(journal_uri("/context/changes.diff", &artifacts), "context:changes.diff");
/// assert_eq!(journal_uri("/artifacts/report.md", &artifacts), format!("artifact:{digest}"));
/// assert_eq!(journal_uri("/artifacts/never-written", &artifacts), "unknown:/artifacts/never-written");
/// assert_eq!(journal_uri("/workspace/../etc/passwd", &artifacts), "unknown:/workspace/../etc/passwd");
/// # Ok::<(), &str>(())
/// ```
#[must_use]
pub fn journal_uri(uri: &str, artifacts: &ArtifactDigests) -> String {
    if is_journal_uri(uri) {
        return uri.to_owned();
    }
    let below = |root: &str| {
        let rest = uri.strip_prefix(root)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| relative(rest))?
    };
    let known = if let Some(path) = below(WORKSPACE_ROOT) {
        Some(format!("{FILE}{path}"))
    } else if let Some(path) = below(CONTEXT_ROOT) {
        Some(format!("{CONTEXT}{path}"))
    } else {
        below(ARTIFACTS_ROOT).and_then(|path| artifacts.get(&path).map(|digest| format!("{ARTIFACT}{digest}")))
    };
    known.unwrap_or_else(|| format!("{UNKNOWN}{uri}"))
}

/// Whether a uri is in the journal's form: relative to the project or the session, or marked as unknown.
#[must_use]
pub fn is_journal_uri(uri: &str) -> bool {
    let path = uri.strip_prefix(FILE).or_else(|| uri.strip_prefix(CONTEXT));
    if let Some(path) = path {
        return relative(path).as_deref() == Some(path);
    }
    if let Some(hex) = uri.strip_prefix(ARTIFACT) {
        return ArtifactDigest::new(hex).is_some();
    }
    uri.starts_with(UNKNOWN)
}

/// A path below a root, without its leading slash and without detours; `.` for the root itself. `None` when it leads out.
fn relative(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.strip_prefix('/').unwrap_or(path).split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(if parts.is_empty() { ".".to_owned() } else { parts.join("/") })
}

/// A reference with its uri in the journal's form.
#[must_use]
pub fn journal_ref(mut reference: ContextRef, artifacts: &ArtifactDigests) -> ContextRef {
    reference.uri = journal_uri(&reference.uri, artifacts);
    reference
}

/// A handoff with its references in the journal's form.
#[must_use]
pub fn journal_handoff(mut handoff: HandoffPacket, artifacts: &ArtifactDigests) -> HandoffPacket {
    rewrite(&mut handoff.task.context_refs, artifacts);
    handoff
}

/// A result with its references in the journal's form.
#[must_use]
pub fn journal_result(mut result: WorkerResult, artifacts: &ArtifactDigests) -> WorkerResult {
    rewrite(&mut result.artifacts, artifacts);
    result
}

/// A message with the references of its envelope and its payload in the journal's form.
#[must_use]
pub fn journal_message(mut message: AgentMessage, artifacts: &ArtifactDigests) -> AgentMessage {
    rewrite(&mut message.context_refs, artifacts);
    match &mut message.body {
        MessageBody::Handoff(handoff) => rewrite(&mut handoff.task.context_refs, artifacts),
        MessageBody::Result(result) | MessageBody::Error(result) => rewrite(&mut result.artifacts, artifacts),
        MessageBody::Question(value) | MessageBody::Fact(value) | MessageBody::Artifact(value) => {
            journal_value(value, artifacts);
        }
    }
    message
}

/// Brain's own task with its references in the journal's form.
#[must_use]
pub fn journal_context(mut context: BrainTaskContext, artifacts: &ArtifactDigests) -> BrainTaskContext {
    rewrite(&mut context.context_refs, artifacts);
    context
}

/// Brings every reference inside a free-form value into the journal's form: every object with a text `uri` and a `kind`
/// that a reference can have. Also bounds how deep the value nests (see [`crate::MAX_VALUE_DEPTH`]).
pub fn journal_value(value: &mut Value, artifacts: &ArtifactDigests) {
    limit_depth(value);
    rewrite_value(value, artifacts);
}

fn rewrite(references: &mut [ContextRef], artifacts: &ArtifactDigests) {
    for reference in references {
        reference.uri = journal_uri(&reference.uri, artifacts);
    }
}

fn rewrite_value(value: &mut Value, artifacts: &ArtifactDigests) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| rewrite_value(item, artifacts)),
        Value::Object(fields) => {
            let kind = fields.get("kind").and_then(Value::as_str);
            let is_reference = matches!(kind, Some("file" | "thread" | "summary" | "artifact"));
            if is_reference && let Some(Value::String(uri)) = fields.get_mut("uri") {
                *uri = journal_uri(uri, artifacts);
            }
            fields.iter_mut().for_each(|(_, field)| rewrite_value(field, artifacts));
        }
        _ => {}
    }
}

impl Record {
    /// The record as the journal keeps it: references in the journal's form, free-form values no deeper than
    /// [`crate::MAX_VALUE_DEPTH`]. [`crate::Journal::append_with`] does this to every record.
    #[must_use]
    pub fn into_journal_form(mut self, artifacts: &ArtifactDigests) -> Self {
        match &mut self {
            Self::ContextPlan { context } => rewrite(&mut context.context_refs, artifacts),
            Self::AgentMessage { message, .. } => *message = journal_message(message.clone(), artifacts),
            Self::WorkerEnd { result, receipt, .. } => {
                result.iter_mut().for_each(|result| rewrite(&mut result.artifacts, artifacts));
                journal_value(receipt, artifacts);
            }
            Self::RunEnd(end) => {
                end.worker_results.iter_mut().for_each(|result| rewrite(&mut result.artifacts, artifacts));
                journal_value(&mut end.final_report, artifacts);
            }
            Self::McpConnect(connect) => journal_value(&mut connect.report, artifacts),
            Self::RoleReceipt { receipt, .. } => journal_value(receipt, artifacts),
            Self::FinalReport { final_report, .. } => journal_value(final_report, artifacts),
            // The others have neither references nor free-form values without bounds of their own.
            _ => {}
        }
        self
    }
}
