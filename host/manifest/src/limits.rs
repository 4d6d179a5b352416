//! The limits of one call: every one has a name, a unit and a default that is on.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The interval at which running guests are interrupted to check their deadline, their CPU time and cancellation, in
/// milliseconds. A call can overshoot its deadline by one tick, and by the length of one bounded host call.
pub const TICK_MS: u64 = 10;

/// Stack that compiled code of a guest may use, in bytes. Deeper recursion is a trap, typed as [`LimitName::Stack`].
pub const STACK_BYTES: usize = 1 << 20;

/// What a limit is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds.
    Millis,
    /// Bytes.
    Bytes,
    /// Things.
    Count,
}

/// What is known of a limit that a manifest may ask for and an operator may cap.
struct Row {
    key: &'static str,
    code: &'static str,
    words: &'static str,
    unit: Unit,
    get: fn(&Limits) -> u64,
}

/// Makes [`Limits`], [`PartialLimits`] and [`LimitName`] from one table, so that a limit is defined in one place:
/// its documentation, then `key: Name, "name in codes", "name for readers", Unit = default`.
macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $key:ident: $name:ident, $id:literal, $words:literal, $unit:ident = $default:expr;)+) => {
        /// The limits of one call. In a manifest each may be given by its name; what is not given has the default.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct Limits {
            $($(#[doc = $doc])+ pub $key: u64,)+
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($key: $default,)+ }
            }
        }

        impl Limits {
            /// Each limit at most as high as in `cap`: what the operator allows wins over what a manifest asks.
            #[must_use]
            pub fn capped_by(&self, cap: &Limits) -> Limits {
                Limits { $($key: self.$key.min(cap.$key),)+ }
            }
        }

        /// Some of the [`Limits`], by the same names: what a file says that need not say everything.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct PartialLimits {
            $($(#[doc = $doc])+ #[serde(skip_serializing_if = "Option::is_none")] pub $key: Option<u64>,)+
        }

        impl PartialLimits {
            /// `base` with what is given here.
            #[must_use]
            pub fn over(&self, base: &Limits) -> Limits {
                Limits { $($key: self.$key.unwrap_or(base.$key),)+ }
            }
        }

        /// A limit: one of [`Limits`], or one that is fixed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum LimitName {
            $(#[doc = concat!("[`Limits::", stringify!($key), "`].")] $name,)+
            /// [`STACK_BYTES`]: a property of the host, not of a role.
            Stack,
        }

        impl LimitName {
            /// Those that are in [`Limits`], in the order of its fields.
            pub const SETTABLE: &[LimitName] = &[$(Self::$name,)+];

            fn row(self) -> &'static Row {
                match self {
                    $(Self::$name => &Row {
                        key: stringify!($key),
                        code: concat!("sandbox.limit.", $id),
                        words: $words,
                        unit: Unit::$unit,
                        get: |limits| limits.$key,
                    },)+
                    Self::Stack => &Row {
                        key: "",
                        code: "sandbox.limit.stack",
                        words: "stack",
                        unit: Unit::Bytes,
                        get: |_| STACK_BYTES as u64,
                    },
                }
            }
        }
    };
}

limits! {
    /// Wall time of the call in milliseconds, instantiation included. Reaching it ends the call.
    deadline_ms: Deadline, "deadline", "deadline", Millis = 60_000;
    /// CPU time of the call in milliseconds, of the guest and of the host for it. Unlike the wall time it does not pass
    /// while the call waits, nor while the machine is busy with something else. Reaching it ends the call.
    cpu_ms: Cpu, "cpu", "CPU time", Millis = 60_000;
    /// Bytes of linear memory, summed over all memories of all instances of the call. Growth beyond it fails, and a
    /// guest that dies of that has reached this limit.
    memory_bytes: Memory, "memory", "memory", Bytes = 256 << 20;
    /// Table elements, summed over all tables. Growth beyond it fails.
    table_elements: TableElements, "table-elements", "table elements", Count = 100_000;
    /// Core instances that the component may consist of, and as many memories and tables. A component with more is not
    /// instantiated.
    instances: Instances, "instances", "instances", Count = 256;
    /// Bytes of stdout and stderr together that the private log keeps, half of it from the beginning and half from the
    /// end. The rest is counted and dropped: writing more is not an error.
    output_bytes: Output, "output", "output", Bytes = 256 << 10;
    /// Bytes of the returned `worker-result`: its text, and what the host needs for each item of a list. A larger result
    /// ends the call.
    result_bytes: Result, "result", "result size", Bytes = 1 << 20;
    /// Bytes that the guest may hand to the host in one call of a host function, and in its result before that is
    /// measured. It bounds what overlapping strings can make the host allocate. Exceeding it ends the call.
    hostcall_bytes: HostCall, "host-call", "host call size", Bytes = 8 << 20;
    /// Random bytes that the guest may ask for in all. Asking for more ends the call.
    random_bytes: Random, "random", "random bytes", Bytes = 16 << 20;
    /// Handles (files, folders, streams, pollables) that may be open at once. Opening more files fails; a function that
    /// cannot fail ends the call.
    open_handles: OpenHandles, "open-handles", "open handles", Count = 1_024;
    /// Bytes that may lie below `/artifacts` at once. Writing more fails.
    artifact_bytes: ArtifactBytes, "artifact-bytes", "artifact bytes", Bytes = 64 << 20;
    /// Files and folders that may lie below `/artifacts` at once. Creating more fails.
    artifact_files: ArtifactFiles, "artifact-files", "artifact files", Count = 1_000;
    /// Bytes that the staged changes of `/workspace` may hold at once: new files, and copies of those that were changed.
    /// Writing more fails.
    staged_bytes: StagedBytes, "staged-bytes", "staged bytes", Bytes = 256 << 20;
    /// Files and folders of `/workspace` that may be created, changed, moved or removed. Changing more fails.
    staged_files: StagedFiles, "staged-files", "staged files", Count = 10_000;
    /// Bytes that may be written in all, wherever they go and whatever they replace. Writing more fails.
    written_bytes: WrittenBytes, "written-bytes", "written bytes", Bytes = 1 << 30;
    /// Files and folders that may be created in all, whether or not they still exist. Creating more fails.
    created_files: CreatedFiles, "created-files", "created files", Count = 20_000;
    /// Names that may be looked at in listed folders, whether or not the role is shown them. Listing more fails.
    listed_entries: ListedEntries, "listed-entries", "listed entries", Count = 1_000_000;
}

