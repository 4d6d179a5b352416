//! How a call ended, typed, with words for the reader.

use wasmtime::component::ResourceTableError;
use wasmtime::{Trap, WasmBacktrace};
use wasmtime_wasi::I32Exit;

use crate::kill::Killed;
use crate::state::State;
use crate::wasi::stub::StubTrap;
use brain_manifest::{LimitName, Limits};

/// Bytes of stderr that are quoted in the message of a trap.
pub(crate) const MAX_STDERR_TAIL: usize = 2048;

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The role returned a result.
    Returned,
    /// The guest trapped, exited, or returned what is not a result.
    Trapped {
        /// What happened, such as `it reached an unreachable instruction`.
        cause: String,
        /// The end of what it printed to stderr: in most languages, the message.
        stderr: String,
    },
    /// It was stopped at a limit.
    Killed {
        /// Which one.
        limit: LimitName,
        /// Its value, in the limit's unit.
        value: u64,
        /// What the guest would have had or had, where that is known.
        reached: Option<u64>,
    },
    /// It was cancelled.
    Cancelled,
    /// It was not called: its grants could not be set up.
    Refused {
        /// Why.
        message: String,
        /// What to do about it.
        remedy: String,
    },
}

impl Ended {
    /// The stable code: `returned`, or one below `sandbox.`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Returned => "returned",
            Self::Trapped { .. } => "sandbox.trap",
            Self::Killed { limit, .. } => limit.code(),
            Self::Cancelled => "sandbox.cancelled",
            Self::Refused { .. } => "sandbox.refused",
        }
    }

    /// One or a few lines for a reader. Text of the guest in it is not yet safe for a terminal.
    pub fn message(&self) -> String {
        match self {
            Self::Returned => "it returned".into(),
            Self::Trapped { cause, stderr } if stderr.is_empty() => cause.clone(),
            Self::Trapped { cause, stderr } => format!("{cause}; its last words: {stderr}"),
            Self::Killed { limit, value, reached } => {
                let mut text = format!("it was stopped at its {limit} limit of {}", limit.show(*value));
                if let Some(reached) = reached {
                    text.push_str(&format!(" (it wanted {})", limit.show(*reached)));
                }
                text
            }
            Self::Cancelled => "it was cancelled".into(),
            Self::Refused { message, .. } => message.clone(),
        }
    }

    /// What to do about it; none when it returned or was cancelled.
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::Returned | Self::Cancelled => None,
            Self::Refused { remedy, .. } => Some(remedy.clone()),
            Self::Trapped { .. } => {
                Some("this is a fault of the role: report it to its author with the private log".into())
            }
            Self::Killed { limit, .. } => Some(limit.remedy()),
        }
    }

    /// What a result that stands for this end warns of.
    pub(crate) fn risks(&self) -> Vec<String> {
        match self {
            Self::Returned => Vec::new(),
            _ => vec![format!("nothing of its task was done ({})", self.code())],
        }
    }

    pub(crate) fn with_stderr(self, tail: impl FnOnce() -> String) -> Self {
        match self {
            Self::Trapped { cause, .. } => Self::Trapped { cause, stderr: tail() },
            other => other,
        }
    }
}

/// What an error of a call means. Typed causes first; wasmtime has no public type for some, and tests pin their text.
pub(crate) fn classify(error: &wasmtime::Error, state: &State, limits: &Limits) -> Ended {
    let killed = |limit: LimitName, reached| Ended::Killed { limit, value: limit.value_in(limits), reached };
    let trapped = |cause: String| Ended::Trapped { cause, stderr: String::new() };
    match error.downcast_ref::<Killed>() {
        Some(Killed::Limit { limit, reached }) => return killed(*limit, *reached),
        Some(Killed::Cancelled) => return Ended::Cancelled,
        None => {}
    }
    let trap = error.downcast_ref::<Trap>();
    if trap == Some(&Trap::StackOverflow) {
        return killed(LimitName::Stack, None);
    }
    // A guest that dies after a refused allocation dies of it, whatever its language makes of that.
    if let Some(refusal) = state.limiter.refused() {
        return killed(refusal.limit, Some(refusal.wanted));
    }
    if let Some(I32Exit(status)) = error.downcast_ref::<I32Exit>() {
        let how = if *status == 0 { "it exited" } else { "it exited with a failure status" };
        return trapped(format!("{how} instead of returning a result"));
    }
    if let Some(stub) = error.downcast_ref::<StubTrap>() {
        return trapped(stub.to_string());
    }
    if matches!(error.downcast_ref::<ResourceTableError>(), Some(ResourceTableError::Full)) {
        return killed(LimitName::OpenHandles, None);
    }
    let root = error.root_cause().to_string();
    if root.contains("store handle limit exceeded") {
        return killed(LimitName::OpenHandles, None);
    }
    if root.contains("fuel allocated for hostcalls has been exhausted") {
        // Inside a host call the guest is on the stack; while its result is lifted it is not. A result is measured as
        // wasmtime measures what it lifts, so one that is over the larger bound is over the smaller one, too.
        let in_guest = error.downcast_ref::<WasmBacktrace>().is_some();
        let result = !in_guest && limits.result_bytes <= limits.hostcall_bytes;
        return killed(if result { LimitName::Result } else { LimitName::HostCall }, None);
    }
    if root.contains("instance count too high")
        || root.contains("memory count too high")
        || root.contains("table count too high")
    {
        return killed(LimitName::Instances, None);
    }
    match trap {
        Some(Trap::UnreachableCodeReached) => trapped("it panicked or aborted (an unreachable instruction)".into()),
        Some(trap) => trapped(format!("it trapped: {}", trap.to_string().trim_start_matches("wasm trap: "))),
        None => trapped(format!("it broke the contract: {root}")),
    }
}
