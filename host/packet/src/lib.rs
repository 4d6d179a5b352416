//! The packets that cross the boundary between Brain and a role. Nothing else crosses it.
//!
//! **What it is for.** A role is called with a [`HandoffPacket`] and returns a [`WorkerResult`]. This crate has those two
//! types and what they are made of, their JSON, their [limits], and the [repair](normalise) of what a worker answered.
//! An [`AgentMessage`] is the envelope in which the journal keeps them.
//!
//! **What it must not know.** How a role is run, where a packet is stored, which model answered, what a file holds. It
//! reads no file, no clock and no environment, waits for nothing, and panics on no input.
//!
//! **Direction.** Brain to agent, agent to Brain. The tags are types with one value (see [`direction`]), so a packet of
//! another direction cannot be built and does not parse.
//!
//! ```
//! use brain_packet::{AgentTaskContext, HandoffId, HandoffPacket, RoleName, SessionId, TaskId, TaskStatus, normalise};
//!
//! let role = RoleName::new("librarian")?;
//! let task = AgentTaskContext::new(TaskId::new("task-1")?, SessionId::new("session-1")?, role, "Where is the journal?");
//! let handoff = HandoffPacket::new(HandoffId::new("handoff-1")?, task, "The files, the best first.");
//!
//! let result = normalise::reply_text(&handoff, r#"{"taskId": "another", "summary": "In journal.rs", "progress": 1}"#);
//! assert_eq!((result.task_id.as_str(), result.progress.status), ("task-1", TaskStatus::Completed));
//! assert_eq!(result.notes.len(), 2); // the id was not Brain's, and the progress was no object
//! # Ok::<(), brain_packet::IdError>(())
//! ```

pub mod context;
pub mod digest;
pub mod direction;
pub mod error;
pub mod handoff;
pub mod ids;
pub mod limits;
pub mod message;
pub mod normalise;
pub mod result;
mod terminal;

pub use context::{AgentTaskContext, BrainTaskContext, ContextRef, ContextRefKind, TaskProgress, TaskStatus};
pub use digest::Digest;
pub use error::PacketError;
pub use handoff::HandoffPacket;
pub use ids::{HandoffId, IdError, MessageId, RoleName, SessionId, TaskId};
pub use message::{AgentMessage, MessageBody, MessageKind, Party};
pub use result::{CoverageStatus, Finding, Note, ReviewCoverage, ReviewDecision, Severity, Verdict, WorkerResult};
pub use terminal::{terminal_line, terminal_safe};