impl LimitName {
    /// The key below `[limits]` of a manifest or a configuration file; none where nothing can raise it.
    pub fn key(self) -> Option<&'static str> {
        Some(self.row().key).filter(|key| !key.is_empty())
    }

    /// The stable code of the outcome, such as `sandbox.limit.deadline`.
    pub fn code(self) -> &'static str {
        self.row().code
    }

    /// What it is counted in.
    pub fn unit(self) -> Unit {
        self.row().unit
    }

    /// The value of this limit in a call, in its unit.
    pub fn value_in(self, limits: &Limits) -> u64 {
        (self.row().get)(limits)
    }

    /// `value` with its unit, for a reader: `60 s`, `256 MiB`, `1024`.
    pub fn show(self, value: u64) -> String {
        match self.unit() {
            Unit::Millis if value >= 1000 && value.is_multiple_of(1000) => format!("{} s", value / 1000),
            Unit::Millis => format!("{value} ms"),
            Unit::Bytes => show_bytes(value),
            Unit::Count => value.to_string(),
        }
    }

    /// How to raise it, or why that cannot be done.
    pub fn remedy(self) -> String {
        match self.key() {
            Some(key) => format!(
                "if the role needs more, raise `{key}` below `[limits]` of its role.toml, and of config.toml where that allows less"
            ),
            None => "this bound is fixed: the role has to do with it".into(),
        }
    }
}

impl fmt::Display for LimitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().words)
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
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn an_operator_cap_never_raises_a_limit() {
        let asked = Limits { deadline_ms: 5, memory_bytes: u64::MAX, ..Limits::default() };
        let capped = asked.capped_by(&Limits::default());
        assert_eq!(capped.deadline_ms, 5);
        assert_eq!(capped.memory_bytes, Limits::default().memory_bytes);
    }

    #[test]
    fn what_a_file_does_not_say_is_as_it_was() {
        let base = Limits { cpu_ms: 7, ..Limits::default() };
        let some: PartialLimits = serde_json::from_str(r#"{"staged_files": 3}"#).unwrap();
        assert_eq!(some.over(&base), Limits { staged_files: 3, ..base });
        assert_eq!(serde_json::to_string(&some).unwrap(), r#"{"staged_files":3}"#);
        assert!(serde_json::from_str::<PartialLimits>(r#"{"staged_file": 3}"#).is_err());
    }

    #[test]
    fn every_limit_is_on_by_default_and_has_names_of_its_own() {
        let limits = serde_json::to_value(Limits::default()).unwrap();
        let mut codes = BTreeSet::new();
        for name in LimitName::SETTABLE {
            let key = name.key().unwrap();
            assert_eq!(limits[key], name.value_in(&Limits::default()), "{key}");
            assert!((1..u64::from(u32::MAX)).contains(&name.value_in(&Limits::default())), "{key}");
            assert!(codes.insert(name.code()), "{}", name.code());
            assert_eq!(format!("sandbox.limit.{}", serde_json::to_value(name).unwrap().as_str().unwrap()), name.code());
            assert!(name.remedy().contains(key) && name.remedy().contains("config.toml"));
        }
        assert_eq!(limits.as_object().unwrap().len(), LimitName::SETTABLE.len());
        assert_eq!((LimitName::Stack.key(), LimitName::Stack.code()), (None, "sandbox.limit.stack"));
    }

    #[test]
    fn values_are_shown_with_their_unit() {
        assert_eq!(LimitName::Cpu.show(60_000), "60 s");
        assert_eq!(LimitName::Deadline.show(1_500), "1500 ms");
        assert_eq!(LimitName::OpenHandles.show(u64::MAX), u64::MAX.to_string());
    }

    #[test]
    fn bytes_are_shown_in_the_largest_unit() {
        assert_eq!(show_bytes(0), "0 bytes");
        assert_eq!(show_bytes(1 << 20), "1 MiB");
        assert_eq!(show_bytes(1536), "1.5 KiB");
        assert_eq!(show_bytes(5 << 30), "5 GiB");
    }
}
