//! The envelope in which the journal keeps every packet that crossed.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use crate::{
    context::{ContextRef, TaskStatus},
    handoff::HandoffPacket,
    ids::{MessageId, RoleName},
    result::WorkerResult,
};

/// One end of a message.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Party {
    /// Brain, as it hands work over.
    Brain,
    /// Brain, as it takes results in.
    Orchestrator,
    /// A worker, by its role.
    Role(RoleName),
}

impl Party {
    /// The party as text: `brain`, `orchestrator`, or the role's name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Brain => "brain",
            Self::Orchestrator => "orchestrator",
            Self::Role(role) => role.as_str(),
        }
    }

    fn is_worker(&self) -> bool {
        matches!(self, Self::Role(_))
    }
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Party {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Party {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        match name.as_str() {
            "brain" => Ok(Self::Brain),
            "orchestrator" => Ok(Self::Orchestrator),
            _ => RoleName::new(name).map(Self::Role).map_err(de::Error::custom),
        }
    }
}

impl JsonSchema for Party {
    fn schema_name() -> Cow<'static, str> {
        "Party".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "`brain`, `orchestrator`, or the name of a role" })
    }
}

/// What a message is for, by the name that it has in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MessageKind {
    /// Brain hands work over.
    Handoff,
    /// A worker answers.
    Result,
    /// Reserved.
    Question,
    /// Reserved.
    Fact,
    /// Reserved.
    Artifact,
    /// A worker answers that it failed.
    Error,
}

/// What a message carries. The kind decides the payload's type, so they cannot disagree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "payload", rename_all = "lowercase")]
pub enum MessageBody {
    /// Brain hands work over.
    Handoff(Box<HandoffPacket>),
    /// A worker answers: completed or blocked.
    Result(Box<WorkerResult>),
    /// A worker answers: failed.
    Error(Box<WorkerResult>),
    /// Reserved: never produced, and kept as it came when it is read.
    Question(Value),
    /// Reserved: never produced, and kept as it came when it is read.
    Fact(Value),
    /// Reserved: never produced, and kept as it came when it is read.
    Artifact(Value),
}

/// One message between Brain and a worker. There is none between two workers: JSON that claims one does not parse.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", try_from = "Envelope")]
pub struct AgentMessage {
    /// The message's own id.
    pub id: MessageId,
    /// What it belongs to: the session for a handoff, the handoff for a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// Who sends it.
    pub from: Party,
    /// Who it is for.
    pub to: Party,
    /// `kind` and `payload`.
    #[serde(flatten)]
    pub body: MessageBody,
    /// The references of the payload, for readers that do not look inside.
    pub context_refs: Vec<ContextRef>,
}

impl AgentMessage {
    /// Brain hands work over.
    #[must_use]
    pub fn handoff(id: MessageId, handoff: HandoffPacket) -> Self {
        Self {
            id,
            parent_id: Some(handoff.task.parent_id.to_string()),
            from: Party::Brain,
            to: Party::Role(handoff.task.agent_role.clone()),
            context_refs: handoff.task.context_refs.clone(),
            body: MessageBody::Handoff(Box::new(handoff)),
        }
    }

    /// A worker answers. Its kind is `error` when the result has failed, else `result`.
    #[must_use]
    pub fn result(id: MessageId, from: RoleName, result: WorkerResult) -> Self {
        let failed = result.progress.status == TaskStatus::Failed;
        Self {
            id,
            parent_id: Some(result.handoff_id.to_string()),
            from: Party::Role(from),
            to: Party::Orchestrator,
            context_refs: result.artifacts.clone(),
            body: if failed { MessageBody::Error(Box::new(result)) } else { MessageBody::Result(Box::new(result)) },
        }
    }

    /// What the message is for.
    #[must_use]
    pub fn kind(&self) -> MessageKind {
        match self.body {
            MessageBody::Handoff(_) => MessageKind::Handoff,
            MessageBody::Result(_) => MessageKind::Result,
            MessageBody::Error(_) => MessageKind::Error,
            MessageBody::Question(_) => MessageKind::Question,
            MessageBody::Fact(_) => MessageKind::Fact,
            MessageBody::Artifact(_) => MessageKind::Artifact,
        }
    }
}

/// A message as it is read, before its ends are compared.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    id: MessageId,
    #[serde(default)]
    parent_id: Option<String>,
    from: Party,
    to: Party,
    #[serde(flatten)]
    body: MessageBody,
    #[serde(default)]
    context_refs: Vec<ContextRef>,
}

impl TryFrom<Envelope> for AgentMessage {
    type Error = String;

    fn try_from(read: Envelope) -> Result<Self, String> {
        let Envelope { id, parent_id, from, to, body, context_refs } = read;
        let route = || format!("expected brain and one worker, found {from} to {to}");
        match (&body, from.is_worker(), to.is_worker()) {
            (_, true, true) => Err(format!("wrong direction: {}; workers have no message for each other", route())),
            (_, false, false) => Err(format!("wrong direction: {}; brain has no message for itself", route())),
            (MessageBody::Handoff(_), true, false) => {
                Err(format!("wrong direction: expected a handoff from brain to a worker, found {from} to {to}"))
            }
            (MessageBody::Result(_) | MessageBody::Error(_), false, true) => {
                Err(format!("wrong direction: expected a result from a worker to brain, found {from} to {to}"))
            }
            _ => Ok(Self { id, parent_id, from, to, body, context_refs }),
        }
    }
}
