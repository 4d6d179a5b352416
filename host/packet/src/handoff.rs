//! What a role is called with.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    context::AgentTaskContext,
    direction::{FromBrain, ToAgent},
    error::{PacketError, parse},
    ids::HandoffId,
    limits::{MAX_CONSTRAINT_CHARS, MAX_CONSTRAINTS, MAX_CONTEXT_REFS, MAX_GOAL_CHARS, MAX_LABEL_CHARS, MAX_URI_CHARS},
};

/// Everything that one worker is given, from Brain. What is not in here, or in a file that it refers to, does not exist
/// for the worker.
///
/// Its JSON takes no field that is not named here: there is no side door.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HandoffPacket {
    /// Always `brain`.
    pub from_layer: FromBrain,
    /// Always `agent`.
    pub to_layer: ToAgent,
    /// The packet's own id.
    pub id: HandoffId,
    /// The worker's task.
    pub task: AgentTaskContext,
    /// Hard rules for this task.
    pub constraints: Vec<String>,
    /// What the result should look like, in words.
    pub expected_result: String,
}

impl HandoffPacket {
    /// A handoff without constraints.
    #[must_use]
    pub fn new(id: HandoffId, task: AgentTaskContext, expected_result: impl Into<String>) -> Self {
        Self {
            from_layer: FromBrain,
            to_layer: ToAgent,
            id,
            task,
            constraints: Vec::new(),
            expected_result: expected_result.into(),
        }
    }

    /// Reads a handoff from its JSON.
    ///
    /// # Errors
    /// [`PacketError::Direction`] when the tags are those of another direction, [`PacketError::Json`] when it is not a
    /// handoff for another reason, [`PacketError::TooMuch`] when it is over a limit.
    pub fn from_json(json: &str) -> Result<Self, PacketError> {
        let packet: Self = parse("handoff", ("brain", "agent"), json)?;
        packet.check()?;
        Ok(packet)
    }

    /// Whether the packet is within the [limits](crate::limits). Brain makes handoffs, so one that is over a limit is
    /// refused and not repaired: what a user asked for is never cut in silence.
    ///
    /// # Errors
    /// [`PacketError::TooMuch`] for the first field that is over its limit.
    pub fn check(&self) -> Result<(), PacketError> {
        let over = |field: &str, unit: &'static str, found: usize, limit: usize| {
            if found <= limit {
                return Ok(());
            }
            Err(PacketError::TooMuch { what: "handoff", field: field.to_owned(), unit, limit, found })
        };
        let chars = |field: &str, text: &str, limit| over(field, "characters", text.chars().count(), limit);

        chars("task.goal", &self.task.goal, MAX_GOAL_CHARS)?;
        chars("expectedResult", &self.expected_result, MAX_CONSTRAINT_CHARS)?;
        over("constraints", "items", self.constraints.len(), MAX_CONSTRAINTS)?;
        for (index, constraint) in self.constraints.iter().enumerate() {
            chars(&format!("constraints[{index}]"), constraint, MAX_CONSTRAINT_CHARS)?;
        }
        over("task.contextRefs", "items", self.task.context_refs.len(), MAX_CONTEXT_REFS)?;
        for (index, reference) in self.task.context_refs.iter().enumerate() {
            chars(&format!("task.contextRefs[{index}].uri"), &reference.uri, MAX_URI_CHARS)?;
            let label = reference.label.as_deref().unwrap_or_default();
            chars(&format!("task.contextRefs[{index}].label"), label, MAX_LABEL_CHARS)?;
        }
        Ok(())
    }
}
