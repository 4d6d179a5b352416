//! The limits of one call: every one has a name, a unit and a default that is on.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The interval at which running guests are interrupted to check their deadline and cancellation, in milliseconds.
/// A call can overshoot its deadline by one tick, and by the length of one bounded host call.
pub const TICK_MS: u64 = 10;

/// Stack that compiled code of a guest may use, in bytes. Deeper recursion is a trap, typed as [`LimitName::Stack`].
pub const STACK_BYTES: usize = 1 << 20;

/// Bytes that a guest may move to the host in one call of a host function or in its result, before the result is
/// measured against [`Limits::result_bytes`]. It bounds what a hostile list of overlapping strings can make the host
/// allocate.
pub const HOSTCALL_BYTES: usize = 8 << 20;

/// Core instances, tables and memories that one component may create.
pub const INSTANCES: usize = 256;

/// Bytes that a guest may ask of `wasi:random` in one call.
pub const RANDOM_BYTES: u64 = 1 << 20;

/// The limits of one call. In a manifest or a configuration file each may be given by its name; what is not given
/// has the default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Wall time of the call in milliseconds, instantiation included. Default: 60 000.
    pub deadline_ms: u64,
    /// Bytes of linear memory, summed over all memories of all instances of the call. Default: 256 MiB.
    pub memory_bytes: u64,
    /// Table elements, summed over all tables. Default: 100 000.
    pub table_elements: u64,
    /// Bytes of stdout and stderr together that the private log keeps, half of it from the beginning and half from
    /// the end; the rest is counted and dropped. Writing more is not an error. Default: 256 KiB.
    pub output_bytes: u64,
    /// Bytes of all strings and list items in the returned `worker-result`. Default: 1 MiB.
    pub result_bytes: u64,
    /// Bytes that may be stored below `/artifacts`. Default: 64 MiB.
    pub artifact_bytes: u64,
    /// Files and folders that may be created below `/artifacts`. Default: 1 000.
    pub artifact_files: u64,
    /// Handles (files, folders, streams, pollables) that may be open at once. Default: 1 024.
    pub open_handles: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            deadline_ms: 60_000,
            memory_bytes: 256 << 20,
            table_elements: 100_000,
            output_bytes: 256 << 10,
            result_bytes: 1 << 20,
            artifact_bytes: 64 << 20,
            artifact_files: 1_000,
            open_handles: 1_024,
        }
    }
}

impl Limits {
    /// Each limit at most as high as in `cap`: what the operator allows wins over what a manifest asks.
    #[must_use]
    pub fn capped_by(&self, cap: &Limits) -> Limits {
        Limits {
            deadline_ms: self.deadline_ms.min(cap.deadline_ms),
            memory_bytes: self.memory_bytes.min(cap.memory_bytes),
            table_elements: self.table_elements.min(cap.table_elements),
            output_bytes: self.output_bytes.min(cap.output_bytes),
            result_bytes: self.result_bytes.min(cap.result_bytes),
            artifact_bytes: self.artifact_bytes.min(cap.artifact_bytes),
            artifact_files: self.artifact_files.min(cap.artifact_files),
            open_handles: self.open_handles.min(cap.open_handles),
        }
    }
}

/// The limit that ended a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitName {
    /// [`Limits::deadline_ms`].
    Deadline,
    /// [`Limits::memory_bytes`].
    Memory,
    /// [`Limits::table_elements`].
    TableElements,
    /// [`Limits::result_bytes`].
    Result,
    /// [`Limits::open_handles`].
    OpenHandles,
    /// [`STACK_BYTES`]: a property of the host, not of a role.
    Stack,
    /// [`HOSTCALL_BYTES`]: a property of the host, not of a role.
    HostCall,
    /// [`INSTANCES`]: a property of the host, not of a role.
    Instances,
}

impl LimitName {
    /// The key in `[limits]` of a manifest that raises this limit; none where no role can raise it.
    pub fn key(self) -> Option<&'static str> {
        match self {
            Self::Deadline => Some("deadline_ms"),
            Self::Memory => Some("memory_bytes"),
            Self::TableElements => Some("table_elements"),
            Self::Result => Some("result_bytes"),
            Self::OpenHandles => Some("open_handles"),
            Self::Stack | Self::HostCall | Self::Instances => None,
        }
    }

    /// The stable code of the outcome, such as `sandbox.limit.deadline`.
    pub fn code(self) -> &'static str {
        match self {
            Self::Deadline => "sandbox.limit.deadline",
            Self::Memory => "sandbox.limit.memory",
            Self::TableElements => "sandbox.limit.table-elements",
            Self::Result => "sandbox.limit.result",
            Self::OpenHandles => "sandbox.limit.open-handles",
            Self::Stack => "sandbox.limit.stack",
            Self::HostCall => "sandbox.limit.host-call",
            Self::Instances => "sandbox.limit.instances",
        }
    }

    /// The value of this limit in a call, in the unit of its field (milliseconds, bytes, or a count).
    pub fn value_in(self, limits: &Limits) -> u64 {
        match self {
            Self::Deadline => limits.deadline_ms,
            Self::Memory => limits.memory_bytes,
            Self::TableElements => limits.table_elements,
            Self::Result => limits.result_bytes,
            Self::OpenHandles => limits.open_handles,
            Self::Stack => STACK_BYTES as u64,
            Self::HostCall => HOSTCALL_BYTES as u64,
            Self::Instances => INSTANCES as u64,
        }
    }

    /// `value` with its unit, for a reader: `60 s`, `256 MiB`, `1024`.
    pub fn show(self, value: u64) -> String {
        match self {
            Self::Deadline if value >= 1000 && value.is_multiple_of(1000) => format!("{} s", value / 1000),
            Self::Deadline => format!("{value} ms"),
            Self::Memory | Self::Result | Self::Stack | Self::HostCall => show_bytes(value),
            Self::TableElements | Self::OpenHandles | Self::Instances => value.to_string(),
        }
    }
}

impl fmt::Display for LimitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deadline => "deadline",
            Self::Memory => "memory",
            Self::TableElements => "table elements",
            Self::Result => "result size",
            Self::OpenHandles => "open handles",
            Self::Stack => "stack",
            Self::HostCall => "host call size",
            Self::Instances => "instances",
        })
    }
}

/// `n` bytes for a reader: exact below 1 KiB, else in the largest binary unit with one decimal where it is not whole.
pub fn show_bytes(n: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    for (unit, size) in UNITS {
        if n >= size {
            return if n.is_multiple_of(size) {
                format!("{} {unit}", n / size)
            } else {
                format!("{:.1} {unit}", n as f64 / size as f64)
            };
        }
    }
    format!("{n} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_cap_never_raises_a_limit() {
        let asked = Limits { deadline_ms: 5, memory_bytes: u64::MAX, ..Limits::default() };
        let capped = asked.capped_by(&Limits::default());
        assert_eq!(capped.deadline_ms, 5);
        assert_eq!(capped.memory_bytes, Limits::default().memory_bytes);
    }

    #[test]
    fn bytes_are_shown_in_the_largest_unit() {
        assert_eq!(show_bytes(0), "0 bytes");
        assert_eq!(show_bytes(1 << 20), "1 MiB");
        assert_eq!(show_bytes(1536), "1.5 KiB");
        assert_eq!(show_bytes(5 << 30), "5 GiB");
    }
}
